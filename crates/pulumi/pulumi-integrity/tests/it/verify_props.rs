//! The check against a slow reading of the rules, on random snapshots.

use groundstate_pulumi_integrity::{Rule, VerifyOptions, sort, verify};
use groundstate_pulumi_snapshot::{DependencyKind, Properties, RawJson, Resource, Snapshot};
use proptest::prelude::*;

use crate::support::{provider_ref, resource, sketch, urn};

/// Any snapshot of few names: whatever can go wrong does.
pub(crate) fn snapshots() -> impl Strategy<Value = Snapshot> {
    let one = (0..7usize, any::<u8>(), prop::collection::vec((0..6u8, 0..8usize), 0..4));
    prop::collection::vec(one, 0..12).prop_map(|parts| {
        Snapshot::new(parts.into_iter().map(|(own, marks, edges)| {
            let name = |number: usize| if number < 2 { format!("P{number}") } else { format!("n{number}") };
            any_resource(&name(own), marks, &edges, &name)
        }))
    })
}

fn any_resource(own: &str, marks: u8, edges: &[(u8, usize)], name: &impl Fn(usize) -> String) -> Resource {
    let mut made = resource(own);
    made.delete = marks & 3 == 3;
    made.pending_replacement = marks & 28 == 28;
    made.id = (marks & 32 == 0).then(|| (marks >> 6).to_string().into());
    made.custom = made.id.is_none() || marks & 12 != 12;
    for (kind, target) in edges {
        let target = name(*target);
        match kind {
            0 => made.parent = Some(urn(&target)),
            1 => made.dependencies.push(urn(&target)),
            2 => made.property_dependencies.insert("k", Some(vec![urn(&target)])),
            3 => made.deleted_with = Some(urn(&target)),
            4 => made.replace_with.push(urn(&target)),
            _ => made.provider = Some(provider_ref(&format!("P{}", target.len() % 2), "1")),
        }
    }
    made
}

/// Whether the rules hold, read one by one.
fn slow_is_valid(snapshot: &Snapshot) -> bool {
    let before = |index: usize| snapshot.resources[..index].iter();
    snapshot.indexed().all(|(index, resource)| {
        let itself_and_before = || snapshot.resources[..=index].iter();
        let provider = resource.provider().is_none_or(|reference| {
            let known = itself_and_before().any(|other| {
                other.is_provider() && other.provider_ref().is_ok_and(|known| known == *reference)
            });
            known || resource.pending_replacement
        });
        let needs = resource.all_dependencies().all(|edge| before(index).any(|other| other.urn == *edge.urn));
        let copies = snapshot.locate(&resource.urn).filter(|(_, copy)| !copy.delete).count();
        let component = resource.custom || resource.id().is_none();
        provider && needs && copies < 2 && component
    })
}

proptest! {
    #[test]
    fn the_check_is_what_the_rules_say(snapshot in snapshots()) {
        let report = verify(&snapshot, &VerifyOptions::default());
        prop_assert_eq!(report.is_valid(), slow_is_valid(&snapshot), "{:?}", report);
        prop_assert_eq!(report.original_error().is_none(), report.is_valid());
        prop_assert_eq!(report.resources, snapshot.resources.len());
    }

    #[test]
    fn sorting_mends_order_and_leaves_order_alone(snapshot in snapshots()) {
        let before = verify(&snapshot, &VerifyOptions::default());
        let mut sorted = snapshot.clone();
        match sort(&mut sorted) {
            Err(_) => {
                prop_assert_eq!(&sorted, &snapshot);
                prop_assert!(before.of_rule(Rule::Cycle).count() > 0);
            }
            Ok(moved) => {
                prop_assert_eq!(before.of_rule(Rule::Cycle).count(), 0);
                prop_assert_eq!(moved.is_empty(), sorted == snapshot);
                if before.is_valid() {
                    prop_assert!(moved.is_empty());
                }
                let after = verify(&sorted, &VerifyOptions::default());
                let late = |rule: Rule| matches!(rule, Rule::ParentAfter | Rule::DependencyAfter
                    | Rule::PropertyDependencyAfter | Rule::DeletedWithAfter | Rule::ReplaceWithAfter);
                prop_assert!(after.findings.iter().all(|finding| !late(finding.rule)), "{:?}", after);
                let again = sort(&mut sorted.clone());
                prop_assert_eq!(again, Ok(Vec::new()), "{} became {}", sketch(&snapshot), sketch(&sorted));
            }
        }
    }
}

#[test]
fn all_kinds_of_edges_are_tried() {
    let made = any_resource("n3", 0, &[(0, 2), (1, 2), (2, 2), (3, 2), (4, 2), (5, 2)], &|n| format!("n{n}"));
    let kinds: Vec<DependencyKind<'_>> = made.all_dependencies().map(|edge| edge.kind).collect();
    assert_eq!(kinds.len(), 5);
    assert!(made.provider().is_some());
}

#[test]
fn threads_find_the_same_in_the_same_order() {
    let mut state = 9_u64;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 16).unwrap() % limit
    };
    // One provider comes first, the other late; some names are taken twice, and some are those of nothing.
    let name = |number: usize| match number {
        0 => "P0".to_owned(),
        2500 => "P1".to_owned(),
        _ => format!("n{number}"),
    };
    let values = ["{\"a\":1e999}", "{\"4dabf18193072939515e22adb298388d\":\"foobar\"}", "{}"];
    let resources = (0..3000).map(|index| {
        let edges: Vec<_> =
            (0..below(3)).map(|_| (u8::try_from(below(6)).unwrap(), below(index + 100))).collect();
        let own = if index > 0 && below(20) == 0 { below(3000) } else { index };
        let marks = if index % 2500 == 0 { 64 } else { u8::try_from(below(256)).unwrap() };
        let mut made = any_resource(&name(own), marks, &edges, &name);
        if below(5) == 0 {
            made.inputs = Properties::Raw(RawJson::parse_as_written(values[below(3)]).unwrap());
        }
        made
    });
    let snapshot = Snapshot::new(resources);
    for loading in [false, true] {
        let options = VerifyOptions::default().loading(loading);
        let alone = verify(&snapshot, &options);
        for rule in [Rule::UnknownProvider, Rule::DependencyAfter, Rule::DependencyMissing, Rule::Duplicate] {
            assert!(alone.of_rule(rule).count() > 10, "{rule}");
        }
        assert_eq!(alone.of_rule(Rule::NumberRange).count() > 100, loading);
        for threads in [2, 3, 16] {
            assert_eq!(verify(&snapshot, &options.clone().threads(threads)), alone, "{threads} threads");
        }
    }
}
