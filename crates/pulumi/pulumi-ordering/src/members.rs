//! What has to be deleted before an entry that is deleted before it is replaced.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashSet};

use groundstate_pulumi_snapshot::Urn;

use crate::index::is_managed;
use crate::{Differ, StackIndex};

/// The entries that a replacement drags along, in the order of the list and without the root. Entries whose goal was
/// registered are settled, and stay.
///
/// Every relation points backwards in the list, so looking at waiters from front to back decides each of them for good.
pub(crate) fn members(
    index: &StackIndex<'_>,
    root: usize,
    settled: impl Fn(usize) -> bool,
    differ: &mut dyn Differ,
) -> Vec<usize> {
    let entries = index.resources();
    let mut urns: HashSet<&Urn> = HashSet::from([&entries[root].urn]);
    let (mut queue, mut seen) = (BinaryHeap::new(), HashSet::from([root]));
    let mut found = Vec::new();
    let push = |urn: &Urn, behind: usize, queue: &mut BinaryHeap<_>, seen: &mut HashSet<usize>| {
        for &waiter in index.waiters(urn) {
            if waiter > behind && seen.insert(waiter) {
                queue.push(Reverse(waiter));
            }
        }
    };
    push(&entries[root].urn, root, &mut queue, &mut seen);
    while let Some(Reverse(at)) = queue.pop() {
        let entry = &entries[at];
        if !settled(at) && is_managed(entry) && joins(index, at, &urns, differ) {
            urns.insert(&entry.urn);
            found.push(at);
            push(&entry.urn, at, &mut queue, &mut seen);
        }
    }
    found
}

fn joins(index: &StackIndex<'_>, at: usize, urns: &HashSet<&Urn>, differ: &mut dyn Differ) -> bool {
    let entry = &index.resources()[at];
    let certain = index.provider(at).is_some_and(|urn| urns.contains(urn))
        || entry.deleted_with.as_ref().is_some_and(|urn| urns.contains(urn))
        || entry.replace_with.iter().any(|urn| urns.contains(urn));
    if certain {
        return true;
    }
    let unknown = entry
        .property_dependencies
        .iter()
        .filter(|(_, on)| on.unwrap_or_default().iter().any(|urn| urns.contains(urn)));
    let properties: BTreeSet<String> = unknown.map(|(name, _)| name.to_owned()).collect();
    !properties.is_empty() && differ.replaces_if_unknown(entry, &properties)
}
