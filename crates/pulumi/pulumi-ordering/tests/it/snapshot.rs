//! 13.11: the list, and the notes of operations in it.

use groundstate_pulumi_ordering::{
    OperationKind, SnapshotError, SnapshotList, StackGraph, StepId, StepOutcome,
};

use crate::notation::{entries, find, goals, ids};
use crate::plan;
use crate::runner::show;

fn id(graph: &StackGraph, name: &str) -> StepId {
    let wanted = find(graph, name)[0];
    ids(graph).into_iter().find(|step| step.index() == wanted).unwrap()
}

fn made(id: &str) -> StepOutcome {
    StepOutcome::Succeeded { id: Some(id.to_owned()) }
}

fn done() -> StepOutcome {
    StepOutcome::Succeeded { id: None }
}

fn failed(partial: Option<&str>) -> StepOutcome {
    StepOutcome::Failed { partial: partial.map(str::to_owned), errors: vec!["not ready".to_owned()] }
}

/// The table of 13.11: the step, its outcome, and the list afterwards.
#[test]
fn every_row_of_the_table() {
    for (base, wanted, script, step, outcome, after) in [
        ("X", "X; A", "", "C(A)", made("a"), "A; X"),
        ("X", "X; A", "", "C(A)", failed(None), "X"),
        ("X", "X; A", "", "C(A)", failed(Some("a")), "A; X"),
        ("X; A", "X; A", "A=R", "CR(A)", made("a"), "A; X; A delete"),
        ("X; A", "X; A", "A=R", "CR(A)", failed(None), "X; A"),
        ("X; A", "X; A", "A=RD", "CR(A)", made("a"), "A; X"),
        ("X; A", "X; A", "", "S(A)", done(), "A; X"),
        ("X; A", "X; A", "A=U", "U(A)", made("a"), "A; X"),
        ("X; A", "X; A", "A=U", "U(A)", failed(None), "X; A"),
        ("X; A", "X; A", "A=U", "U(A)", failed(Some("a")), "A; X"),
        ("X", "X; A external", "", "Rd(A)", made("a"), "A; X"),
        ("X; A external", "X; A external", "", "Rd(A)", failed(None), "X; A"),
        ("X; A", "X; A", "A=R", "Rep(A)", done(), "X; A"),
        ("X; A", "X; A", "A=RD", "DR(A)", done(), "X; A pending"),
        ("X; A", "X; A", "A=RD", "DR(A)", failed(None), "X; A"),
        ("X; A", "X", "", "Del(A)", done(), "X"),
        ("X; A", "X", "", "Del(A)", failed(None), "X; A"),
        ("X; A; A delete", "X; A", "", "DR(A)", done(), "X; A"),
        ("X; A pending", "X", "", "RP(A)", done(), "X"),
    ] {
        let graph = plan(base, wanted, script);
        let mut list = SnapshotList::new(entries(base), Vec::new());
        list.begin(&graph, id(&graph, step));
        list.end(&graph, id(&graph, step), &outcome).unwrap();
        assert_eq!(show(list.entries()), after, "{step} of {wanted:?} on {base:?}: {outcome:?}");
        assert!(list.operations().is_empty(), "the note is removed");
    }
}

#[test]
fn objects_that_were_made_in_part_say_what_is_wrong() {
    let graph = plan("", "A", "");
    let mut list = SnapshotList::new(Vec::new(), Vec::new());
    list.end(&graph, id(&graph, "C(A)"), &failed(Some("a"))).unwrap();
    let entry = list.entries().next().unwrap();
    assert_eq!((entry.id.as_deref(), &entry.init_errors[..]), (Some("a"), &["not ready".to_owned()][..]));
}

#[test]
fn new_entries_are_as_the_goal_says_and_keep_the_id() {
    let graph = plan("prov; A", "prov; A protect", "A=U");
    let mut list = SnapshotList::new(entries("prov; A"), Vec::new());
    list.end(&graph, id(&graph, "U(A)"), &done()).unwrap();
    let entry = list.entries().next().unwrap();
    assert_eq!((entry.id.as_deref(), entry.protect), (Some("A-1"), true));
}

#[test]
fn calls_are_noted_before_they_are_made() {
    let base = "X external; A; B; C(A)";
    let mut wanted = goals("X external; A; B; N; I");
    wanted[4].adopts = Some("there".to_owned());
    let mut script = crate::notation::Script::parse("A=U B=RD");
    let options = groundstate_pulumi_ordering::StackOptions::default();
    let graph =
        groundstate_pulumi_ordering::plan_stack(&entries(base), &wanted, &mut script, &options).unwrap();
    for (step, kind, object) in [
        ("Rd(X)", Some(OperationKind::Reading), Some("X-1")),
        ("U(A)", Some(OperationKind::Updating), Some("A-1")),
        ("DR(B)", Some(OperationKind::Deleting), Some("B-1")),
        ("Rep(B)", None, None),
        ("CR(B)", Some(OperationKind::Creating), None),
        ("C(N)", Some(OperationKind::Creating), None),
        ("C(I)", Some(OperationKind::Importing), Some("there")),
        ("Del(C)", Some(OperationKind::Deleting), Some("C-1")),
    ] {
        let mut list = SnapshotList::new(entries(base), Vec::new());
        list.begin(&graph, id(&graph, step));
        let noted = list.operations().first().cloned();
        assert_eq!(noted.as_ref().map(|noted| noted.kind), kind, "{step}");
        assert_eq!(noted.and_then(|noted| noted.id).as_deref(), object, "{step}");
    }
}

#[test]
fn notes_of_a_crash_are_reported_and_those_of_creations_stay() {
    let (base, wanted) = ("A", "A; N");
    let graph = plan(base, wanted, "A=U");
    let mut list = SnapshotList::new(entries(base), Vec::new());
    list.begin(&graph, id(&graph, "U(A)"));
    list.begin(&graph, id(&graph, "C(N)"));
    // The process dies here. The next one reads what was written.
    let mut next = SnapshotList::new(list.entries().cloned().collect(), list.operations().to_vec());
    assert_eq!(next.operations().len(), 2);
    next.settle_operations();
    let left = next.operations().to_vec();
    assert_eq!((left.len(), left[0].kind), (1, OperationKind::Creating));
    // A creation of this run has a note of its own.
    next.begin(&graph, id(&graph, "C(N)"));
    next.end(&graph, id(&graph, "C(N)"), &made("n")).unwrap();
    assert_eq!(next.operations(), left);
    next.resolve_operation(&left[0]);
    assert!(next.operations().is_empty());
}

#[test]
fn an_object_without_an_id_is_an_error_and_stays_noted() {
    let graph = plan("", "A; K component", "");
    let mut list = SnapshotList::new(Vec::new(), Vec::new());
    list.begin(&graph, id(&graph, "C(A)"));
    let error = list.end(&graph, id(&graph, "C(A)"), &done()).unwrap_err();
    assert!(matches!(error, SnapshotError::NoId { .. }), "{error}");
    assert_eq!((list.entries().count(), list.operations().len()), (0, 1));
    list.end(&graph, id(&graph, "C(K)"), &done()).unwrap();
    assert_eq!(list.entries().count(), 1, "components have none");
}

#[test]
fn steps_of_another_list_are_refused() {
    let graph = plan("prov; A", "prov; A", "A=U");
    let mut list = SnapshotList::new(Vec::new(), Vec::new());
    let error = list.end(&graph, id(&graph, "U(A)"), &done()).unwrap_err();
    assert!(matches!(error, SnapshotError::UnknownStep { .. }));
}
