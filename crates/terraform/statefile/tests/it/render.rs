//! The model as JSON, for snapshots.

use groundstate_statefile::{File, Note, SourcePos};
use groundstate_states::addr::InstanceKey;
use groundstate_states::{
    Attributes, CheckResults, CheckStatus, Extra, ObjectSrc, ObjectStatus, OutputValue, PathStepKind,
    Resource, Type, Value,
};
use serde_json::{Map, Value as Json, json};

/// Everything a file says.
pub(crate) fn model(file: &File) -> Json {
    let modules: Map<String, Json> = file
        .state
        .modules()
        .map(|(address, module)| {
            let resources: Map<String, Json> =
                module.resources.iter().map(|(name, found)| (name.to_string(), resource(found))).collect();
            let name = if address.is_root() { "(root)".to_owned() } else { address.to_string() };
            (name, Json::Object(resources))
        })
        .collect();
    let outputs: Map<String, Json> =
        file.state.outputs().iter().map(|(name, found)| (name.to_string(), output(found))).collect();
    let mut out = json!({
        "source_version": file.style.source_version,
        "dialect": file.dialect.id(),
        "terraform_version": file.terraform_version.as_ref().map(|version| version.as_str()),
        "serial": file.serial.get(),
        "lineage": file.lineage.as_str(),
        "outputs": outputs,
        "modules": modules,
    });
    put_extra(&mut out, &file.extra);
    if let Some(results) = &file.state.check_results {
        put(&mut out, "check_results", checks(results));
    }
    out
}

/// Notes with the place they are about.
pub(crate) fn notes(notes: &[Note], text: &[u8]) -> String {
    let line = |note: &Note| {
        format!("{:?}: {}\n  at {}\n", note.kind, note.message, SourcePos::of(text, note.offset))
    };
    if notes.is_empty() { "none".into() } else { notes.iter().map(line).collect() }
}

fn resource(found: &Resource) -> Json {
    let mut objects = Vec::new();
    for (key, instance) in &found.instances {
        for (generation, source) in instance.objects() {
            let mut out = object(source);
            match key {
                InstanceKey::None => {}
                key => put(&mut out, "key", json!(key.to_string())),
            }
            if let groundstate_states::Generation::Deposed(key) = generation {
                put(&mut out, "deposed", json!(key.as_str()));
            }
            if !instance.provider_key.is_none() {
                put(&mut out, "provider_key", json!(instance.provider_key.to_string()));
            }
            objects.push(out);
        }
    }
    let mut out = json!({ "provider": found.provider.to_string(), "objects": objects });
    put_extra(&mut out, &found.extra);
    out
}

/// Members with their usual value are left out.
fn object(source: &ObjectSrc) -> Json {
    let attributes = match &source.attributes {
        Attributes::Json(raw) => json!({ "json": raw.as_str() }),
        Attributes::Flat(flat) => {
            let flat: Map<String, Json> = flat.iter().map(|(k, v)| (k.to_string(), json!(&**v))).collect();
            json!({ "flat": flat })
        }
    };
    let mut out = json!({ "schema_version": source.schema_version, "attributes": attributes });
    if source.status == ObjectStatus::Tainted {
        put(&mut out, "tainted", json!(true));
    }
    if !source.private.is_empty() {
        put(&mut out, "private", json!(String::from_utf8_lossy(&source.private)));
    }
    if !source.sensitive_paths.is_empty() {
        let paths = source.sensitive_paths.iter().map(|path| {
            let steps = path.steps.iter().map(|step| match &step.kind {
                PathStepKind::Attribute(name) => json!(&**name),
                PathStepKind::Index { key, .. } => json!([value(key)]),
            });
            Json::Array(steps.collect())
        });
        put(&mut out, "sensitive_paths", Json::Array(paths.collect()));
    }
    let texts = |items: Vec<String>| Json::from(items);
    if !source.dependencies.is_empty() {
        put(&mut out, "dependencies", texts(source.dependencies.iter().map(ToString::to_string).collect()));
    }
    if !source.depends_on.is_empty() {
        put(&mut out, "depends_on", texts(source.depends_on.iter().map(ToString::to_string).collect()));
    }
    for (name, set) in
        [("create_before_destroy", source.create_before_destroy), ("skip_destroy", source.skip_destroy)]
    {
        if set {
            put(&mut out, name, json!(true));
        }
    }
    if let Some(identity) = &source.identity {
        put(&mut out, "identity", json!(identity.as_str()));
    }
    if let Some(version) = source.identity_schema_version {
        put(&mut out, "identity_schema_version", json!(version));
    }
    put_extra(&mut out, &source.extra);
    out
}

fn output(found: &OutputValue) -> Json {
    let mut out = json!({ "type": value_type(&found.value_type), "value": value(&found.value) });
    if found.sensitive {
        put(&mut out, "sensitive", json!(true));
    }
    if let Some(message) = &found.deprecated {
        put(&mut out, "deprecated", json!(&**message));
    }
    put_extra(&mut out, &found.extra);
    out
}

/// Numbers are texts, so that none is lost in a double.
fn value(found: &Value) -> Json {
    match found {
        Value::Null => Json::Null,
        Value::Bool(value) => json!(value),
        Value::Number(number) => json!(format!("number {}", number.as_str())),
        Value::String(text) => json!(&**text),
        Value::Sequence(elements) => elements.iter().map(value).collect(),
        Value::Mapping(members) => {
            members.iter().map(|(name, member)| (name.to_string(), value(member))).collect()
        }
        Value::Dynamic(inner) => json!({ "type": value_type(&inner.0), "value": value(&inner.1) }),
    }
}

/// A type as people write it in configuration.
fn value_type(found: &Type) -> String {
    match found {
        Type::String => "string".into(),
        Type::Number => "number".into(),
        Type::Bool => "bool".into(),
        Type::Dynamic => "any".into(),
        Type::List(element) => format!("list({})", value_type(element)),
        Type::Set(element) => format!("set({})", value_type(element)),
        Type::Map(element) => format!("map({})", value_type(element)),
        Type::Tuple(elements) => {
            format!("tuple([{}])", elements.iter().map(value_type).collect::<Vec<_>>().join(", "))
        }
        Type::Object(object) => {
            let optional = |name| if object.optional.contains(name) { "?" } else { "" };
            let members = object.attributes.iter();
            let members: Vec<_> =
                members.map(|(name, ty)| format!("{name}{} = {}", optional(name), value_type(ty))).collect();
            format!("object({{{}}})", members.join(", "))
        }
    }
}

fn status(found: &CheckStatus) -> &str {
    match found {
        CheckStatus::Unknown => "unknown",
        CheckStatus::Pass => "pass",
        CheckStatus::Fail => "fail",
        CheckStatus::Error => "error",
        CheckStatus::Unrecognized(text) => text,
    }
}

fn checks(results: &CheckResults) -> Json {
    let aggregates = results.aggregates.iter().map(|aggregate| {
        let objects = aggregate.objects.iter().map(|object| {
            json!({
                "address": object.addr.to_string(),
                "status": status(&object.status),
                "failures": object.failure_messages.iter().map(|text| &**text).collect::<Vec<_>>(),
            })
        });
        json!({
            "address": aggregate.addr.to_string(),
            "status": status(&aggregate.status),
            "objects": objects.collect::<Vec<_>>(),
        })
    });
    let opaque = results.opaque.iter().map(|raw| json!(raw.as_str()));
    aggregates.chain(opaque).collect()
}

fn put(out: &mut Json, name: &str, value: Json) {
    out[name] = value;
}

fn put_extra(out: &mut Json, extra: &Extra) {
    if !extra.is_empty() {
        let members: Map<String, Json> =
            extra.iter().map(|(name, raw)| (name.into(), json!(raw.as_str()))).collect();
        put(out, "extra", Json::Object(members));
    }
}
