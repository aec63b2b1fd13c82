//! What is wrong with inputs, and cycles.

use groundstate_ordering::{BuildError, CycleReport, EdgeReason, NodeKey, Profile, Warning};

use crate::case::{Case, addr};

fn reports(case: &Case) -> Vec<CycleReport<NodeKey>> {
    let errors = case.build().expect_err("there is a cycle").errors;
    let report = |error| match error {
        BuildError::Cycle(report) => report,
        other => panic!("{other}"),
    };
    errors.into_iter().map(report).collect()
}

#[test]
fn a_single_deletion_is_valid() {
    let graph = Case::new("A", "", "A=D").total("-A").holds();
    assert_eq!(graph.edges().count(), 0);
}

#[test]
fn a_recorded_self_dependency_is_ignored() {
    let case = Case::new("A", "A~{A}", "A=D");
    let graph = case.clone().total("-A").holds();
    assert_eq!(graph.warnings(), [Warning::SelfStateDependency { addr: addr("A"), deposed: None }]);
    let classic = case.options(|options| options.profile = Profile::Classic);
    assert_eq!(classic.errors(), ["Self reference: A (destroy)"]);
}

#[test]
fn a_cycle_of_the_configuration_is_refused() {
    let errors = Case::new("A:{B} B:{A}", "", "").errors();
    assert_eq!(errors, ["Cycle: A, B\n  A waits for B (config)\n  B waits for A (config)"]);
}

#[test]
fn a_cycle_through_a_provider_is_refused() {
    let errors = Case::new("A@P", "", "").providers("P:{A}").errors();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].starts_with("Cycle: provider[\"registry.terraform.io/acme/p\"], A\n"), "{}", errors[0]);
}

#[test]
fn a_reversed_dependency_is_told_as_a_stale_state() {
    let case = Case::new("A B:{A}", "A~{B} B~{}", "A=R B=R");
    let reports = reports(&case);
    assert_eq!(reports.len(), 1);
    let text = reports[0].to_string().replace("t.", "");
    assert!(text.starts_with("Cycle: A (destroy), B (destroy)\n"), "{text}");
    assert!(text.ends_with("refresh, or edit the dependencies in the state"), "{text}");
    // Only what a state records can be edited there; the other edge is what the configuration says.
    assert_eq!(reports[0].cut.len(), 1);
    assert_eq!((reports[0].smallest_cut.len(), reports[0].cut_is_smallest), (1, true));
    case.options(|options| options.recorded_only = true).total("-A < -B < A < B").holds();
}

#[test]
fn a_cycle_of_the_state_is_refused() {
    let reports = reports(&Case::new("", "A~{B} B~{A}", "A=D B=D"));
    let [report] = reports.as_slice() else { panic!("{reports:?}") };
    assert_eq!(report.members.len(), 2);
    for step in &report.path {
        assert_eq!(step.reasons, EdgeReason::StoredDestroy.into());
    }
    assert!(!report.state_is_stale, "there is no configuration to say otherwise");
}

#[test]
fn cycles_of_two_components_are_both_named() {
    let reports = reports(&Case::new("", "A~{B} B~{A} X~{Y} Y~{X}", "A=D B=D X=D Y=D"));
    let first: Vec<String> = reports.iter().map(|report| report.members[0].to_string()).collect();
    assert_eq!(first, ["t.A (destroy)", "t.X (destroy)"]);
}

#[test]
fn an_update_of_a_deposed_object_is_refused() {
    let errors = Case::new("A", "A A#k", "A#k=U").errors();
    assert_eq!(
        errors,
        ["update is planned for A (deposed 0000015b), but a deposed object can only be deleted or forgotten"]
    );
}

#[test]
fn create_then_delete_needs_a_current_object() {
    assert_eq!(
        Case::new("A", "-A", "A=RC").errors(),
        ["create-then-delete is planned for A, which has no current object"]
    );
}

#[test]
fn duplicate_operations_are_refused() {
    let errors = Case::new("A", "A A#k", "A=U A=U A#k=D A#k=D").errors();
    assert_eq!(
        errors,
        [
            "two changes are planned for A, keep one",
            "two changes are planned for A (deposed 0000015b), keep one"
        ]
    );
}

#[test]
fn all_errors_are_reported_at_once() {
    let case = Case::new("A B D", "A A#k -B D D#k", "A#k=U B=RC D=U D=U D#k=D D#k=D");
    assert_eq!(case.build().expect_err("four things are wrong").errors.len(), 4);
}

#[test]
fn each_other_input_error_is_found_and_named() {
    for (config, state, actions, message) in [
        (
            "A",
            "A",
            "A#k=D",
            "a change is planned for A (deposed 0000015b), but the instance has no such object",
        ),
        ("A", "-A", "A=U", "update is planned for A, which has no current object"),
        ("A", "-A", "A=D", "delete is planned for A, which has no current object"),
        ("A", "-A", "A=F", "forget is planned for A, which has no current object"),
        ("A", "-A", "A=FC", "forget-then-create is planned for A, which has no current object"),
        ("A", "-A", "A=R", "replace is planned for A, which has no current object"),
        ("%A", "", "%A=U", "update is planned for data.A, but a data resource cannot do that"),
        ("A", "", "A=Rd", "read is planned for A, but only a data resource can do that"),
        (
            "",
            "A",
            "A=U",
            "A is to exist after the run, but its resource is not declared: plan to delete or to forget it",
        ),
        (
            "",
            "A",
            "",
            "A is to exist after the run, but its resource is not declared: plan to delete or to forget it",
        ),
    ] {
        let found = Case::new(config, state, actions).errors();
        assert_eq!(found, [message]);
    }
}

#[test]
fn an_existing_object_is_not_created() {
    let mut case = Case::new("A", "A", "");
    case.input
        .changes
        .push(groundstate_ordering::PlannedChange::current(addr("A"), groundstate_ordering::Action::Create));
    assert!(matches!(case.build().expect_err("it exists").errors[..], [BuildError::AlreadyExists { .. }]));
}

#[test]
fn entries_that_are_there_twice_are_found() {
    let mut case = Case::new("A", "", "");
    case.input.instances.push(case.input.instances[0].clone());
    case.input.resources.push(case.input.resources[0].clone());
    let errors = case.build().expect_err("both are there twice").errors;
    assert!(matches!(
        errors[..],
        [BuildError::DuplicateInstance { .. }, BuildError::DuplicateResource { .. }]
    ));
}

#[test]
fn odd_references_are_warned_about() {
    let graph = Case::new("A:{A,Q,S}", "S", "S=D").holds();
    let texts: Vec<String> =
        graph.warnings().iter().map(|warning| warning.to_string().replace("t.", "")).collect();
    assert_eq!(
        texts,
        [
            "A refers to itself; the reference is left out",
            "A depends on Q, which is not declared and has no instances"
        ]
    );
}

#[test]
fn a_ring_of_many_is_reported_in_few_lines() {
    let state: String = (0..300).map(|n| format!("n{n:03}~{{n{:03}}} ", (n + 1) % 300)).collect();
    let actions: String = (0..300).map(|n| format!("n{n:03}=D ")).collect();
    let reports = reports(&Case::new("", &state, &actions));
    assert_eq!((reports[0].members.len(), reports[0].path.len()), (300, 300));
    let text = reports[0].to_string();
    assert!(text.contains(", … and 250 more\n"), "{text}");
    assert_eq!(text.lines().count(), 1 + 50 + 1 + 2, "{text}");
}
