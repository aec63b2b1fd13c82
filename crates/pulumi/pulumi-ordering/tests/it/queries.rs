//! Questions to lists, by hand and against their definitions.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use groundstate_pulumi_ordering::StackIndex;
use groundstate_pulumi_snapshot::{DependencyKind, Resource, Urn};
use proptest::prelude::*;

use crate::notation::{entries, urn};
use crate::properties::lists;

fn depending(text: &str, start: usize, ignore: &[usize], children: bool) -> Vec<usize> {
    let list = entries(text);
    let ignore = ignore.iter().copied().collect();
    StackIndex::new(&list).depending_on(&BTreeSet::from([start]), &ignore, children)
}

#[test]
fn dependents_are_found_through_every_relation() {
    let list = "A; B(A); C(p:A); D{A}; E(dw A); F(rw A); G parent A; H(B); X";
    assert_eq!(depending(list, 0, &[], false), [1, 2, 3, 4, 5, 7]);
    assert_eq!(depending(list, 0, &[], true), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(
        depending(list, 0, &[1], true),
        [2, 3, 4, 5, 6],
        "what depends only on what is ignored is not found"
    );
    assert_eq!(depending(list, 8, &[], true), [0; 0]);
}

#[test]
fn dependencies_include_old_entries_and_what_belongs_to_components() {
    let list = entries(
        "A; A delete; K component; K1 parent K; L component parent K; L1 parent L; Z(A, K); K2 parent K",
    );
    let index = StackIndex::new(&list);
    assert_eq!(index.dependencies_of(6), BTreeSet::from([0, 1, 2, 3, 4, 5]));
    assert_eq!(
        index.dependencies_of(5),
        BTreeSet::from([4]),
        "siblings of the parent are none of its business"
    );
    assert_eq!(index.positions(&urn("A")).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(index.live(&urn("A")), Some(0));
    assert_eq!(index.live(&urn("missing")), None);
}

#[test]
fn a_child_that_is_also_a_dependency_still_brings_its_children() {
    let list = entries("K component; C parent K; D parent C; Z(dw K, C)");
    assert_eq!(StackIndex::new(&list).dependencies_of(3), BTreeSet::from([0, 1, 2]));
}

#[test]
fn old_entries_need_old_entries_and_live_ones_need_live_ones() {
    let list = entries("A; A delete; B(A) delete; B(A); C(B)");
    let index = StackIndex::new(&list);
    assert_eq!(index.transitive_dependencies_of(4), BTreeSet::from([0, 3]));
    assert_eq!(index.transitive_dependencies_of(2), BTreeSet::from([1]));
}

/// Everything that a resource names, and whether as its parent.
fn named(resource: &Resource) -> Vec<(Urn, bool)> {
    let provider = resource.provider().and_then(|provider| provider.split().ok());
    let others = resource.all_dependencies();
    let others = others.map(|one| (one.urn.clone(), one.kind == DependencyKind::Parent));
    provider.map(|(urn, _)| (urn, false)).into_iter().chain(others).collect()
}

/// The scan, done the slow way.
fn scan(list: &[Arc<Resource>], start: usize, ignore: &HashSet<usize>, children: bool) -> Vec<usize> {
    let mut urns = HashSet::from([list[start].urn.clone()]);
    let mut found = Vec::new();
    for (at, entry) in list.iter().enumerate().skip(start + 1) {
        let refers =
            named(entry).iter().any(|(urn, is_parent)| (!is_parent || children) && urns.contains(urn));
        if refers && !ignore.contains(&at) {
            urns.insert(entry.urn.clone());
            found.push(at);
        }
    }
    found
}

proptest! {
    #[test]
    fn queries_are_what_their_definitions_say(list in lists(), start in 0_usize..10, ignored in 0_usize..10) {
        prop_assume!(start < list.len());
        let index = StackIndex::new(&list);
        let ignore = HashSet::from([ignored]);
        for children in [false, true] {
            let found = index.depending_on(&BTreeSet::from([start]), &ignore, children);
            prop_assert_eq!(found, scan(&list, start, &ignore, children));
        }
        let direct = index.dependencies_of(start);
        for (at, entry) in list.iter().enumerate() {
            let refers = named(&list[start]).iter().any(|(urn, _)| *urn == entry.urn) && at < start;
            if refers {
                prop_assert!(direct.contains(&at));
            } else if direct.contains(&at) {
                prop_assert!(entry.parent.is_some() && at < start, "only children are found otherwise");
            }
        }
        for at in index.transitive_dependencies_of(start) {
            prop_assert!(at < start);
        }
    }
}
