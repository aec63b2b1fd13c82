//! Edits of sound snapshots leave sound snapshots.

use std::collections::BTreeSet;

use groundstate_pulumi_integrity::{
    DeleteOptions, MoveOptions, RenameStack, RepairOptions, VerifyOptions, delete, move_resources, normalize,
    prune, rename, rename_stack, repair, sort, verify,
};
use groundstate_pulumi_snapshot::{Snapshot, Urn};
use proptest::prelude::*;

use crate::support::sketch;
use crate::verify_props::snapshots;

/// Snapshots without errors: random ones, repaired.
fn sound() -> impl Strategy<Value = Snapshot> {
    snapshots().prop_map(|snapshot| repair(&snapshot, &RepairOptions::default()).apply())
}

fn is_valid(snapshot: &Snapshot) -> bool {
    verify(snapshot, &VerifyOptions::default()).is_valid()
}

proptest! {
    #[test]
    fn edits_keep_integrity(snapshot in sound(), at in any::<prop::sample::Index>(), all in any::<bool>()) {
        if snapshot.resources.is_empty() {
            return Ok(());
        }
        prop_assert!(is_valid(&snapshot));
        let at = at.index(snapshot.resources.len());
        let urn = snapshot.resources[at].urn.clone();

        let mut edited = snapshot.clone();
        let deleted = delete(&mut edited, [at], DeleteOptions::default().dependents(all));
        prop_assert!(is_valid(&edited), "{} without {at}: {}", sketch(&snapshot), sketch(&edited));
        match deleted {
            Ok(deleted) => {
                let gone = deleted.targets.len() + deleted.dependents.len();
                prop_assert_eq!(edited.resources.len() + gone, snapshot.resources.len());
            }
            Err(_) => prop_assert!(!all && edited == snapshot),
        }

        let mut edited = snapshot.clone();
        match rename(&mut edited, &urn, "another") {
            Ok(renamed) => {
                prop_assert_eq!(edited.locate(&renamed.urn).count(), 1);
                prop_assert!(edited.locate(&urn).next().is_none());
            }
            Err(_) => prop_assert!(snapshot.locate(&urn).count() > 1),
        }
        prop_assert!(is_valid(&edited), "{} renamed {at}: {}", sketch(&snapshot), sketch(&edited));

        let mut edited = snapshot.clone();
        prop_assert!(rename_stack(&mut edited, &RenameStack::new("s", "n")).is_ok());
        prop_assert!(is_valid(&edited));
        prop_assert!(edited.resources.iter().all(|resource| resource.urn.stack() == "n"));
        rename_stack(&mut edited, &RenameStack::new("n", "s")).unwrap();
        prop_assert_eq!(&edited, &snapshot, "there and back");
    }

    #[test]
    fn moves_keep_integrity_and_lose_nothing(snapshot in sound(), at in any::<prop::sample::Index>(), parents in any::<bool>()) {
        if snapshot.resources.is_empty() {
            return Ok(());
        }
        prop_assert!(is_valid(&snapshot));
        let urn = snapshot.resources[at.index(snapshot.resources.len())].urn.clone();
        let options = MoveOptions::new("dest", "q").include_parents(parents);
        let empty = Snapshot::default();
        if let Ok(moved) = move_resources(&snapshot, &empty, std::slice::from_ref(&urn), &options) {
            let total = moved.source.resources.len() + moved.resources.len();
            prop_assert_eq!(total, snapshot.resources.len());
            prop_assert!(moved.source.locate(&urn).next().is_none());
            let arrived = moved.resources.len() + moved.providers.len();
            prop_assert_eq!(moved.destination.resources.len(), arrived + 1);
            prop_assert!(is_valid(&moved.source) && is_valid(&moved.destination));
        }
    }

    #[test]
    fn normalizing_leaves_no_alias_and_no_name_that_one_stands_for(
        snapshot in snapshots(),
        aliases in prop::collection::vec((any::<prop::sample::Index>(), 0..12usize), 1..4),
    ) {
        let mut snapshot = snapshot;
        let count = snapshot.resources.len();
        if count == 0 {
            return Ok(());
        }
        for (at, name) in aliases {
            let resource = snapshot.resource_mut(at.index(count)).expect("it is below the count");
            resource.aliases.push(crate::support::urn(&format!("n{name}")));
        }
        let names: BTreeSet<Urn> = snapshot.resources.iter().map(|resource| resource.urn.clone()).collect();
        let gone: BTreeSet<Urn> = snapshot
            .resources
            .iter()
            .flat_map(|resource| resource.aliases.iter().filter(|alias| !names.contains(*alias)))
            .cloned()
            .collect();
        let mut normal = snapshot.clone();
        match normalize(&mut normal) {
            Err(_) => prop_assert_eq!(normal, snapshot),
            Ok(changed) => {
                prop_assert!(changed);
                prop_assert_eq!(normal.resources.len(), count);
                prop_assert!(normal.resources.iter().all(|resource| resource.aliases.is_empty()));
                for resource in &normal.resources {
                    let mut edges = resource.all_dependencies();
                    prop_assert!(edges.all(|edge| !gone.contains(edge.urn)), "{}", sketch(&normal));
                }
                prop_assert_eq!(normalize(&mut normal), Ok(false));
            }
        }
    }

    #[test]
    fn pruning_leaves_no_reference_that_leads_nowhere(snapshot in snapshots()) {
        let mut pruned = snapshot.clone();
        if sort(&mut pruned).is_err() {
            return Ok(());
        }
        prune(&mut pruned);
        for (index, resource) in pruned.indexed() {
            let before: BTreeSet<&Urn> = pruned.resources[..index].iter().map(|other| &other.urn).collect();
            for edge in resource.all_dependencies() {
                prop_assert!(before.contains(edge.urn), "{} became {}", sketch(&snapshot), sketch(&pruned));
            }
        }
        let once = pruned.clone();
        prop_assert!(prune(&mut pruned).iter().all(|pruned| pruned.clash.is_some()));
        prop_assert_eq!(pruned, once);
    }
}
