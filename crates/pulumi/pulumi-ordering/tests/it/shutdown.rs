//! Deletions at the end of an update.

use groundstate_pulumi_ordering::{DeletedWith, Deletes, StackError, StackOptions};

use crate::notation::{assert_order, entries, name, provider_deletes, steps, urn};
use crate::runner::{How, run};
use crate::{options, plan, plan_with};

const TREE: &str = "prov; A; B(A); C(B); X";

fn batches() -> StackOptions {
    options(|options| options.deletes = Deletes::Batches)
}

#[test]
fn retained_resources_are_only_removed_from_the_list() {
    let graph = plan("prov; A retain", "prov", "");
    assert_eq!(steps(&graph), ["Del(A)"]);
    assert!(provider_deletes(&graph).is_empty());
    let run = run(&entries("prov; A retain"), &graph, &How::failing(&[]));
    assert_eq!(run.show(), "prov");
    assert!(run.lost().is_empty());
}

#[test]
fn deletion_goes_in_reverse_order() {
    let graph = plan(TREE, "", "");
    assert_order(
        &graph,
        &[
            "Del(C) < Del(B) < Del(A) < Del(prov)",
            "Del(X) < Del(prov)",
            "Del(X) | Del(A)",
            "Del(X) | Del(B)",
            "Del(X) | Del(C)",
        ],
    );
    let run = run(&entries(TREE), &graph, &How::failing(&[]));
    assert_eq!(run.deleted, ["X-1", "C-1", "B-1", "A-1", "prov-1"]);
    assert_eq!(run.show(), "");

    let graph = plan_with(TREE, "", "", &batches()).unwrap();
    let names = |batch: &Vec<groundstate_pulumi_ordering::StepId>| {
        batch.iter().map(|step| name(&graph, step.index())).collect::<Vec<_>>()
    };
    let found: Vec<_> = graph.batches().unwrap().iter().map(names).collect();
    assert_eq!(found, [vec!["Del(C)"], vec!["Del(B)"], vec!["Del(X)", "Del(A)"], vec!["Del(prov)"]]);
    assert_order(&graph, &["Del(C) < Del(B) < Del(X) < Del(prov)", "Del(A) | Del(X)"]);
}

#[test]
fn a_failed_deletion_keeps_what_it_needs() {
    for (mode, untouched) in [(options(|_| ()), false), (batches(), true)] {
        let graph = plan_with(TREE, "", "", &mode).unwrap();
        let run = run(&entries(TREE), &graph, &How::failing(&["Del(B)"]));
        let ran = |name: &str| run.ran.iter().any(|step| step == name);
        assert!(!ran("Del(A)") && !ran("Del(prov)"), "{:?}", run.ran);
        // Here X goes first since it stands last; it waits for nothing. In batches it comes after B.
        assert_eq!(ran("Del(X)"), !untouched);
    }
}

#[test]
fn a_failed_deletion_lets_others_go_on() {
    for deletes in [Deletes::Precise, Deletes::Batches] {
        let mode = options(|options| {
            options.deletes = deletes;
            options.continue_on_error = true;
        });
        let graph = plan_with(TREE, "", "", &mode).unwrap();
        let run = run(&entries(TREE), &graph, &How::failing(&["Del(B)"]));
        assert_eq!(run.deleted, if deletes == Deletes::Precise { ["X-1", "C-1"] } else { ["C-1", "X-1"] });
        assert_eq!(run.show(), "prov; A; B");
    }
}

#[test]
fn a_protected_resource_refuses_the_destroy() {
    let base = "prov; A; B(A) protect; C";
    let graph = plan(base, "", "");
    assert_eq!(graph.refused(), [StackError::ProtectedDelete { urn: urn("B") }]);
    let ended = run(&entries(base), &graph, &How::failing(&[]));
    assert_eq!(ended.ran, ["Del(C)"], "a refusal stops nothing else");
    assert_eq!(ended.show(), "prov; A; B");
    assert_eq!(ended.report.failures().len(), 1);

    let two = "prov; A protect; B protect; C; D(C)";
    let graph = plan(two, "", "");
    assert_eq!(graph.refused().len(), 2, "one error for each");
    assert_eq!(run(&entries(two), &graph, &How::failing(&[])).ran, ["Del(D)", "Del(C)"]);
    let ignoring = options(|options| options.ignore_protect = true);
    let graph = plan_with(base, "", "", &ignoring).unwrap();
    assert_eq!(run(&entries(base), &graph, &How::failing(&[])).show(), "");
}

#[test]
fn a_pending_replacement_that_is_not_registered_is_removed() {
    let graph = plan("prov; A pending", "prov", "");
    assert_eq!(steps(&graph), ["RP(A)"]);
    assert!(provider_deletes(&graph).is_empty());
    let graph = plan("prov; A pending", "", "");
    assert_eq!(steps(&graph), ["RP(A)", "Del(prov)"]);
    assert_eq!(provider_deletes(&graph), ["prov"]);
}

#[test]
fn several_old_objects_are_deleted_in_order() {
    let base = "prov; A; A delete; A delete";
    let graph = plan(base, "prov; A", "");
    assert_eq!(steps(&graph), ["DR(A)", "DR(A)"]);
    let [first, second] = crate::notation::find(&graph, "DR(A)")[..] else { unreachable!() };
    assert!(!crate::notation::precedes(&graph, first, second));
    assert!(!crate::notation::precedes(&graph, second, first));
    let run = run(&entries(base), &graph, &How::failing(&[]));
    assert_eq!(run.deleted, ["A-3", "A-2"]);
    assert_eq!(run.show(), "prov; A");
}

#[test]
fn children_are_deleted_before_their_component() {
    let base = "prov; K component; K1 parent K; Z(K)";
    let graph = plan(base, "", "");
    assert_order(&graph, &["Del(Z) < Del(K1) < Del(K)"]);
    assert_eq!(run(&entries(base), &graph, &How::failing(&[])).deleted, ["Z-1", "K1-1", "prov-1"]);
    // Siblings do not wait for each other only because they have one parent.
    assert_order(&plan("prov; K component; K1 parent K; K2 parent K", "", ""), &["Del(K1) | Del(K2)"]);
}

#[test]
fn external_entries_leave_without_a_call() {
    let graph = plan("prov; A external; K component", "prov", "");
    assert_eq!(steps(&graph), ["Del(K)", "Del(A)"]);
    assert!(provider_deletes(&graph).is_empty());
}

#[test]
fn what_goes_with_another_goes_at_once_or_by_itself() {
    for (base, atomic, compat) in [
        // T goes, and takes D and D2 along.
        ("prov; T; D(dw T); D2(dw D)", &["T", "prov"][..], &["T", "prov"][..]),
        // T stays in the cloud, so D has to be deleted; the original loses it.
        ("prov; T retain; D(dw T)", &["D", "prov"], &["prov"]),
        ("prov; T external; D(dw T)", &["D", "prov"], &["prov"]),
        // A retained member stays, and what goes with it does not go by itself.
        ("prov; T; D(dw T) retain; D2(dw D)", &["D2", "T", "prov"], &["T", "prov"]),
        // X has to go between D and T, so D is deleted by itself.
        ("prov; T; X(T); D(X, dw T)", &["D", "X", "T", "prov"], &["X", "T", "prov"]),
        // Whatever depends on a member goes before the one that takes it along.
        ("prov; T; D(dw T); W(D)", &["W", "T", "prov"], &["W", "T", "prov"]),
    ] {
        for (mode, expected) in [(DeletedWith::Atomic, atomic), (DeletedWith::Compat, compat)] {
            let options = options(|options| options.deleted_with = mode);
            let graph = plan_with(base, "", "", &options).unwrap();
            assert_eq!(provider_deletes(&graph), expected, "{base} {mode:?}");
            let run = run(&entries(base), &graph, &How::failing(&[]));
            assert_eq!(run.show(), "", "{base} {mode:?}");
            if mode == DeletedWith::Atomic {
                assert_eq!(run.lost(), [""; 0], "{base}");
            }
        }
    }
}

#[test]
fn a_protected_member_keeps_the_one_that_would_take_it_along() {
    let base = "prov; T; D(dw T) protect";
    let graph = plan(base, "", "");
    let run = run(&entries(base), &graph, &How::failing(&[]));
    assert_eq!((run.show().as_str(), run.deleted.len()), ("prov; T; D", 0));
}

#[test]
fn members_stay_if_the_deletion_that_takes_them_along_fails() {
    let base = "prov; T; D(dw T)";
    let graph = plan(base, "", "");
    let atomic = run(&entries(base), &graph, &How::failing(&["Del(T)"]));
    assert_eq!(atomic.show(), "prov; T; D");
    assert!(atomic.lost().is_empty());
    // The original has removed D from its list by then.
    let compat = options(|options| options.deleted_with = DeletedWith::Compat);
    let graph = plan_with(base, "", "", &compat).unwrap();
    let compat = run(&entries(base), &graph, &How::failing(&["Del(T)"]));
    assert_eq!((compat.show().as_str(), compat.lost()), ("prov; T", vec!["D-1".to_owned()]));
}

#[test]
fn old_objects_go_with_old_targets_and_live_ones_with_live_ones() {
    let base = "prov; T; T delete; D(dw T); D(dw T) delete";
    let graph = plan(base, "prov; T; D(dw T)", "");
    assert_eq!(provider_deletes(&graph), ["T"], "the old D goes with the old T");
    let run = run(&entries(base), &graph, &How::failing(&[]));
    assert_eq!(run.show(), "prov; T; D");
    // With the live T alone gone, nothing takes the live D along that stays.
    let graph = plan("prov; T; D(dw T); D(dw T) delete", "prov; T; D(dw T)", "");
    assert_eq!(provider_deletes(&graph), ["D"], "T stays");
}
