//! Which features a file needs.

use std::collections::BTreeSet;

use groundstate_pulumi_snapshot::{Feature, Properties, PropertyValue, RawJson, Resource, StoredValue};
use memchr::memmem::Finder;

use crate::file::DeploymentFile;
use crate::property::{self, decode_map, decode_value};

/// The features that a reader of the file needs.
///
/// Pending operations count like resources. Texts that are not UTF-8 are seen in text as well, but not inside of secrets:
/// there the file's own word counts as long as it has a secret.
pub(crate) fn needed(file: &DeploymentFile) -> BTreeSet<Feature> {
    let Some(snapshot) = &file.snapshot else { return BTreeSet::new() };
    let mut features = snapshot.features();
    let pending = snapshot.pending_operations.iter().map(|operation| &operation.resource);
    let mut resources = snapshot.resources.iter().chain(pending);
    let hidden = file.features.contains(&Feature::ByteString);
    let (bytes, secrets) = (Finder::new(property::BYTES), Finder::new(property::SECRET));
    if resources.any(|resource| has_bytes(resource, &bytes) || (hidden && has_secrets(resource, &secrets))) {
        features.insert(Feature::ByteString);
    }
    features
}

/// Whether a text that is not UTF-8 stands in a resource, as far as can be seen: not inside of sealed secrets.
///
/// What stores such a resource apart from a whole file has to say so, because readers of the file need to know.
pub fn has_byte_strings(resource: &Resource) -> bool {
    resource.features().contains(&Feature::ByteString) || has_bytes(resource, &Finder::new(property::BYTES))
}

/// Whether a text that is not UTF-8 stands in properties that are still text.
fn has_bytes(resource: &Resource, signature: &Finder<'_>) -> bool {
    let holds = |raw: &RawJson| contains(raw, signature);
    let in_map = |properties: &Properties| match properties {
        // The signature may be text like any other, so what has it is decoded. What cannot be decoded is taken at its word.
        Properties::Raw(raw) => {
            holds(raw) && decode_map(raw).map_or(true, |map| map.values().any(PropertyValue::contains_bytes))
        }
        _ => false,
    };
    let in_trigger = match &resource.replacement_trigger {
        Some(StoredValue::Raw(raw)) => {
            holds(raw) && decode_value(raw).map_or(true, |value| value.contains_bytes())
        }
        _ => false,
    };
    in_map(&resource.inputs) || in_map(&resource.outputs) || in_trigger
}

fn has_secrets(resource: &Resource, signature: &Finder<'_>) -> bool {
    let in_map = |properties: &Properties| match properties {
        Properties::Absent => false,
        Properties::Raw(raw) => contains(raw, signature),
        Properties::Map(map) => map.values().any(PropertyValue::contains_secrets),
    };
    let in_trigger = match &resource.replacement_trigger {
        Some(StoredValue::Raw(raw)) => contains(raw, signature),
        Some(StoredValue::Value(value)) => value.contains_secrets(),
        None => false,
    };
    in_map(&resource.inputs) || in_map(&resource.outputs) || in_trigger
}

fn contains(raw: &RawJson, signature: &Finder<'_>) -> bool {
    signature.find(raw.as_str().as_bytes()).is_some()
}
