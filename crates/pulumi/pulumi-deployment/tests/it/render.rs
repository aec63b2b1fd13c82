//! The model as JSON, for snapshots.

use groundstate_pulumi_deployment::{DeploymentFile, Envelope, Note, SourcePos};
use groundstate_pulumi_snapshot::{Extra, Properties, Resource, Snapshot, StoredValue};
use serde_json::{Map, Value as Json, json};

/// Everything a file says. Members with their usual value are left out.
pub(crate) fn model(file: &DeploymentFile) -> Json {
    let mut out = Object::default();
    out.put("source_version", json!(file.style.source_version));
    out.put("features", json!(file.features.iter().map(|feature| feature.as_str()).collect::<Vec<_>>()));
    match &file.envelope {
        Envelope::Checkpoint(checkpoint) => {
            let mut inner = Object::default();
            inner.put("stack", json!(checkpoint.stack.as_deref()));
            inner.put("config", json!(checkpoint.config.as_ref().map(|config| config.as_str())));
            inner.extra(&checkpoint.extra);
            out.0.insert("checkpoint".into(), inner.done());
        }
        _ => out.put("envelope", json!("deployment")),
    }
    out.put("snapshot", file.snapshot.as_ref().map_or(Json::Null, snapshot));
    out.extra(&file.extra);
    out.done()
}

/// Notes with the place they are about.
pub(crate) fn notes(notes: &[Note], text: &[u8]) -> String {
    let line = |note: &Note| {
        format!("{:?}: {}\n  at {}\n", note.kind, note.message, SourcePos::of(text, note.offset))
    };
    if notes.is_empty() { "none".into() } else { notes.iter().map(line).collect() }
}

#[derive(Default)]
struct Object(Map<String, Json>);

impl Object {
    fn put(&mut self, name: &str, value: Json) {
        let empty = match &value {
            Json::Null | Json::Bool(false) => true,
            Json::String(text) => text.is_empty(),
            Json::Array(list) => list.is_empty(),
            Json::Object(map) => map.is_empty(),
            _ => false,
        };
        if !empty {
            self.0.insert(name.to_owned(), value);
        }
    }

    fn extra(&mut self, extra: &Extra) {
        let extra: Map<String, Json> =
            extra.iter().map(|(name, value)| (name.to_owned(), json!(value.as_str()))).collect();
        self.put("extra", Json::Object(extra));
    }

    fn done(self) -> Json {
        Json::Object(self.0)
    }
}

fn texts<T: AsRef<str>>(list: &[T]) -> Json {
    json!(list.iter().map(AsRef::as_ref).collect::<Vec<&str>>())
}

fn text<T: AsRef<str>>(found: Option<&T>) -> Json {
    json!(found.map(AsRef::as_ref))
}

fn snapshot(found: &Snapshot) -> Json {
    let mut out = Object::default();
    let mut manifest = Object::default();
    manifest.put("time", json!(found.manifest.time.to_string()));
    manifest.put("magic", json!(&*found.manifest.magic));
    manifest.put("version", json!(&*found.manifest.version));
    let plugins = found.manifest.plugins.iter();
    manifest.put("plugins", plugins.map(|p| json!([&*p.name, &*p.path, &*p.kind, &*p.version])).collect());
    manifest.extra(&found.manifest.extra);
    out.put("manifest", manifest.done());
    if let Some(provider) = &found.secrets_provider {
        out.put("secrets_provider", json!([&*provider.kind, provider.state.as_ref().map(|s| s.as_str())]));
    }
    out.put("resources", found.resources.iter().map(|found| resource(found)).collect());
    let pending = found.pending_operations.iter();
    out.put("pending", pending.map(|op| json!({ op.kind.as_str(): resource(&op.resource) })).collect());
    if let Some(error) = &found.metadata.integrity_error {
        let variables: Map<String, Json> =
            error.env_vars.iter().map(|(name, value)| (name.to_string(), json!(&**value))).collect();
        out.put("integrity_error", json!([&*error.version, &*error.command, &*error.error, variables]));
    }
    out.put("snippets", found.snippets.iter().map(|s| json!([s.uuid.as_str(), &*s.name])).collect());
    let extensions = found.extensions.iter();
    out.put(
        "extensions",
        extensions.map(|(key, e)| json!([key.as_str(), &*e.name, e.value.len()])).collect(),
    );
    out.extra(&found.extra);
    out.done()
}

fn resource(found: &Resource) -> Json {
    let mut out = Object::default();
    out.put("urn", json!(found.urn.as_str()));
    out.put("type", json!(found.resource_type.as_str()));
    out.put("flags", flags(found));
    out.put("id", text(found.id.as_ref()));
    out.put("inputs", properties(&found.inputs));
    out.put("outputs", properties(&found.outputs));
    out.put("parent", text(found.parent.as_ref()));
    out.put("provider", text(found.provider.as_ref()));
    out.put("dependencies", texts(&found.dependencies));
    let of_properties: Map<String, Json> = found
        .property_dependencies
        .iter()
        .map(|(name, urns)| (name.to_owned(), urns.map_or(Json::Null, texts)))
        .collect();
    out.put("property_dependencies", Json::Object(of_properties));
    out.put("init_errors", texts(&found.init_errors));
    out.put("additional_secret_outputs", texts(&found.additional_secret_outputs));
    out.put("aliases", texts(&found.aliases));
    out.put("import_id", text(found.import_id.as_ref()));
    out.put("deleted_with", text(found.deleted_with.as_ref()));
    out.put("replace_with", texts(&found.replace_with));
    out.put("view_of", text(found.view_of.as_ref()));
    let time = |found: Option<groundstate_pulumi_snapshot::Time>| json!(found.map(|time| time.to_string()));
    out.put("created", time(found.created));
    out.put("modified", time(found.modified));
    if let Some(StoredValue::Raw(raw)) = &found.replacement_trigger {
        out.put("trigger", json!(raw.as_str()));
    }
    out.extra(&found.extra);
    out.done()
}

fn flags(found: &Resource) -> Json {
    let all = [
        ("custom", found.custom),
        ("delete", found.delete),
        ("protect", found.protect),
        ("taint", found.taint),
        ("external", found.external),
        ("pending_replacement", found.pending_replacement),
        ("retain_on_delete", found.retain_on_delete),
        ("refresh_before_update", found.refresh_before_update),
    ];
    all.into_iter().filter_map(|(name, set)| set.then_some(name)).collect()
}

fn properties(found: &Properties) -> Json {
    match found {
        Properties::Absent => Json::Null,
        Properties::Raw(raw) => json!(raw.as_str()),
        Properties::Map(map) => json!(format!("{} values", map.len())),
    }
}
