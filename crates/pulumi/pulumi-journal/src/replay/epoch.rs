//! What entries have done to one base.
//!
//! Entries of operations may come in any order: whatever they say, the one with the highest number counts.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use groundstate_pulumi_snapshot::{Extension, ExtensionRef, Operation, Resource, Snapshot};

use super::alive::Alive;
use crate::entry::{Entry, EntryKind, Target};
use crate::ids::{OperationId, SequenceId};

/// A base, and what has become of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Epoch {
    pub(super) base: Snapshot,
    /// What was recorded since, in the order of the entries.
    order: Vec<(SequenceId, usize)>,
    /// What has become of what operations recorded, and where that of each operation is.
    new: Vec<Change>,
    places: HashMap<OperationId, usize>,
    /// What has become of the base, by its indexes.
    old: Vec<Option<Box<Change>>>,
    /// Indexes of the base that are still there.
    alive: Alive,
    pub(super) extensions: BTreeMap<ExtensionRef, Extension>,
    /// Operations that others speak of and that recorded nothing, with the first entry that says so.
    pub(super) unknown: BTreeMap<OperationId, SequenceId>,
    /// The highest index of the base that was named, and by which entry.
    pub(super) highest: Option<(u64, SequenceId)>,
    removed_new: usize,
}

/// What has become of one resource.
#[derive(Clone, Debug, Default)]
pub(super) struct Change {
    /// The entry and state that recorded it; nothing for resources of the base.
    recorded: Option<(SequenceId, Arc<Resource>)>,
    replaced: Option<(SequenceId, Arc<Resource>)>,
    removed: Option<SequenceId>,
    deleted: Option<SequenceId>,
    pending: Option<SequenceId>,
}

impl Epoch {
    pub(super) fn new(base: Snapshot) -> Self {
        let length = base.resources.len();
        Self { alive: Alive::new(length), old: vec![None; length], base, ..Self::default() }
    }

    /// Takes an entry into account that ends an operation well, or has other outputs.
    pub(super) fn step(&mut self, entry: &Entry) {
        let sequence = entry.sequence;
        match entry.kind {
            EntryKind::Success => {
                if let Some(state) = &entry.state {
                    self.record(sequence, entry.operation_id, state);
                }
                self.change(entry.removed, sequence, |change| later(&mut change.removed, sequence));
                self.change(entry.deleted, sequence, |change| later(&mut change.deleted, sequence));
                self.change(entry.pending_replacement, sequence, |change| {
                    later(&mut change.pending, sequence)
                });
            }
            EntryKind::RefreshSuccess | EntryKind::Outputs => {
                self.change(entry.removed, sequence, |change| match &entry.state {
                    Some(state) if change.replaced.as_ref().is_none_or(|(known, _)| *known < sequence) => {
                        change.replaced = Some((sequence, Arc::clone(state)));
                    }
                    None if entry.kind == EntryKind::RefreshSuccess => later(&mut change.removed, sequence),
                    _ => {}
                });
            }
            _ => {}
        }
        self.tidy(entry);
    }

    fn record(&mut self, sequence: SequenceId, operation: OperationId, state: &Arc<Resource>) {
        let place = self.place(operation);
        if let Some(change) = self.new.get_mut(place) {
            change.recorded = Some((sequence, Arc::clone(state)));
        }
        self.unknown.remove(&operation);
        match self.order.last() {
            Some((last, _)) if *last > sequence => {
                let at = self.order.partition_point(|(known, _)| *known < sequence);
                self.order.insert(at, (sequence, place));
            }
            _ => self.order.push((sequence, place)),
        }
    }

    /// Where it stands what has become of what an operation recorded.
    fn place(&mut self, operation: OperationId) -> usize {
        let next = self.new.len();
        let place = *self.places.entry(operation).or_insert(next);
        if place == next {
            self.new.push(Change::default());
        }
        place
    }

    fn change(&mut self, target: Option<Target>, sequence: SequenceId, change: impl FnOnce(&mut Change)) {
        match target {
            None => {}
            Some(Target::Old(index)) => {
                self.highest = self.highest.max(Some((index, sequence)));
                // What is out of range is an error, unless another base comes; then everything is told again.
                let known = usize::try_from(index).ok().and_then(|index| self.old.get_mut(index));
                if let Some(known) = known {
                    change(known.get_or_insert_default());
                }
            }
            Some(Target::New(operation)) => {
                let place = self.place(operation);
                let Some(known) = self.new.get_mut(place) else { return };
                if known.recorded.is_none() {
                    let first = self.unknown.entry(operation).or_insert(sequence);
                    *first = sequence.min(*first);
                }
                change(known);
            }
        }
    }

    /// Forgets what is gone as soon as it is the larger part, so that a snapshot costs what is there.
    fn tidy(&mut self, entry: &Entry) {
        let gone = match entry.kind {
            EntryKind::Success => entry.removed,
            EntryKind::RefreshSuccess if entry.state.is_none() => entry.removed,
            _ => None,
        };
        match gone {
            Some(Target::Old(_)) => {
                self.alive.one_less(|index| is_gone(&self.old, index));
            }
            Some(Target::New(_)) => {
                self.removed_new += 1;
                if self.removed_new * 2 > self.order.len() {
                    self.order
                        .retain(|(_, place)| self.new.get(*place).is_some_and(|change| !change.is_gone()));
                    self.removed_new = 0;
                }
            }
            None => {}
        }
    }

    /// All resources: those that are new, and what is left of the base.
    pub(super) fn resources(&self) -> Vec<Arc<Resource>> {
        let new = self.order.iter().filter_map(|(_, place)| {
            let change = self.new.get(*place)?;
            change.applied(&change.recorded.as_ref()?.1)
        });
        let old = self.alive.iter().filter_map(|index| {
            let resource = self.base.resources.get(index)?;
            match self.old.get(index).and_then(Option::as_deref) {
                Some(change) => change.applied(resource),
                None => Some(Arc::clone(resource)),
            }
        });
        let mut resources = Vec::with_capacity(self.order.len() + self.alive.len());
        resources.extend(new.chain(old));
        resources
    }

    /// How many resources were recorded and are still there.
    pub(super) fn new_resources(&self) -> usize {
        let gone = |place: usize| self.new.get(place).is_some_and(Change::is_gone);
        self.order.iter().filter(|(_, place)| !gone(*place)).count()
    }

    /// Operations of the base that no journal entry settles.
    pub(super) fn pending(&self) -> impl Iterator<Item = &Operation> {
        let creating = groundstate_pulumi_snapshot::OperationType::Creating;
        self.base.pending_operations.iter().filter(move |operation| operation.kind == creating)
    }
}

impl Change {
    /// Nothing if it is gone, and otherwise what it is now. Marks hold for whatever state is there, also for one that came
    /// after them, which the original leaves unmarked.
    fn applied(&self, resource: &Arc<Resource>) -> Option<Arc<Resource>> {
        if self.is_gone() {
            return None;
        }
        let replaced = self.replaced.as_ref().filter(|(sequence, _)| self.counts(*sequence));
        let mut resource = Arc::clone(replaced.map_or(resource, |(_, state)| state));
        if self.deleted.is_some_and(|sequence| self.counts(sequence)) && !resource.delete {
            Arc::make_mut(&mut resource).delete = true;
        }
        if self.pending.is_some_and(|sequence| self.counts(sequence)) && !resource.pending_replacement {
            Arc::make_mut(&mut resource).pending_replacement = true;
        }
        Some(resource)
    }

    fn is_gone(&self) -> bool {
        self.removed.is_some_and(|sequence| self.counts(sequence))
    }

    /// Whether what an entry says concerns the state: it does not if it was said before the state was recorded.
    fn counts(&self, sequence: SequenceId) -> bool {
        self.recorded.as_ref().is_none_or(|(recorded, _)| *recorded < sequence)
    }
}

/// Whether a resource of the base is gone.
fn is_gone(old: &[Option<Box<Change>>], index: usize) -> bool {
    old.get(index).and_then(Option::as_deref).is_some_and(Change::is_gone)
}

fn later(known: &mut Option<SequenceId>, sequence: SequenceId) {
    *known = (*known).max(Some(sequence));
}
