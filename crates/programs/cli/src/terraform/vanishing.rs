//! What one state has and its successor lacks.

use std::sync::Arc;

use groundstate_state_edit::{ChangeKind, Diff, Entry, Subject};
use groundstate_statefile::File;
use groundstate_states::ObjectSrc;
use groundstate_states::addr::{AbsResourceInstance, ResourceMode};

/// A managed object that a state has and its successor lacks.
pub(super) struct Vanishing {
    /// Its address, as `diff` shows it.
    pub(super) shown: String,
    address: AbsResourceInstance,
    object: ObjectSrc,
}

/// The objects that vanish. One that another address has from now on was moved.
pub(super) fn vanishing(diff: &Diff, before: &File, after: &File) -> Vec<Vanishing> {
    let gone = of_kind(diff, ChangeKind::Removed).filter_map(|entry| {
        let (address, object) = object(entry, before)?;
        // What was only read is read again.
        let is_managed = address.resource.resource.mode == ResourceMode::Managed;
        is_managed.then(|| Vanishing {
            shown: entry.subject.to_string(),
            address: address.clone(),
            object: object.clone(),
        })
    });
    staying_away(gone.collect(), diff, after)
}

/// Keeps the objects that do not arrive by this difference, in the same state or in another one.
pub(super) fn staying_away(gone: Vec<Vanishing>, diff: &Diff, after: &File) -> Vec<Vanishing> {
    let mut arrived: Vec<(&AbsResourceInstance, &ObjectSrc)> =
        of_kind(diff, ChangeKind::Added).filter_map(|entry| object(entry, after)).collect();
    let kind = |address: &AbsResourceInstance| {
        let resource = &address.resource.resource;
        (resource.mode, Arc::clone(&resource.type_name))
    };
    let stays_away = |gone: &Vanishing| {
        let is_moved = |(other, arrived): &(&AbsResourceInstance, &ObjectSrc)| {
            kind(other) == kind(&gone.address) && arrived.attributes == gone.object.attributes
        };
        let at = arrived.iter().position(is_moved);
        at.map(|at| arrived.swap_remove(at)).is_none()
    };
    let mut gone = gone;
    gone.retain(stays_away);
    gone
}

fn of_kind(diff: &Diff, kind: ChangeKind) -> impl Iterator<Item = &Entry> {
    diff.entries.iter().filter(move |entry| entry.kind == kind)
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
