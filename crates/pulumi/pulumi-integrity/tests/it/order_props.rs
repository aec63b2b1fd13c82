//! The order that sorting brings, against slow answers: nothing is lost, nothing moves that need not.

use std::sync::Arc;

use groundstate_pulumi_integrity::{SortError, sort};
use groundstate_pulumi_snapshot::Snapshot;
use proptest::prelude::*;

use crate::support::sketch;
use crate::verify_props::snapshots;

/// Where each resource of the sorted snapshot stood before.
fn permutation(before: &Snapshot, after: &Snapshot) -> Vec<usize> {
    let stood = |resource: &Arc<_>| before.resources.iter().position(|other| Arc::ptr_eq(other, resource));
    after.resources.iter().map(|resource| stood(resource).expect("sorting makes no new ones")).collect()
}

/// The length of the longest part that ascends, found by looking at all pairs.
fn longest_ascending(order: &[usize]) -> usize {
    let mut ends: Vec<usize> = Vec::new();
    for (at, from) in order.iter().enumerate() {
        let before = (0..at).filter(|other| order[*other] < *from).map(|other| ends[other]).max();
        ends.push(before.unwrap_or(0) + 1);
    }
    ends.into_iter().max().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn sorting_keeps_every_resource_and_moves_as_few_as_it_can(snapshot in snapshots()) {
        let mut sorted = snapshot.clone();
        match sort(&mut sorted) {
            Err(SortError::Cycle { urns }) => {
                prop_assert!(!urns.is_empty());
                prop_assert_eq!(&sorted, &snapshot, "a circle leaves the order as it was");
                // Each name of the circle is needed by the one before it.
                for (at, urn) in urns.iter().enumerate() {
                    let next = &urns[(at + 1) % urns.len()];
                    let needs = snapshot.locate(urn).any(|(_, resource)| {
                        resource.all_dependencies().any(|edge| edge.urn == next)
                            || resource.provider().is_some_and(|it| it.split().is_ok_and(|(urn, _)| urn == *next))
                    });
                    prop_assert!(needs, "{urn} does not need {next} in {}", sketch(&snapshot));
                }
            }
            Err(other) => prop_assert!(false, "{other}"),
            Ok(moved) => {
                let order = permutation(&snapshot, &sorted);
                let mut all = order.clone();
                all.sort_unstable();
                prop_assert_eq!(all, (0..snapshot.resources.len()).collect::<Vec<_>>());
                prop_assert_eq!(moved.len(), order.len() - longest_ascending(&order), "{}", sketch(&snapshot));
                for moved in &moved {
                    prop_assert_eq!(order[moved.to], moved.from);
                }
                // What is needed and there stands before those who need it, unless it is a copy of what they need.
                for (index, resource) in sorted.indexed() {
                    for edge in resource.all_dependencies().filter(|edge| *edge.urn != resource.urn) {
                        let mut places = sorted.locate(edge.urn).map(|(at, _)| at).peekable();
                        if places.peek().is_some() {
                            prop_assert!(places.any(|at| at < index), "{} became {}", sketch(&snapshot), sketch(&sorted));
                        }
                    }
                }
                let once = sorted.clone();
                prop_assert_eq!(sort(&mut sorted).unwrap().len(), 0);
                prop_assert_eq!(sorted, once);
            }
        }
    }

    #[test]
    fn what_is_in_order_stays_as_it_is(snapshot in snapshots()) {
        let mut sorted = snapshot;
        if sort(&mut sorted).is_err() {
            return Ok(());
        }
        // Any piece from the front is in order as well.
        for end in 0..=sorted.resources.len() {
            let mut piece = Snapshot { resources: sorted.resources[..end].to_vec(), ..Snapshot::default() };
            prop_assert_eq!(sort(&mut piece).map(|moved| moved.len()), Ok(0));
        }
    }
}
