//! What each step leaves in the list when a journal records it, and what is pending while it runs.

use groundstate_pulumi_ordering::{StackGraph, StackOptions, StepId, plan_stack};
use groundstate_pulumi_snapshot::OperationType;

use crate::engine::{Ended, Engine};
use crate::notation::{Script, entries, find, goals, ids};
use crate::plan;
use crate::runner::show;

fn id(graph: &StackGraph, name: &str) -> StepId {
    let wanted = find(graph, name)[0];
    ids(graph).into_iter().find(|step| step.index() == wanted).unwrap()
}

fn made(id: &str) -> Ended {
    Ended::Succeeded(Some(id.to_owned()))
}

fn in_part() -> Ended {
    Ended::InPart("a".to_owned())
}

#[test]
fn each_kind_of_step_changes_the_list_as_its_outcome_says() {
    let done = || Ended::Succeeded(None);
    for (base, wanted, script, step, outcome, after) in [
        ("X", "X; A", "", "C(A)", made("a"), "A; X"),
        ("X", "X; A", "", "C(A)", Ended::Failed, "X"),
        ("X", "X; A", "", "C(A)", in_part(), "A; X"),
        ("X; A", "X; A", "A=R", "CR(A)", made("a"), "A; X; A delete"),
        ("X; A", "X; A", "A=R", "CR(A)", Ended::Failed, "X; A"),
        ("X; A pending", "X; A", "A=RD", "CR(A)", made("a"), "A; X"),
        ("X; A", "X; A", "", "S(A)", done(), "A; X"),
        ("X; A", "X; A", "A=U", "U(A)", made("a"), "A; X"),
        ("X; A", "X; A", "A=U", "U(A)", Ended::Failed, "X; A"),
        ("X; A", "X; A", "A=U", "U(A)", in_part(), "A; X"),
        ("X", "X; A external", "", "Rd(A)", made("a"), "A; X"),
        ("X; A external", "X; A external", "", "Rd(A)", Ended::Failed, "X; A"),
        ("X; A", "X; A external", "", "Rd(A)", made("a"), "A; X; A delete"),
        ("X; A", "X; A", "A=R", "Rep(A)", done(), "X; A"),
        ("X; A", "X; A", "A=RD", "DR(A)", done(), "X; A pending"),
        ("X; A", "X; A", "A=RD", "DR(A)", Ended::Failed, "X; A"),
        ("X; A", "X", "", "Del(A)", done(), "X"),
        ("X; A", "X", "", "Del(A)", Ended::Failed, "X; A"),
        ("X; A; D(dw A)", "X", "", "Del(A)", done(), "X"),
        ("X; A; A delete", "X; A", "", "DR(A)", done(), "X; A"),
        ("X; A pending", "X", "", "RP(A)", done(), "X"),
    ] {
        let graph = plan(base, wanted, script);
        let base_list = entries(base);
        let mut engine = Engine::new(&base_list, &graph);
        engine.begin(id(&graph, step));
        engine.end(id(&graph, step), &outcome);
        assert_eq!(show(&engine.list()), after, "{step} of {wanted:?} on {base:?}: {outcome:?}");
        assert!(engine.operations().is_empty(), "nothing is pending any more");
    }
}

#[test]
fn objects_that_were_made_in_part_say_what_is_wrong() {
    let graph = plan("", "A", "");
    let mut engine = Engine::new(&[], &graph);
    engine.begin(id(&graph, "C(A)"));
    engine.end(id(&graph, "C(A)"), &in_part());
    let list = engine.list();
    assert_eq!((list[0].id().map(|id| id.as_str()), &*list[0].init_errors[0]), (Some("a"), "not ready"));
}

#[test]
fn new_entries_are_as_the_goal_says_and_keep_the_id() {
    let graph = plan("prov; A", "prov; A protect", "A=U");
    let base = entries("prov; A");
    let mut engine = Engine::new(&base, &graph);
    engine.begin(id(&graph, "U(A)"));
    engine.end(id(&graph, "U(A)"), &Ended::Succeeded(None));
    let list = engine.list();
    assert_eq!((list[0].id().map(|id| id.as_str()), list[0].protect), (Some("A-1"), true));
}

#[test]
fn calls_are_pending_before_they_are_made() {
    let base = "X external; A; B; C(A)";
    let mut wanted = goals("X external; A; B; N; I");
    wanted[4].adopts = Some("there".into());
    let mut script = Script::parse("A=U B=RD");
    let graph = plan_stack(&entries(base), &wanted, &mut script, &StackOptions::default()).unwrap();
    for (step, kind, object) in [
        ("Rd(X)", Some(OperationType::Reading), Some("X-1")),
        ("U(A)", Some(OperationType::Updating), Some("A-1")),
        ("DR(B)", Some(OperationType::Deleting), Some("B-1")),
        ("Rep(B)", None, None),
        ("CR(B)", Some(OperationType::Creating), None),
        ("C(N)", Some(OperationType::Creating), None),
        ("C(I)", Some(OperationType::Importing), Some("there")),
        ("Del(C)", Some(OperationType::Deleting), Some("C-1")),
    ] {
        let base = entries(base);
        let mut engine = Engine::new(&base, &graph);
        engine.begin(id(&graph, step));
        let noted = engine.operations().pop();
        assert_eq!(noted.as_ref().map(|noted| noted.kind.clone()), kind, "{step}");
        let noted = noted.and_then(|noted| noted.resource.id().map(ToString::to_string));
        assert_eq!(noted.as_deref(), object, "{step}");
    }
}
