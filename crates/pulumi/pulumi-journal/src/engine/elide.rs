//! Whether a step that changes nothing has to be written at once.

use groundstate_pulumi_deployment::{decode_map, decode_value};
use groundstate_pulumi_snapshot::{Properties, PropertyMap, PropertyValue, Resource, StoredValue, Urn};

/// Whether a step from one state to another, which does nothing to the resource itself, has to be written at once.
///
/// What it need not write is written with the next step that is, or at the end. Pulumi has two such functions, of which one
/// overlooks [`Resource::replacement_trigger`] and the other one [`Resource::property_dependencies`]; this one looks at both.
/// What cannot be compared, because it is encrypted, counts as changed.
///
/// ```
/// use groundstate_pulumi_snapshot::Resource;
/// use groundstate_pulumi_journal::must_write;
///
/// let old = Resource { dependencies: vec!["a".into(), "b".into()], ..Resource::new("u", "t") };
/// let mut new = Resource { dependencies: vec!["b".into(), "a".into()], ..old.clone() };
/// new.taint = true;
/// assert!(!must_write(&old, &new), "the order of dependencies means nothing, and a taint can wait");
/// new.protect = true;
/// assert!(must_write(&old, &new));
/// ```
pub fn must_write(old: &Resource, new: &Resource) -> bool {
    old.urn != new.urn
        || old.resource_type != new.resource_type
        || old.custom != new.custom
        || old.custom_timeouts != new.custom_timeouts
        || old.retain_on_delete != new.retain_on_delete
        || old.provider() != new.provider()
        || old.parent() != new.parent()
        || given(&old.deleted_with) != given(&new.deleted_with)
        || old.replace_with != new.replace_with
        || old.protect != new.protect
        || sorted(&old.dependencies) != sorted(&new.dependencies)
        || old.resource_hooks != new.resource_hooks
        || !same_property_dependencies(old, new)
        // These do not change without an operation, so what differs here is worth writing.
        || (old.delete, old.external, old.id()) != (new.delete, new.external, new.id())
        || !same_properties(&old.inputs, &new.inputs)
        || outputs_changed(old, new)
        || !same_trigger(old.replacement_trigger.as_ref(), new.replacement_trigger.as_ref())
}

/// Whether outputs that a resource registers have to be written at once.
pub fn outputs_changed(old: &Resource, new: &Resource) -> bool {
    !same_properties(&old.outputs, &new.outputs)
}

fn given(urn: &Option<Urn>) -> Option<&Urn> {
    urn.as_ref().filter(|urn| !urn.is_empty())
}

fn sorted(urns: &[Urn]) -> Vec<&Urn> {
    let mut urns: Vec<&Urn> = urns.iter().collect();
    urns.sort_unstable();
    urns
}

/// Lists are compared in order; no list and an empty one are the same.
fn same_property_dependencies(old: &Resource, new: &Resource) -> bool {
    let (old, new) = (&old.property_dependencies, &new.property_dependencies);
    old.len() == new.len()
        && old.iter().all(|(property, urns)| new.get(property) == Some(urns.unwrap_or_default()))
}

fn same_properties(old: &Properties, new: &Properties) -> bool {
    if old == new || (old.is_empty() && new.is_empty()) {
        return true;
    }
    match (values(old), values(new)) {
        (Some(old), Some(new)) => old.deep_equals(&new).unwrap_or(false),
        _ => false,
    }
}

/// The values; nothing if the text cannot be decoded.
fn values(properties: &Properties) -> Option<PropertyMap> {
    match properties {
        Properties::Absent => Some(PropertyMap::new()),
        Properties::Map(map) => Some(map.clone()),
        Properties::Raw(raw) => decode_map(raw).ok(),
    }
}

fn same_trigger(old: Option<&StoredValue>, new: Option<&StoredValue>) -> bool {
    if old == new {
        return true;
    }
    match (trigger(old), trigger(new)) {
        (Some(old), Some(new)) => old.trigger_equals(&new).unwrap_or(false),
        _ => false,
    }
}

fn trigger(value: Option<&StoredValue>) -> Option<PropertyValue> {
    match value {
        None => Some(PropertyValue::Null),
        Some(StoredValue::Value(value)) => Some(value.clone()),
        Some(StoredValue::Raw(raw)) => decode_value(raw).ok(),
    }
}
