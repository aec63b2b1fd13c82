//! What one state has and its successor lacks.

use std::sync::Arc;

use groundstate_state_edit::{ChangeKind, Diff, Entry, Subject};
use groundstate_statefile::File;
use groundstate_states::ObjectSrc;
use groundstate_states::addr::{AbsResourceInstance, ResourceMode};

/// The objects that vanish, by their addresses. One that another address has from now on was moved.
pub(super) fn vanishing(diff: &Diff, before: &File, after: &File) -> Vec<String> {
    let of_kind = |kind: ChangeKind| diff.entries.iter().filter(move |entry| entry.kind == kind);
    let mut arrived: Vec<(&AbsResourceInstance, &ObjectSrc)> =
        of_kind(ChangeKind::Added).filter_map(|entry| object(entry, after)).collect();
    let mut vanishing = Vec::new();
    for entry in of_kind(ChangeKind::Removed) {
        let Some((address, object)) = object(entry, before) else { continue };
        // What was only read is read again.
        if address.resource.resource.mode != ResourceMode::Managed {
            continue;
        }
        let is_moved = |(other, arrived): &(&AbsResourceInstance, &ObjectSrc)| {
            let kind = |address: &AbsResourceInstance| {
                let resource = &address.resource.resource;
                (resource.mode, Arc::clone(&resource.type_name))
            };
            kind(other) == kind(address) && arrived.attributes == object.attributes
        };
        match arrived.iter().position(is_moved) {
            Some(at) => drop(arrived.swap_remove(at)),
            None => vanishing.push(entry.subject.to_string()),
        }
    }
    vanishing
}

fn object<'f>(entry: &'f Entry, file: &'f File) -> Option<(&'f AbsResourceInstance, &'f ObjectSrc)> {
    match &entry.subject {
        Subject::Current(address) => {
            Some((address, file.state.resource_instance(address)?.current.as_deref()?))
        }
        Subject::Deposed(address, key) => {
            Some((address, file.state.resource_instance(address)?.deposed.get(key)?))
        }
        _ => None,
    }
}
