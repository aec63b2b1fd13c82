//! The graph against slow answers, on random snapshots.

use std::collections::{BTreeSet, HashSet};

use groundstate_pulumi_snapshot::{DependencyGraph, DependencyKind, ResourceId, Snapshot};
use proptest::prelude::*;

use crate::support::{resource, urn};

/// Resources of a few names, each with edges to names before it; some wait for their deletion.
fn snapshots() -> impl Strategy<Value = Snapshot> {
    let one = (0..6usize, any::<bool>(), prop::collection::vec((0..5u8, 0..6usize), 0..3));
    prop::collection::vec(one, 1..12).prop_map(|parts| {
        let mut resources = Vec::new();
        let mut known: Vec<String> = Vec::new();
        for (position, (name, delete, edges)) in parts.into_iter().enumerate() {
            let name = format!("n{name}");
            let mut made = resource(&name);
            made.delete = delete;
            made.id = Some(ResourceId::from(position.to_string()));
            for (kind, target) in edges {
                let target = format!("n{target}");
                if !known.contains(&target) {
                    continue;
                }
                match kind {
                    0 => made.parent = Some(urn(&target)),
                    1 => made.dependencies.push(urn(&target)),
                    2 => made.property_dependencies.insert("k", Some(vec![urn(&target)])),
                    3 => made.deleted_with = Some(urn(&target)),
                    _ => made.replace_with.push(urn(&target)),
                }
            }
            known.push(name);
            resources.push(made);
        }
        Snapshot::new(resources)
    })
}

/// Takes resources away until everything that is left has a copy of all it needs before it.
fn slow_only_depends_on(snapshot: &Snapshot, start: usize) -> Vec<usize> {
    let mut gone = HashSet::from([start]);
    let mut found = Vec::new();
    for (index, resource) in snapshot.indexed().skip(start + 1) {
        let needs = resource.all_dependencies();
        let lost = needs.map(|dependency| dependency.urn).any(|urn| {
            let mut copies = snapshot.locate(urn).map(|(at, _)| at).filter(|at| *at < index).peekable();
            copies.peek().is_some() && copies.all(|at| gone.contains(&at))
        });
        if lost {
            gone.insert(index);
            found.push(index);
        }
    }
    found
}

/// Adds what is needed, and what lies in components that are needed, until nothing more comes.
fn slow_transitive(snapshot: &Snapshot, start: usize) -> BTreeSet<usize> {
    let graph = DependencyGraph::new(&snapshot.resources).expect("parents stand before their children");
    let index = snapshot.urn_index();
    let mut all = BTreeSet::from([start]);
    loop {
        let before = all.len();
        for at in all.clone() {
            all.extend(index.successors(at));
            let resource = &snapshot.resources[at];
            let named = resource.all_dependencies().filter(|edge| edge.kind != DependencyKind::Parent);
            for component in named.filter_map(|edge| index.resolve(edge.urn, resource.delete)) {
                if !snapshot.resources[component].custom && component != start {
                    all.extend((0..start).filter(|child| graph.parents_of(*child).contains(&component)));
                }
            }
        }
        if all.len() == before {
            all.remove(&start);
            return all;
        }
    }
}

proptest! {
    #[test]
    fn components_that_are_needed_bring_their_children_however_they_are_reached(
        snapshot in snapshots(),
        components in any::<u16>(),
    ) {
        let mut snapshot = snapshot;
        for at in 0..snapshot.resources.len() {
            let resource = snapshot.resource_mut(at).unwrap();
            resource.custom = components & (1 << at) == 0;
            if !resource.custom {
                resource.id = None;
            }
        }
        let graph = DependencyGraph::new(&snapshot.resources).unwrap();
        for at in 0..snapshot.resources.len() {
            let found: BTreeSet<usize> = graph.transitive_dependencies_of(at).into_iter().collect();
            prop_assert_eq!(&found, &slow_transitive(&snapshot, at), "{}", at);
        }
    }

    #[test]
    fn who_could_not_stay_is_who_loses_all_copies_of_something(snapshot in snapshots(), start in 0..12usize) {
        let start = start % snapshot.resources.len();
        let graph = DependencyGraph::new(&snapshot.resources).unwrap();
        prop_assert_eq!(graph.only_depends_on(start), slow_only_depends_on(&snapshot, start));
    }

    #[test]
    fn needs_are_closed_and_dependents_are_their_reverse(snapshot in snapshots()) {
        let graph = DependencyGraph::new(&snapshot.resources).unwrap();
        let index = snapshot.urn_index();
        for at in 0..snapshot.resources.len() {
            let needs: BTreeSet<usize> = graph.transitive_dependencies_of(at).into_iter().collect();
            let mut slow = BTreeSet::new();
            let mut open = vec![at];
            while let Some(next) = open.pop() {
                open.extend(index.successors(next).filter(|found| *found != at && slow.insert(*found)));
            }
            prop_assert_eq!(&needs, &slow);
            let dependents = graph.depending_on(at, &HashSet::new(), true);
            prop_assert!(graph.only_depends_on(at).iter().all(|found| dependents.contains(found)));
            let children = graph.children_of(&snapshot.resources[at].urn);
            for parent in graph.parents_of(at) {
                let below = graph.children_of(&snapshot.resources[parent].urn);
                prop_assert!(below.contains(&at));
            }
            prop_assert!(children.iter().all(|child| *child > 0));
        }
    }
}
