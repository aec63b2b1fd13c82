//! Targets and excludes.

use groundstate_pulumi_ordering::{StackError, StackOptions};

use crate::notation::{assert_order, entries, short, steps, urn};
use crate::runner::{How, run};
use crate::{options, plan_with};

fn targets(names: &[&str], dependents: bool) -> StackOptions {
    options(|options| {
        options.targets = names.iter().map(|name| urn(name)).collect();
        options.target_dependents = dependents;
    })
}

fn excludes(names: &[&str], dependents: bool) -> StackOptions {
    options(|options| {
        options.excludes = names.iter().map(|name| urn(name)).collect();
        options.exclude_dependents = dependents;
    })
}

fn destroy(mut options: StackOptions) -> StackOptions {
    options.destroy = true;
    options
}

#[test]
fn a_target_is_destroyed_with_its_dependents() {
    let base = "prov; A; B(A)";
    let errors = plan_with(base, "", "", &destroy(targets(&["A"], false))).unwrap_err();
    assert_eq!(errors, [StackError::UntargetedDependent { urn: urn("B"), target: urn("A") }]);
    let graph = plan_with(base, "", "", &destroy(targets(&["A"], true))).unwrap();
    assert_order(&graph, &["Del(B) < Del(A)"]);
    assert_eq!(steps(&graph), ["Del(B)", "Del(A)"]);
    assert_eq!(run(&entries(base), &graph, &How::failing(&[])).show(), "prov");
}

#[test]
fn every_dependent_that_would_have_to_go_is_named() {
    let base = "prov; A; K component parent A; B(A); C(B); X";
    let errors = plan_with(base, "", "", &destroy(targets(&["A"], false))).unwrap_err();
    let named: Vec<_> = errors
        .iter()
        .map(|error| match error {
            StackError::UntargetedDependent { urn, target } => format!("{} on {}", urn.name(), target.name()),
            other => short(&other.to_string()),
        })
        .collect();
    assert_eq!(named, ["B on A", "C on B", "K on A"]);
    let errors = plan_with(base, "", "", &destroy(targets(&["A", "B"], false))).unwrap_err();
    assert_eq!(errors.len(), 2);
    let graph = plan_with(base, "", "", &destroy(targets(&["A"], true))).unwrap();
    assert_eq!(steps(&graph), ["Del(C)", "Del(B)", "Del(K)", "Del(A)"]);
}

#[test]
fn an_excluded_resource_keeps_what_it_needs() {
    let base = "prov; A; B(A); C";
    let graph = plan_with(base, "", "", &destroy(excludes(&["B"], false))).unwrap();
    assert_eq!(steps(&graph), ["Del(C)"]);
    assert_eq!(run(&entries(base), &graph, &How::failing(&[])).show(), "prov; A; B");
}

#[test]
fn what_is_excluded_as_a_dependent_keeps_what_it_needs() {
    let base = "prov; A; V; W(A, V); X";
    let graph = plan_with(base, "", "", &destroy(excludes(&["A"], true))).unwrap();
    assert_eq!(steps(&graph), ["Del(X)"]);
    let graph = plan_with(base, "", "", &destroy(excludes(&["A"], false))).unwrap();
    assert_eq!(steps(&graph), ["Del(X)", "Del(W)", "Del(V)"]);
}

#[test]
fn an_untargeted_creation_is_left_out() {
    let errors = plan_with("prov", "prov; A; B(A)", "", &targets(&["B"], false)).unwrap_err();
    assert_eq!(errors, [StackError::UntargetedCreate { urn: urn("B"), reference: urn("A") }]);
    assert!(errors[0].to_string().starts_with("untargeted create"));
    let graph = plan_with("prov", "prov; A; B(A)", "", &targets(&["A", "B"], false)).unwrap();
    assert_eq!(steps(&graph), ["C(A)", "C(B)"]);
    // With dependents, the target brings what refers to it, new or not.
    let graph = plan_with("prov", "prov; A; B(A); C", "", &targets(&["A"], true)).unwrap();
    assert_eq!(steps(&graph), ["C(A)", "C(B)"]);
    // Nothing needs it, so nothing is said.
    let graph = plan_with("prov; B", "prov; A; B", "B=U", &targets(&["B"], false)).unwrap();
    assert_eq!(steps(&graph), ["U(B)"]);
}

#[test]
fn what_is_not_selected_stays_as_it_was() {
    let base = "prov; A; B(A); C(B); Old(A) delete; P(A) pending";
    let graph = plan_with(base, "prov; A; B(A); C(B)", "A=U B=U C=R", &targets(&["B"], false)).unwrap();
    assert_eq!(steps(&graph), ["U(B)"]);
    let run = run(&entries(base), &graph, &How::failing(&[]));
    assert_eq!(run.show(), "prov; A; B; C; P pending; Old delete");
}

#[test]
fn unselected_entries_come_after_what_they_refer_to() {
    // Y is not selected and still refers to V, which the program has dropped or moved behind it.
    let base = "prov; V; Y(V); Z";
    let graph = plan_with(base, "prov; Y; Z", "Z=U", &targets(&["Z"], false)).unwrap();
    assert_eq!(run(&entries(base), &graph, &How::failing(&[])).show(), "prov; V; Y; Z");
    let graph = plan_with(base, "prov; Y; V; Z", "V=U", &targets(&["V"], false)).unwrap();
    assert_eq!(run(&entries(base), &graph, &How::failing(&[])).show(), "prov; V; Z; Y");
    // Something selected cannot be placed between the two.
    let errors = plan_with(base, "prov; Y; Z(Y); V", "V=U Z=U", &targets(&["V", "Z"], false)).unwrap_err();
    assert_eq!(errors, [StackError::UntargetedOrder { urn: urn("Z"), reference: urn("Y") }]);
}

#[test]
fn what_a_selected_replacement_drags_along_is_replaced_too() {
    let base = "prov; A; B(p:A)";
    let graph = plan_with(base, base, "A=RD B.p", &targets(&["A"], false)).unwrap();
    assert_eq!(steps(&graph), ["DR(B)", "DR(A)", "Rep(A)", "CR(A)", "Rep(B)", "CR(B)"]);
}

#[test]
fn a_dropped_target_with_a_kept_dependent_is_refused() {
    let base = "prov; A; B(A)";
    let errors = plan_with(base, "prov; B", "B=U", &targets(&["A"], false)).unwrap_err();
    assert_eq!(errors, [StackError::UntargetedDependent { urn: urn("B"), target: urn("A") }]);
    let graph = plan_with(base, "prov; B", "B=U", &targets(&["A", "B"], false)).unwrap();
    assert_order(&graph, &["U(B) < Del(A)"]);
}

#[test]
fn what_would_be_taken_along_is_refused_unless_it_is_selected() {
    let base = "prov; T; D(dw T)";
    let error = [StackError::UntargetedDependent { urn: urn("D"), target: urn("T") }];
    // Deleted at the end, or first: the object of D would go with it, and the list would still have it.
    assert_eq!(plan_with(base, base, "T=R", &targets(&["T"], false)).unwrap_err(), error);
    assert_eq!(plan_with(base, "prov; D; T", "T=RD", &targets(&["T"], false)).unwrap_err(), error);
    assert!(plan_with(base, base, "T=U", &targets(&["T"], false)).is_ok());
    assert!(plan_with(base, base, "T=R", &targets(&["T", "D"], false)).is_ok());
    assert!(plan_with("prov; T retain; D(dw T)", base, "T=R", &targets(&["T"], false)).is_ok(), "T stays");
}

#[test]
fn excluded_goals_are_not_changed() {
    let base = "prov; A; B(A); C";
    let graph = plan_with(base, base, "A=U B=U C=U", &excludes(&["B"], false)).unwrap();
    assert_eq!(steps(&graph), ["U(C)"], "what B needs stays too");
    let graph = plan_with("prov; A", "prov; A; N(A); M", "A=U", &excludes(&["A"], true)).unwrap();
    assert_eq!(steps(&graph), ["C(M)"], "a new dependent is excluded too");
}

#[test]
fn selections_that_make_no_sense_are_refused() {
    let both = options(|options| {
        options.targets = [urn("A")].into();
        options.excludes = [urn("A")].into();
    });
    assert_eq!(plan_with("A", "A", "", &both).unwrap_err(), [StackError::TargetsAndExcludes]);
    for options in [targets(&["Missing"], false), excludes(&["Missing"], true)] {
        let unknown = StackError::UnknownTarget { urn: urn("Missing") };
        assert_eq!(plan_with("A", "A", "", &options).unwrap_err(), [unknown]);
    }
    let errors = plan_with("A", "A", "", &destroy(options(|_| ()))).unwrap_err();
    assert_eq!(errors, [StackError::GoalWhileDestroying { urn: urn("A") }]);
}

#[test]
fn what_refers_to_an_old_entry_alone_keeps_it() {
    let mut options = targets(&["r0"], false);
    options.continue_on_error = true;
    let errors = plan_with("r0 delete; r1 parent r0", "r1; r0(r1)", "r0=RD", &options).unwrap_err();
    assert_eq!(errors, [StackError::UntargetedDependent { urn: urn("r1"), target: urn("r0") }]);
}

#[test]
fn an_old_entry_that_stays_keeps_what_it_refers_to_when_the_new_one_fails() {
    let mut options = targets(&["r0"], false);
    options.continue_on_error = true;
    // The goal is refused: r1 is not there and not selected.
    let base = "r0 delete; r1(r0) delete";
    let graph = plan_with(base, "r1; r0(r1)", "", &options).unwrap();
    assert_eq!(run(&entries(base), &graph, &How::failing(&[])).show(), "r0 delete; r1 delete");
    // The goal fails while it runs, and when it does not, the old entry can go.
    let graph = plan_with(base, "r0", "", &options).unwrap();
    assert_eq!(run(&entries(base), &graph, &How::failing(&["C(r0)"])).show(), "r0 delete; r1 delete");
    assert_eq!(run(&entries(base), &graph, &How::failing(&[])).show(), "r0; r1 delete");
}
