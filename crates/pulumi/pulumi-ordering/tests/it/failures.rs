//! Failures, refusals, and lists that stay valid.

use groundstate_pulumi_ordering::{Program, StackError, StackOptions, StackPlanner};

use crate::notation::{Script, entries, goals, steps, urn};
use crate::runner::{How, run};
use crate::{options, plan, plan_with};

fn continuing() -> StackOptions {
    options(|options| options.continue_on_error = true)
}

#[test]
fn a_failed_provider_fails_only_its_resources() {
    let wanted = "Q; A{Q}; B";
    let graph = plan_with("", wanted, "", &continuing()).unwrap();
    let ended = run(&[], &graph, &How::failing(&["C(Q)"]));
    assert_eq!(ended.ran, ["C(Q)", "C(B)"]);
    assert_eq!(ended.show(), "B");
    let graph = plan("", wanted, "");
    assert_eq!(run(&[], &graph, &How::failing(&["C(Q)"])).ran, ["C(Q)"], "otherwise nothing starts any more");
}

#[test]
fn entries_whose_goal_failed_stay_with_all_they_refer_to() {
    // B does not refer to A any more, but the update that says so fails.
    let base = "prov; A; B(A); X";
    let graph = plan_with(base, "prov; B", "B=U", &continuing()).unwrap();
    let ended = run(&entries(base), &graph, &How::failing(&["U(B)"]));
    assert_eq!(ended.show(), "prov; A; B");
    assert_eq!(ended.deleted, ["X-1"], "the rest goes");
    let ended = run(&entries(base), &graph, &How { partial: true, ..How::failing(&["U(B)"]) });
    assert_eq!(ended.show(), "prov; B; A", "the partial state refers to nothing");
    assert_eq!(run(&entries(base), &graph, &How::failing(&[])).show(), "prov; B");
}

#[test]
fn the_old_object_stays_if_there_is_no_new_one() {
    let graph = plan_with("prov; A; X", "prov; A", "A=R", &continuing()).unwrap();
    let ended = run(&entries("prov; A; X"), &graph, &How::failing(&["CR(A)"]));
    assert_eq!((ended.show().as_str(), ended.deleted), ("prov; A", vec!["X-1".to_owned()]));
    let how = How { partial: true, ..How::failing(&["CR(A)"]) };
    let ended = run(&entries("prov; A"), &graph_of_a(), &how);
    assert_eq!(ended.show(), "prov; A; A delete", "both are recorded");
    assert!(ended.lost().is_empty());
}

fn graph_of_a() -> groundstate_pulumi_ordering::StackGraph {
    plan("prov; A", "prov; A", "A=R")
}

#[test]
fn a_failed_deletion_keeps_what_the_entry_needs_also_through_others() {
    // C goes and needs B, which stays and has dropped A. If C stays, A does too.
    let base = "prov; A; B(A); C(B)";
    let graph = plan_with(base, "prov; B", "B=U", &continuing()).unwrap();
    let ended = run(&entries(base), &graph, &How::failing(&["Del(C)"]));
    assert_eq!(ended.ran, ["S(prov)", "U(B)", "Del(C)"]);
    assert_eq!(ended.show(), "prov; B; A; C");
}

#[test]
fn members_that_were_not_deleted_are_not_removed_as_if_they_were() {
    let base = "prov; A; B(p:A)";
    let graph = plan_with(base, "prov; A", "A=RD B.p", &continuing()).unwrap();
    let ended = run(&entries(base), &graph, &How::failing(&["DR(B)"]));
    assert_eq!(ended.show(), "prov; A; B");
    assert!(ended.lost().is_empty());
}

#[test]
fn refused_goals_end_the_run_or_only_what_needs_them() {
    let (base, wanted) = ("prov; A protect; B(A); X; Y", "prov; A protect; B(A); X");
    let error = StackError::ProtectedReplace { urn: urn("A") };
    assert_eq!(
        plan_with(base, wanted, "A=R B=U X=U", &options(|_| ())).unwrap_err(),
        std::slice::from_ref(&error)
    );
    let graph = plan_with(base, wanted, "A=R B=U X=U", &continuing()).unwrap();
    assert_eq!(graph.refused(), [error]);
    let ended = run(&entries(base), &graph, &How::failing(&[]));
    assert_eq!(ended.ran, ["S(prov)", "U(X)", "Del(Y)"]);
    assert_eq!(ended.show(), "prov; X; A; B");
}

#[test]
fn all_errors_are_reported_at_once() {
    let base = "prov; A protect; B; C protect";
    let wanted = "prov; A protect; B(Missing); C protect; C protect";
    let errors = plan_with(base, wanted, "A=R C=RD", &options(|_| ())).unwrap_err();
    assert_eq!(
        errors,
        [
            StackError::DuplicateGoal { urn: urn("C") },
            StackError::UnknownReference { urn: urn("B"), reference: urn("Missing") },
            StackError::ProtectedReplace { urn: urn("A") },
            StackError::ProtectedReplace { urn: urn("C") },
        ]
    );
}

#[test]
fn a_program_that_fails_proves_nothing_about_the_rest() {
    let base = entries("prov; A; B(p:A); X");
    let plan = |options: &StackOptions, program| {
        let mut planner = StackPlanner::new(&base, options).unwrap();
        let mut script = Script::parse("A=RD B.p");
        for goal in goals("prov; A") {
            planner.register(goal, &mut script).unwrap();
        }
        steps(&planner.finish(program).unwrap())
    };
    let chain = ["DR(B)", "DR(A)", "Rep(A)", "CR(A)"];
    assert_eq!(plan(&options(|_| ()), Program::Failed), chain);
    let all = [&chain[..], &["Del(X)", "RP(B)"]].concat();
    assert_eq!(plan(&options(|_| ()), Program::Finished), all);
    assert_eq!(plan(&continuing(), Program::Failed), all);
}

#[test]
fn the_planner_tells_the_steps_of_each_goal_at_once() {
    let base = entries("prov; A; B(p:A)");
    let mut planner = StackPlanner::new(&base, &options(|_| ())).unwrap();
    let mut script = Script::parse("A=RD B.p");
    let counts: Vec<usize> = goals("prov; A; B(p:A)")
        .into_iter()
        .map(|goal| planner.register(goal, &mut script).unwrap().len())
        .collect();
    assert_eq!(counts, [1, 4, 2]);
    assert_eq!(planner.steps().len(), 7);
}

/// Every situation of this file and its neighbours, with every single step failing, one at a time, in both ways,
/// going on or not, and with a crash after every step. The runner verifies the list after every step.
#[test]
fn every_step_leaves_a_valid_list() {
    for (base, wanted, script) in [
        ("prov; A; B(p:A)", "prov; A; B(p:A)", "A=R B=U"),
        ("prov; A; B(p:A)", "prov; A; B(p:A)", "A=RD B=U B.p"),
        ("prov; A; B(p:A)", "prov; A; B(p:A)", "A=RD B=U"),
        ("prov; A; B(p:A)", "prov; A", "A=RD B.p"),
        ("prov; A; B(p:A)", "prov; B; A", "A=RD B.p"),
        ("prov; T; D(dw T); D2(dw D)", "prov; T; D(dw T); D2(dw D)", "T=RD"),
        ("prov; T; D(dw T); D2(dw D)", "prov; T; D(dw T); D2(dw D)", "T=R"),
        ("prov; T; D(dw T); D2(dw D)", "prov", ""),
        ("prov; A retain", "prov", ""),
        ("prov; A; B(A); C(B); X", "", ""),
        ("prov; A; B(A) protect; C", "", ""),
        ("prov; A pending; B(A)", "prov; A", ""),
        ("prov; A pending; B(A) pending", "prov", ""),
        ("prov; A; B(rw A)", "prov; A; B(rw A)", "A=R"),
        ("Q; A{Q}; B(p:A){Q}", "Q; A{Q}; B(p:A){Q}", "Q=RD"),
        ("Q; A{Q}; B(p:A){Q}", "A; B(p:A)", "A=U B=R"),
        ("prov; A; A delete; A delete", "prov; A", "A=RD"),
        ("prov; K component; K1 parent K; Z(K)", "prov; K component", ""),
        ("prov; T; D(dw T); W(rw D)", "prov; T; D(dw T); W(rw D)", "T=R"),
        ("A; B{A}; C(p:A); D(q:A); E{C}; F(p:C); G(q:C); H(r:F)", "A; B; D; H", "A=RD B.p C.p F.p"),
        ("prov; A; B(A); C(B)", "prov; C; B; A", "A=R B=R C=U"),
    ] {
        let base = entries(base);
        for go_on in [false, true] {
            let options = options(|options| options.continue_on_error = go_on);
            let mut differ = Script::parse(script);
            let graph = groundstate_pulumi_ordering::plan_stack(&base, &goals(wanted), &mut differ, &options)
                .unwrap();
            let whole = run(&base, &graph, &How::failing(&[]));
            assert_eq!(whole.lost(), [""; 0], "{wanted} {script}");
            assert_eq!(whole.ghosts(), [""; 0], "{wanted} {script}");
            for step in &whole.ran {
                for partial in [false, true] {
                    let how = How { partial, ..How::failing(&[step]) };
                    let ended = run(&base, &graph, &how);
                    assert_eq!(ended.lost(), [""; 0], "{step} of {wanted} {script}");
                    assert_eq!(ended.ghosts(), [""; 0], "{step} of {wanted} {script}");
                }
            }
            for steps in 0..whole.ran.len() {
                let crashed = run(&base, &graph, &How { crash_after: Some(steps + 1), ..How::failing(&[]) });
                assert_eq!(crashed.lost(), [""; 0], "{:?}", crashed.ran);
                // The next run comes to the same end.
                let left = crashed.entries();
                let again = groundstate_pulumi_ordering::plan_stack(
                    &left,
                    &goals(wanted),
                    &mut Script::parse(""),
                    &StackOptions::default(),
                )
                .unwrap();
                let end = run(&left, &again, &How::failing(&[]));
                let sorted = |text: String| {
                    let mut names: Vec<String> = text.split("; ").map(str::to_owned).collect();
                    names.sort();
                    names
                };
                assert_eq!(sorted(end.show()), sorted(whole.show()), "after {:?}", crashed.ran);
            }
        }
    }
}
