//! Objects that moved to a resource of another provider configuration.

use std::collections::HashMap;

use groundstate_states::addr::{AbsResourceInstance, ProviderInstance};
use groundstate_states::{Attributes, ObjectSrc, State};

use super::fields::Fields;
use super::{ChangeKind, Entry, Subject};

/// Adds both providers to the entries of objects that are the same as one that is gone, apart from their provider.
pub(super) fn providers(a: &State, b: &State, entries: &mut [Entry]) {
    let mut gone: HashMap<(String, &str), Vec<ProviderInstance>> = HashMap::new();
    for (address, kind) in entries.iter().filter_map(current) {
        if kind == ChangeKind::Removed
            && let Some((object, provider)) = found(a, address)
            && let Some(attributes) = attributes(object)
        {
            let type_name = address.resource.resource.type_name.to_string();
            gone.entry((type_name, attributes)).or_default().push(provider);
        }
    }
    if gone.is_empty() {
        return;
    }
    for entry in entries {
        let Some((address, ChangeKind::Added)) = current(entry) else { continue };
        let Some((object, provider)) = found(b, address) else { continue };
        let type_name = address.resource.resource.type_name.to_string();
        let before = attributes(object).and_then(|attributes| gone.get(&(type_name, attributes)));
        // Where one of several kept it, this may be that one.
        let Some(before) = before.filter(|before| !before.contains(&provider)) else { continue };
        let mut fields = Fields::default();
        fields.text("provider", before.first(), Some(&provider));
        entry.fields.append(&mut fields.0);
    }
}

fn current(entry: &Entry) -> Option<(&AbsResourceInstance, ChangeKind)> {
    match &entry.subject {
        Subject::Current(address) => Some((address, entry.kind)),
        _ => None,
    }
}

fn found<'s>(state: &'s State, address: &AbsResourceInstance) -> Option<(&'s ObjectSrc, ProviderInstance)> {
    let resource = state.resource(&address.resource)?;
    let instance = resource.instances.get(&address.key)?;
    let provider = ProviderInstance { config: resource.provider.clone(), key: instance.provider_key.clone() };
    Some((instance.current.as_deref()?, provider))
}

/// Identity that tells an object from others; `None` for one without attributes.
fn attributes(object: &ObjectSrc) -> Option<&str> {
    match &object.attributes {
        Attributes::Json(raw) => Some(raw.as_str()).filter(|text| !matches!(*text, "{}" | "null")),
        Attributes::Flat(flat) => flat.get("id").map(|id| &**id).filter(|id| !id.is_empty()),
    }
}
