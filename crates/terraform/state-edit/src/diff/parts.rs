//! Compares the parts of two states, one kind after the other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundstate_states::addr::{AbsResource, AbsResourceInstance, CheckableKind, InstanceKey, ResourceMode};
use groundstate_states::{
    AttributePath, Attributes, CheckAggregate, CheckObject, DeposedKey, Extra, ObjectSrc, ObjectStatus,
    OutputValue, PathStep, PathStepKind, RawJson, Resource, ResourceInstance, State, Value,
};

use super::fields::{Fields, list_of, string};
use super::tree::Secret;
use super::{ChangeKind, Entry, FieldChange, Subject};
use groundstate_json::push_json_string;
use groundstate_statefile::{File, sensitive_paths_json, sorted_checks, type_json, value_json};

/// Compares the metadata.
pub(super) fn document(a: &File, b: &File, out: &mut Vec<Entry>) {
    let mut fields = Fields::default();
    fields.text("terraform_version", a.terraform_version.as_ref(), b.terraform_version.as_ref());
    fields.scalar("serial", Some(a.serial), Some(b.serial));
    fields.text("lineage", Some(&a.lineage), Some(&b.lineage));
    fields.extra("", &a.extra, &b.extra);
    out.extend(fields.into_change(Subject::Document));
}

/// Gives the items of two maps in the order of their keys, side by side.
fn side_by_side<'m, K: Ord, V>(
    a: &'m BTreeMap<K, V>,
    b: &'m BTreeMap<K, V>,
) -> impl Iterator<Item = (&'m K, Option<&'m V>, Option<&'m V>)> {
    let keys: BTreeSet<&K> = a.keys().chain(b.keys()).collect();
    keys.into_iter().map(|key| (key, a.get(key), b.get(key)))
}

/// The entry of something that is there on one side only.
fn one_sided<T>(subject: Subject, a: Option<T>, fields: Fields) -> Entry {
    let kind = if a.is_some() { ChangeKind::Removed } else { ChangeKind::Added };
    Entry { subject, kind, fields: fields.0 }
}

/// Compares the outputs of the root modules.
pub(super) fn outputs(a: &State, b: &State, out: &mut Vec<Entry>) {
    for (name, a, b) in side_by_side(a.outputs(), b.outputs()) {
        let subject = Subject::Output(Arc::clone(name));
        let mut fields = Fields::default();
        match (a.map(|output| &**output), b.map(|output| &**output)) {
            (Some(a), Some(b)) => {
                output(a, b, &mut fields);
                out.extend(fields.into_change(subject));
            }
            (a, b) => {
                let sensitive = a.or(b).is_some_and(|output| output.sensitive);
                fields.whole("value", a.map(value_of), b.map(value_of), sensitive);
                fields.whole("type", a.map(type_of), b.map(type_of), false);
                out.push(one_sided(subject, a, fields));
            }
        }
    }
}

fn output(a: &OutputValue, b: &OutputValue, fields: &mut Fields) {
    if a == b {
        return;
    }
    // Without a step, a path marks the value itself.
    let secret = [Secret::default()];
    let secrets = if a.sensitive || b.sensitive { &secret[..] } else { &[] };
    fields.json("value", &value_of(a), &value_of(b), secrets);
    fields.whole("type", Some(type_of(a)), Some(type_of(b)), false);
    fields.scalar("sensitive", Some(a.sensitive), Some(b.sensitive));
    fields.text("deprecated", a.deprecated.as_ref(), b.deprecated.as_ref());
    fields.extra("", &a.extra, &b.extra);
}

/// The value of an output. One that does not conform to its type cannot be stored, and has no JSON.
fn value_of(output: &OutputValue) -> RawJson {
    RawJson::from_validated(value_json(output).as_deref().unwrap_or("null"))
}

fn type_of(output: &OutputValue) -> RawJson {
    RawJson::from_validated(&type_json(&output.value_type))
}

/// Compares resources, instances and objects.
pub(super) fn resources(a: &State, b: &State, out: &mut Vec<Entry>) {
    let (a, b) = (by_address(a), by_address(b));
    for (address, a, b) in side_by_side(&a, &b) {
        let (a, b) = (a.copied(), b.copied());
        if let (Some(a), Some(b)) = (a, b)
            && std::ptr::eq(a, b)
        {
            continue;
        }
        resource(address, a, b, out);
        let none = BTreeMap::new();
        let (a, b) = (a.map_or(&none, |a| &a.instances), b.map_or(&none, |b| &b.instances));
        for (key, a, b) in side_by_side(a, b) {
            instance(&address.instance(key.clone()), a, b, out);
        }
    }
}

fn by_address(state: &State) -> BTreeMap<AbsResource, &Resource> {
    // Ephemeral resources are never stored.
    let stored = state.all_resources().filter(|(_, resource, _)| resource.mode != ResourceMode::Ephemeral);
    stored.map(|(module, resource, found)| (resource.clone().absolute(module.clone()), found)).collect()
}

fn has_objects(resource: &Resource) -> bool {
    resource.instances.values().any(ResourceInstance::has_objects)
}

/// Compares what belongs to the resource as a whole. One that comes or goes shows as its objects, if it has any.
fn resource(address: &AbsResource, a: Option<&Resource>, b: Option<&Resource>, out: &mut Vec<Entry>) {
    let subject = Subject::Resource(address.clone());
    let mut fields = Fields::default();
    fields.text("provider", a.map(|a| &a.provider), b.map(|b| &b.provider));
    match (a, b) {
        (Some(a), Some(b)) => {
            fields.extra("", &a.extra, &b.extra);
            out.extend(fields.into_change(subject));
        }
        (a, b) if !a.or(b).is_some_and(has_objects) => out.push(one_sided(subject, a, fields)),
        _ => {}
    }
}

fn instance(
    address: &AbsResourceInstance,
    a: Option<&ResourceInstance>,
    b: Option<&ResourceInstance>,
    out: &mut Vec<Entry>,
) {
    if let (Some(a), Some(b)) = (a, b) {
        let key = |key: &InstanceKey| (!key.is_none()).then(|| key.to_string());
        let mut fields = Fields::default();
        fields.text("provider_key", key(&a.provider_key), key(&b.provider_key));
        out.extend(fields.into_change(Subject::Instance(address.clone())));
    }
    let current = |side: Option<&'_ ResourceInstance>| side.and_then(|instance| instance.current.clone());
    object(Subject::Current(address.clone()), current(a).as_deref(), current(b).as_deref(), out);
    let none = BTreeMap::new();
    let (a, b) = (a.map_or(&none, |a| &a.deposed), b.map_or(&none, |b| &b.deposed));
    for (key, a, b) in side_by_side::<DeposedKey, _>(a, b) {
        object(Subject::Deposed(address.clone(), *key), a.map(|a| &**a), b.map(|b| &**b), out);
    }
}

fn object(subject: Subject, a: Option<&ObjectSrc>, b: Option<&ObjectSrc>, out: &mut Vec<Entry>) {
    let mut fields = Fields::default();
    match (a, b) {
        (None, None) => {}
        (Some(a), Some(b)) => {
            if a != b {
                object_fields(a, b, &mut fields);
            }
            out.extend(fields.into_change(subject));
        }
        (a, b) => {
            let tainted = |object: &ObjectSrc| (object.status != ObjectStatus::Ready).then(|| status(object));
            fields.text("status", a.and_then(tainted), b.and_then(tainted));
            out.push(one_sided(subject, a, fields));
        }
    }
}

fn status(object: &ObjectSrc) -> &'static str {
    match object.status {
        ObjectStatus::Ready => "ready",
        ObjectStatus::Tainted => "tainted",
        ObjectStatus::Planned => "planned",
    }
}

/// What an object has that one without attributes does not have.
pub(super) fn members(object: &ObjectSrc) -> Vec<FieldChange> {
    let attributes = match &object.attributes {
        Attributes::Json(_) => Attributes::Json(RawJson::from_validated("{}")),
        Attributes::Flat(_) => Attributes::Flat(BTreeMap::new()),
    };
    let bare = ObjectSrc {
        attributes,
        private: Arc::default(),
        dependencies: Vec::new(),
        depends_on: Vec::new(),
        identity: None,
        identity_schema_version: None,
        extra: Extra::new(),
        ..object.clone()
    };
    let mut fields = Fields::default();
    object_fields(&bare, object, &mut fields);
    fields.0
}

fn object_fields(a: &ObjectSrc, b: &ObjectSrc, fields: &mut Fields) {
    fields.text("status", Some(status(a)), Some(status(b)));
    fields.scalar("schema_version", Some(a.schema_version), Some(b.schema_version));
    // What either side hides stays hidden.
    let paths = a.sensitive_paths.iter().chain(&b.sensitive_paths);
    let secrets: Vec<Secret<'_>> = paths.map(|path| path.steps.as_slice()).collect();
    attributes(&a.attributes, &b.attributes, &secrets, fields);
    let paths = |object: &ObjectSrc| sensitive_paths(&object.sensitive_paths);
    let secret = a.sensitive_paths.iter().chain(&b.sensitive_paths).any(holds_a_value);
    fields.whole("sensitive_attributes", paths(a), paths(b), secret);
    // Providers put credentials there too, and nothing says when.
    let private =
        |object: &ObjectSrc| (!object.private.is_empty()).then(|| string(STANDARD.encode(&object.private)));
    fields.whole("private", private(a), private(b), true);
    fields.set("dependencies", &a.dependencies, &b.dependencies);
    fields.set("depends_on", &a.depends_on, &b.depends_on);
    let flags = |object: &ObjectSrc| (Some(object.create_before_destroy), Some(object.skip_destroy));
    fields.scalar("create_before_destroy", flags(a).0, flags(b).0);
    fields.scalar("skip_destroy", flags(a).1, flags(b).1);
    fields.optional_json("identity", a.identity.as_ref(), b.identity.as_ref(), &[]);
    fields.scalar("identity_schema_version", a.identity_schema_version, b.identity_schema_version);
    fields.extra("", &a.extra, &b.extra);
}

/// Compares attributes; the flat form of old releases and JSON cannot be compared but as wholes.
fn attributes(a: &Attributes, b: &Attributes, secrets: &[Secret<'_>], fields: &mut Fields) {
    match (a, b) {
        (Attributes::Json(a), Attributes::Json(b)) => fields.json("attributes", a, b, secrets),
        (Attributes::Flat(a), Attributes::Flat(b)) => {
            if a != b {
                // A path cannot be followed in flat keys.
                let hidden = [Secret::default()];
                let secrets = if secrets.is_empty() { &[] } else { &hidden[..] };
                fields.json("attributes_flat", &flat_json(a), &flat_json(b), secrets);
            }
        }
        (a, b) => {
            let split = |attributes: &Attributes| match attributes {
                Attributes::Json(raw) => (Some(raw.clone()), None),
                Attributes::Flat(flat) => (None, Some(flat_json(flat))),
            };
            let ((a_json, a_flat), (b_json, b_flat)) = (split(a), split(b));
            fields.whole("attributes", a_json, b_json, !secrets.is_empty());
            fields.whole("attributes_flat", a_flat, b_flat, !secrets.is_empty());
        }
    }
}

fn flat_json(flat: &BTreeMap<Arc<str>, Arc<str>>) -> RawJson {
    let mut out = String::from("{");
    for (index, (name, value)) in flat.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push_json_string(&mut out, name);
        out.push(':');
        push_json_string(&mut out, value);
    }
    out.push('}');
    RawJson::from_validated(&out)
}

/// Paths in an order of their own, without duplicates.
fn sensitive_paths(paths: &[AttributePath]) -> Option<RawJson> {
    let sorted: BTreeSet<&AttributePath> = paths.iter().collect();
    let sorted: Vec<AttributePath> = sorted.into_iter().cloned().collect();
    (!sorted.is_empty()).then(|| RawJson::from_validated(&sensitive_paths_json(&sorted)))
}

/// Whether a path itself may say what is secret: in a set, the key is the element. Positions say nothing.
fn holds_a_value(path: &AttributePath) -> bool {
    let is_value = |step: &PathStep| match &step.kind {
        PathStepKind::Attribute(_) => false,
        PathStepKind::Index { key, .. } => !matches!(key, Value::Number(_)),
    };
    path.steps.iter().any(is_value)
}

/// Compares check results, in whatever order they are stored.
pub(super) fn checks(a: &State, b: &State, out: &mut Vec<Entry>) {
    let results = |state: &State| state.check_results.as_ref().map(sorted_checks).unwrap_or_default();
    let (a, b) = (results(a), results(b));
    if a == b {
        return;
    }
    let by_address = |results: &'_ [CheckAggregate]| -> BTreeMap<(CheckableKind, String), CheckAggregate> {
        results.iter().map(|one| ((one.addr.kind(), one.addr.to_string()), one.clone())).collect()
    };
    let (known_a, known_b) = (by_address(&a.aggregates), by_address(&b.aggregates));
    for ((kind, address), a, b) in side_by_side(&known_a, &known_b) {
        let subject = Subject::Check { kind: *kind, address: address.clone() };
        let mut fields = Fields::default();
        fields.text("status", a.map(|a| a.status.as_str()), b.map(|b| b.status.as_str()));
        match (a, b) {
            (Some(a), Some(b)) => {
                check_objects(&a.objects, &b.objects, &mut fields);
                fields.extra("", &a.extra, &b.extra);
                out.extend(fields.into_change(subject));
            }
            (a, _) => out.push(one_sided(subject, a, fields)),
        }
    }
    let mut fields = Fields::default();
    let opaque = |raw: &[RawJson]| {
        let texts: Vec<&str> = raw.iter().map(RawJson::as_str).collect();
        (!texts.is_empty()).then(|| RawJson::from_validated(&format!("[{}]", texts.join(","))))
    };
    fields.whole("check_results", opaque(&a.opaque), opaque(&b.opaque), true);
    out.extend(fields.into_change(Subject::Document));
}

fn check_objects(a: &[CheckObject], b: &[CheckObject], fields: &mut Fields) {
    let by_address = |objects: &[CheckObject]| -> BTreeMap<String, CheckObject> {
        objects.iter().map(|object| (object.addr.to_string(), object.clone())).collect()
    };
    for (address, a, b) in side_by_side(&by_address(a), &by_address(b)) {
        let path = format!("objects[{address:?}]");
        let status = |object: &'_ CheckObject| object.status.as_str().to_owned();
        fields.text(&format!("{path}.status"), a.map(status), b.map(status));
        let messages = |object: &CheckObject| list_of(&object.failure_messages);
        let field = format!("{path}.failure_messages");
        fields.whole(&field, a.and_then(messages), b.and_then(messages), false);
        let none = Extra::new();
        let extra = |side: Option<&CheckObject>| side.map_or(none.clone(), |object| object.extra.clone());
        fields.extra(&path, &extra(a), &extra(b));
    }
}
