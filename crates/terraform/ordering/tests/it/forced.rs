//! Create before destroy that is passed on, and mixtures (T12 to T36).

use groundstate_ordering::{BuildError, Profile, ReplaceOrder};

use crate::case::{Case, addr};

#[test]
fn t12_forced_chain_3() {
    Case::new("A B:{A} !C:{B}", "", "A=R B=R C=R").total("A < B < C < -C < -B < -A").holds();
}

#[test]
fn t13_forced_chain_100() {
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
fn t14_not_passed_to_dependents() {
    let graph = Case::new("!A B:{A}", "", "A=R B=RD").total("-B < A < B < -A").holds();
    assert!(!graph.persist(&addr("B")).unwrap().create_before_destroy);
}

#[test]
fn t15_forced_diamond() {
    Case::new("A B:{A} C:{A} !D:{B,C}", "", "A=R B=R C=R D=R")
        .precede("A < {B,C} < D < -D < {-B,-C} < -A")
        .concurrent("B|C, -B|-C")
        .holds();
}

#[test]
fn t16_half_cbd_diamond() {
    let graph = Case::new("A !B:{A} C:{A} D:{B,C}", "", "A=R B=R C=R D=R")
        .precede("-D < -C < A < {B,C} < D < -B < -A")
        .concurrent("B|C")
        .holds();
    let orders: Vec<ReplaceOrder> = graph.orders().values().copied().collect();
    use ReplaceOrder::{CreateThenDelete as Ctd, DeleteThenCreate as Dtc};
    assert_eq!(orders, [Ctd, Ctd, Dtc, Dtc]);
}

#[test]
fn t17_module_depends_on() {
    Case::new("!R:{module m} m.A", "", "R=R m.A=R").total("m.A < R < -R < -m.A").holds();
}

#[test]
fn t18_through_data() {
    Case::new("A %X:{A} !B:{%X}", "-%X", "A=R %X=Rd B=R").total("A < %X < B < -B < -A").holds();
}

#[test]
fn t19_orphan_forced_by_state() {
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
fn t20_cbd_originator_removed() {
    Case::new("base", "dep~{base} dep~cbd", "base=R dep=D").total("base < -dep < -base").holds();
    let explicit = Case::new("base", "dep~{base} dep~cbd", "base=RD dep=D");
    let message = explicit.errors().join("\n");
    assert!(message.contains("base ← dep (recorded with dep, which is deleted)"), "{message}");
    let classic = explicit.options(|options| options.profile = Profile::Classic);
    assert_eq!(members(&classic), [["base", "base (destroy)", "dep (destroy)"]]);
}

#[test]
fn t21_conflict_transitive() {
    let case = Case::new("A B:{A} !C:{B}", "", "A=RD B=R C=R");
    let errors = case.errors();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].contains("A ← B ← C (own flag)"), "{}", errors[0]);
}

#[test]
fn t22_unrelated() {
    let graph = Case::new("A C", "", "A=R C=R")
        .precede("-A < A")
        .precede("-C < C")
        .concurrent("A|C, A|-C, -A|C, -A|-C")
        .holds();
    let order: Vec<String> = graph.order().unwrap().iter().map(|node| node.key.to_string()).collect();
    assert_eq!(order, ["t.A (destroy)", "t.A", "t.C (destroy)", "t.C"]);
}

#[test]
fn t23_flag_not_sticky() {
    let graph = Case::new("A B:{A}", "A~cbd", "A=R B=U").total("-A < A < B").holds();
    assert!(!graph.persist(&addr("A")).unwrap().create_before_destroy);
}

#[test]
fn t24_flag_from_noop_dependent() {
    for (action, chain) in [("A=R", "A < -A"), ("A=U", "A"), ("A=N", "")] {
        let case = Case::new("A !B:{A}", "", action);
        let graph = if chain.is_empty() { case.holds() } else { case.total(chain).holds() };
        assert!(graph.persist(&addr("A")).unwrap().create_before_destroy, "{action}");
    }
}

#[test]
fn t25_middle_cbd() {
    Case::new("A !B:{A} C:{B}", "", "A=R B=R C=R").total("-C < A < B < C < -B < -A").holds();
}

#[test]
fn t26_leader_cbd() {
    Case::new("!A B:{A} C:{B}", "", "A=R B=R C=R").total("-C < -B < A < B < C < -A").holds();
}

#[test]
fn t27_sibling_not_forced() {
    Case::new("A !B:{A} C:{A}", "", "A=R B=R C=R")
        .precede("-C < A < {B,C} < -A")
        .precede("B < -B < -A")
        .precede("-C < -B")
        .concurrent("B|C, C|-B")
        .holds();
}

#[test]
fn t28_two_cbd_one_dependent() {
    Case::new("!A !B C:{A,B}", "", "A=R B=R C=U")
        .precede("{A,B} < C < {-A,-B}")
        .concurrent("A|B, -A|-B")
        .holds();
}

#[test]
fn t29_new_dependent() {
    Case::new("!A N:{A}", "", "A=R N=C").total("A < N < -A").holds();
}

#[test]
fn t30_cbd_replace_and_dependent_deleted() {
    Case::new("!A", "B~{A}", "A=R B=D").total("-B < A < -A").holds();
}

#[test]
fn t31_same_but_dependent_recorded_cbd() {
    Case::new("!A", "B~{A} B~cbd", "A=R B=D").total("A < -B < -A").holds();
}

#[test]
fn t32_scale_in_cbd() {
    for state in ["A[0] A[1]~cbd", "A[0] A[1]"] {
        Case::new("A !B:{A} !C:{B}", state, "A[1]=D B=R C=R").total("B < C < -C < -B < -A[1]").holds();
    }
}

#[test]
fn t33_gap_in_the_middle() {
    let graph = Case::new("A B:{A} C:{B}", "", "A=R C=U").total("-A < A < C").holds();
    let reasons = |edge: &groundstate_ordering::Edge<'_>| edge.reasons.to_string();
    let own: Vec<String> = graph.dependencies(crate::case::node(&graph, "C")).iter().map(reasons).collect();
    assert_eq!(own, ["config", "stored-create, config-create"]);
}

#[test]
fn t34_gap_with_conditions() {
    Case::new("A B?:{A} C:{B}", "", "A=R C=U").total("-A < A < B < C").holds();
}

#[test]
fn t35_check_without_dependent_cbd() {
    Case::new("!A B?:{A}", "", "A=R").precede("A < B").precede("A < -A").concurrent("B|-A").holds();
}

#[test]
fn t36_explicit_ctd_forces_dependency() {
    let graph = Case::new("A B:{A}", "", "A=R B=RC").total("A < B < -B < -A").holds();
    assert_eq!(graph.orders()[&addr("A")], ReplaceOrder::CreateThenDelete);
}
