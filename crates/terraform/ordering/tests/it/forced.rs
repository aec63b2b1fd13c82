//! Create before destroy that is passed on, and mixtures.

use groundstate_ordering::{BuildError, Profile, ReplaceOrder};

use crate::case::{Case, addr};

#[test]
fn create_before_destroy_is_forced_along_a_chain() {
    Case::new("A B:{A} !C:{B}", "", "A=R B=R C=R").total("A < B < C < -C < -B < -A").holds();
}

#[test]
fn create_before_destroy_is_forced_along_a_long_chain() {
    let mut config = String::from("n0 ");
    for n in 1..100 {
        config.push_str(&format!("n{n}:{{n{}}} ", n - 1));
    }
    config.push_str("!n99");
    let actions: String = (0..100).map(|n| format!("n{n}=R ")).collect();
    let up = (0..100).map(|n| format!("n{n}"));
    let down = (0..100).rev().map(|n| format!("-n{n}"));
    let chain = up.chain(down).collect::<Vec<_>>().join(" < ");
    let graph = Case::new(&config, "", &actions).total(&chain).holds();
    assert_eq!(graph.waves().unwrap().count, 200);
}

#[test]
fn create_before_destroy_is_not_forced_on_dependents() {
    let graph = Case::new("!A B:{A}", "", "A=R B=RD").total("-B < A < B < -A").holds();
    assert!(!graph.persist(&addr("B")).unwrap().create_before_destroy);
}

#[test]
fn create_before_destroy_is_forced_through_a_diamond() {
    Case::new("A B:{A} C:{A} !D:{B,C}", "", "A=R B=R C=R D=R")
        .precede("A < {B,C} < D < -D < {-B,-C} < -A")
        .concurrent("B|C, -B|-C")
        .holds();
}

#[test]
fn one_side_of_a_diamond_forces_the_root() {
    let graph = Case::new("A !B:{A} C:{A} D:{B,C}", "", "A=R B=R C=R D=R")
        .precede("-D < -C < A < {B,C} < D < -B < -A")
        .concurrent("B|C")
        .holds();
    let orders: Vec<ReplaceOrder> = graph.orders().values().copied().collect();
    use ReplaceOrder::{CreateThenDelete as Ctd, DeleteThenCreate as Dtc};
    assert_eq!(orders, [Ctd, Ctd, Dtc, Dtc]);
}

#[test]
fn depends_on_a_module_forces_what_is_in_it() {
    Case::new("!R:{module m} m.A", "", "R=R m.A=R").total("m.A < R < -R < -m.A").holds();
}

#[test]
fn a_data_source_passes_create_before_destroy_on() {
    Case::new("A %X:{A} !B:{%X}", "-%X", "A=R %X=Rd B=R").total("A < %X < B < -B < -A").holds();
}

#[test]
fn the_state_forces_create_before_destroy_on_a_removed_resource() {
    let case = Case::new("!Y:{Z} Z", "X Y~{X}", "X=D Z=C Y=R");
    case.clone().total("Z < Y < -Y < -X").holds();
    let classic = case.options(|options| options.profile = Profile::Classic);
    assert_eq!(members(&classic), [["X (destroy)", "Y", "Y (destroy deposed 00000001)"]]);
}

/// The members of the cycles.
fn members(case: &Case) -> Vec<Vec<String>> {
    let errors = case.build().expect_err("there is a cycle");
    let cycle = |error: &BuildError| match error {
        BuildError::Cycle(report) => {
            report.members.iter().map(|key| key.to_string().replace("t.", "")).collect()
        }
        other => panic!("{other}"),
    };
    errors.errors.iter().map(cycle).collect()
}

#[test]
fn a_removed_originator_still_forces() {
    Case::new("base", "dep~{base} dep~cbd", "base=R dep=D").total("base < -dep < -base").holds();
    let explicit = Case::new("base", "dep~{base} dep~cbd", "base=RD dep=D");
    let message = explicit.errors().join("\n");
    assert!(message.contains("base ← dep (recorded with dep, which is deleted)"), "{message}");
    let classic = explicit.options(|options| options.profile = Profile::Classic);
    assert_eq!(members(&classic), [["base", "base (destroy)", "dep (destroy)"]]);
}

#[test]
fn an_explicit_false_conflicts_with_what_is_forced() {
    let case = Case::new("A B:{A} !C:{B}", "", "A=RD B=R C=R");
    let errors = case.errors();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].contains("A ← B ← C (own flag)"), "{}", errors[0]);
}

#[test]
fn create_before_destroy_leaves_unrelated_resources_alone() {
    let graph = Case::new("A C", "", "A=R C=R")
        .precede("-A < A")
        .precede("-C < C")
        .concurrent("A|C, A|-C, -A|C, -A|-C")
        .holds();
    let order: Vec<String> = graph.order().unwrap().iter().map(|node| node.key.to_string()).collect();
    assert_eq!(order, ["t.A (destroy)", "t.A", "t.C (destroy)", "t.C"]);
}

#[test]
fn a_recorded_flag_is_not_sticky() {
    let graph = Case::new("A B:{A}", "A~cbd", "A=R B=U").total("-A < A < B").holds();
    assert!(!graph.persist(&addr("A")).unwrap().create_before_destroy);
}

#[test]
fn an_unchanged_dependent_forces_too() {
    for (action, chain) in [("A=R", "A < -A"), ("A=U", "A"), ("A=N", "")] {
        let case = Case::new("A !B:{A}", "", action);
        let graph = if chain.is_empty() { case.holds() } else { case.total(chain).holds() };
        assert!(graph.persist(&addr("A")).unwrap().create_before_destroy, "{action}");
    }
}

#[test]
fn create_before_destroy_in_the_middle_of_a_chain() {
    Case::new("A !B:{A} C:{B}", "", "A=R B=R C=R").total("-C < A < B < C < -B < -A").holds();
}

#[test]
fn create_before_destroy_at_the_head_of_a_chain() {
    Case::new("!A B:{A} C:{B}", "", "A=R B=R C=R").total("-C < -B < A < B < C < -A").holds();
}

#[test]
fn create_before_destroy_is_not_forced_on_siblings() {
    Case::new("A !B:{A} C:{A}", "", "A=R B=R C=R")
        .precede("-C < A < {B,C} < -A")
        .precede("B < -B < -A")
        .precede("-C < -B")
        .concurrent("B|C, C|-B")
        .holds();
}

#[test]
fn two_forced_dependencies_of_one_dependent() {
    Case::new("!A !B C:{A,B}", "", "A=R B=R C=U")
        .precede("{A,B} < C < {-A,-B}")
        .concurrent("A|B, -A|-B")
        .holds();
}

#[test]
fn a_new_dependent_forces_its_dependency() {
    Case::new("!A N:{A}", "", "A=R N=C").total("A < N < -A").holds();
}

#[test]
fn a_deleted_dependent_goes_before_the_new_object() {
    Case::new("!A", "B~{A}", "A=R B=D").total("-B < A < -A").holds();
}

#[test]
fn a_deleted_dependent_with_a_recorded_flag_goes_after_the_new_object() {
    Case::new("!A", "B~{A} B~cbd", "A=R B=D").total("A < -B < -A").holds();
}

#[test]
fn scaling_in_with_create_before_destroy() {
    for state in ["A[0] A[1]~cbd", "A[0] A[1]"] {
        Case::new("A !B:{A} !C:{B}", state, "A[1]=D B=R C=R").total("B < C < -C < -B < -A[1]").holds();
    }
}

#[test]
fn a_gap_in_a_chain_ends_what_is_forced() {
    let graph = Case::new("A B:{A} C:{B}", "", "A=R C=U").total("-A < A < C").holds();
    let reasons = |edge: &groundstate_ordering::Edge<'_>| edge.reasons.to_string();
    let own: Vec<String> = graph.dependencies(crate::case::node(&graph, "C")).iter().map(reasons).collect();
    assert_eq!(own, ["config", "stored-create, config-create"]);
}

#[test]
fn a_gap_with_conditions_does_not_end_what_is_forced() {
    Case::new("A B?:{A} C:{B}", "", "A=R C=U").total("-A < A < B < C").holds();
}

#[test]
fn a_check_alone_forces_nothing() {
    Case::new("!A B?:{A}", "", "A=R").precede("A < B").precede("A < -A").concurrent("B|-A").holds();
}

#[test]
fn an_explicit_create_then_delete_forces_its_dependency() {
    let graph = Case::new("A B:{A}", "", "A=R B=RC").total("A < B < -B < -A").holds();
    assert_eq!(graph.orders()[&addr("A")], ReplaceOrder::CreateThenDelete);
}
