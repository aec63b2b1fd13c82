//! Replacements: which come before which, and what they take along.

use groundstate_pulumi_ordering::{DeletedWith, StackError};

use crate::notation::{Script, assert_order, entries, find, goals, provider_deletes, short, steps, urn};
use crate::runner::{How, run};
use crate::{options, plan, plan_with};

const BASE: &str = "prov; A; B(p:A)";

#[test]
fn a_replacement_creates_first() {
    let graph = plan(BASE, BASE, "A=R B=U");
    assert_eq!(steps(&graph), ["CR(A)", "Rep(A)", "U(B)", "DR(A)"]);
    assert_order(&graph, &["CR(A) < U(B) < DR(A)", "CR(A) < Rep(A)", "Rep(A) | U(B)"]);
}

#[test]
fn delete_before_replace_takes_the_dependents_along() {
    let graph = plan(BASE, BASE, "A=RD B=U B.p");
    assert_eq!(steps(&graph), ["DR(B)", "DR(A)", "Rep(A)", "CR(A)", "Rep(B)", "CR(B)"]);
    assert_order(&graph, &["DR(B) < DR(A) < Rep(A) < CR(A)", "CR(A) < Rep(B) < CR(B)"]);
    assert!(graph.finals().is_empty());
    let run = run(&entries(BASE), &graph, &How::failing(&[]));
    assert_eq!(run.show(), "prov; A; B");
    assert_eq!(run.deleted, ["B-1", "A-1"]);
}

#[test]
fn unaffected_dependents_stay_under_delete_before_replace() {
    let graph = plan(BASE, BASE, "A=RD B=U");
    assert_eq!(steps(&graph), ["DR(A)", "Rep(A)", "CR(A)", "U(B)"]);
    assert_order(&graph, &["DR(A) < CR(A) < U(B)"]);
}

#[test]
fn the_option_decides_over_the_provider() {
    let first = plan(BASE, "prov; A cbd; B(p:A)", "A=RD B=U B.p");
    assert_eq!(steps(&first), steps(&plan(BASE, BASE, "A=R B=U")));
    let delete_first = plan(BASE, "prov; A dbr; B(p:A)", "A=R B=U B.p");
    assert_eq!(steps(&delete_first), steps(&plan(BASE, BASE, "A=RD B=U B.p")));
}

#[test]
fn a_protected_dependent_refuses_delete_before_replace() {
    let (base, wanted) = ("prov; A; B(p:A) protect", "prov; A; B(p:A) protect");
    let errors = plan_with(base, wanted, "A=RD B.p", &options(|_| ())).unwrap_err();
    assert_eq!(errors, [StackError::ProtectedDependent { urn: urn("A"), dependent: urn("B") }]);
    assert!(short(&errors[0].to_string()).starts_with("cannot replace A: dependent B is protected"));
    let ignoring = options(|options| options.ignore_protect = true);
    let graph = plan_with(base, wanted, "A=RD B.p", &ignoring).unwrap();
    assert_eq!(steps(&graph), ["DR(B)", "DR(A)", "Rep(A)", "CR(A)", "Rep(B)", "CR(B)"]);
}

#[test]
fn a_dropped_dependent_is_deleted_once() {
    let graph = plan(BASE, "prov; A", "A=RD B.p");
    assert_eq!(steps(&graph), ["DR(B)", "DR(A)", "Rep(A)", "CR(A)", "RP(B)"]);
    assert_order(&graph, &["DR(B) < DR(A) < CR(A) < RP(B)"]);
    assert_eq!(provider_deletes(&graph), ["B", "A"]);
    let run = run(&entries(BASE), &graph, &How::failing(&[]));
    assert_eq!(run.show(), "prov; A");
}

#[test]
fn deleted_with_is_followed_under_delete_before_replace() {
    let base = "prov; T; D(dw T); D2(dw D)";
    let graph = plan(base, base, "T=RD");
    assert_eq!(provider_deletes(&graph), ["T"]);
    assert_eq!(steps(&graph), ["DR(T)", "Rep(T)", "CR(T)", "Rep(D)", "CR(D)", "Rep(D2)", "CR(D2)"]);
    assert_order(&graph, &["CR(T) < CR(D) < CR(D2)"]);
    // One deletion, whose end marks all three.
    let half = run(&entries(base), &graph, &How { crash_after: Some(2), ..How::failing(&[]) });
    assert_eq!(half.ran, ["S(prov)", "DR(T)"]);
    assert_eq!(half.show(), "prov; T pending; D pending; D2 pending");
    assert_eq!(run(&entries(base), &graph, &How::failing(&[])).show(), "prov; T; D; D2");

    let compat = options(|options| options.deleted_with = DeletedWith::Compat);
    let graph = plan_with(base, base, "T=RD", &compat).unwrap();
    assert_order(&graph, &["DR(D2) < DR(D) < DR(T) < CR(T) < CR(D) < CR(D2)"]);
    assert_eq!(provider_deletes(&graph), ["T"]);
    assert_eq!(run(&entries(base), &graph, &How::failing(&[])).show(), "prov; T; D; D2");
}

#[test]
fn deleted_with_is_followed_in_a_replacement() {
    let base = "prov; T; D(dw T); D2(dw D)";
    for mode in [DeletedWith::Atomic, DeletedWith::Compat] {
        let options = options(|options| options.deleted_with = mode);
        let graph = plan_with(base, base, "T=R", &options).unwrap();
        assert_order(&graph, &["CR(T) < CR(D) < CR(D2) < DR(T)"]);
        assert_eq!(provider_deletes(&graph), ["T"], "{mode:?}");
        let run = run(&entries(base), &graph, &How::failing(&[]));
        assert_eq!(run.show(), "prov; T; D; D2", "{mode:?}");
        assert!(run.lost().is_empty());
    }
}

#[test]
fn a_pending_replacement_is_resumed() {
    let mut script = Script::parse("");
    let base = entries("prov; A pending");
    let graph =
        groundstate_pulumi_ordering::plan_stack(&base, &goals("prov; A"), &mut script, &options(|_| ()));
    let graph = graph.unwrap();
    assert_eq!(steps(&graph), ["Rep(A)", "CR(A)"]);
    assert_eq!(script.asked, ["prov"], "there is nothing to compare with");
    assert_eq!(run(&base, &graph, &How::failing(&[])).show(), "prov; A");
}

#[test]
fn replace_with_replaces_both() {
    let base = "prov; A; B(rw A)";
    let graph = plan(base, base, "A=R");
    assert_order(&graph, &["CR(A) < CR(B)", "DR(B) < DR(A)", "CR(B) < DR(A)"]);
    let run = run(&entries(base), &graph, &How::failing(&[]));
    assert_eq!((run.show().as_str(), run.deleted), ("prov; A; B", vec!["B-1".to_owned(), "A-1".to_owned()]));
}

#[test]
fn dependents_that_are_registered_first_stay() {
    let graph = plan(BASE, "prov; B; A", "A=RD B.p");
    assert_eq!(steps(&graph), ["DR(A)", "Rep(A)", "CR(A)"]);
    assert_order(&graph, &["DR(A) < CR(A)"]);
}

#[test]
fn a_replaced_provider_outlives_its_resources() {
    let base = "Q; A{Q}; B(p:A){Q}";
    let graph = plan(base, base, "Q=RD");
    assert_order(&graph, &["DR(B) < DR(A) < DR(Q) < CR(Q) < CR(A) < CR(B)"]);
    assert_eq!(run(&entries(base), &graph, &How::failing(&[])).show(), "Q; A; B");
}

#[test]
fn replace_with_and_deleted_with_go_together() {
    let base = "prov; T; D(dw T); W(rw D)";
    let graph = plan(base, base, "T=R");
    assert_order(&graph, &["CR(T) < CR(D) < CR(W)", "DR(W) < DR(T)"]);
    assert_eq!(provider_deletes(&graph), ["W", "T"]);
    let run = run(&entries(base), &graph, &How::failing(&[]));
    assert_eq!(run.show(), "prov; T; D; W");
    assert!(run.lost().is_empty() && run.ghosts().is_empty());
}

#[test]
fn a_pending_replacement_that_is_unneeded_ends() {
    let graph = plan("prov; A pending", "prov; A", "A=R");
    assert!(!find(&graph, "CR(A)").is_empty());
    assert!(find(&graph, "DR(A)").is_empty() && find(&graph, "Del(A)").is_empty());
    assert_eq!(run(&entries("prov; A pending"), &graph, &How::failing(&[])).show(), "prov; A");
}

#[test]
fn a_crash_after_a_deletion_can_be_resumed() {
    let graph = plan(BASE, BASE, "A=RD B=U B.p");
    let crashed = run(&entries(BASE), &graph, &How { crash_after: Some(2), ..How::failing(&[]) });
    assert_eq!(crashed.ran, ["S(prov)", "DR(B)"]);
    assert_eq!(crashed.show(), "prov; A; B pending");
    // The next run finds nothing to do for A, or replaces it after all; B is made again in any case, and not deleted.
    for (script, expected) in
        [("", &["Rep(B)", "CR(B)"][..]), ("A=RD B.p", &["DR(A)", "Rep(A)", "CR(A)", "Rep(B)", "CR(B)"])]
    {
        let mut differ = Script::parse(script);
        let next = crashed.entries();
        let graph =
            groundstate_pulumi_ordering::plan_stack(&next, &goals(BASE), &mut differ, &options(|_| ()))
                .unwrap();
        assert_eq!(steps(&graph), expected, "{script:?}");
        assert_eq!(run(&next, &graph, &How::failing(&[])).show(), "prov; A; B");
    }
}

#[test]
fn a_failed_deletion_stops_the_replacement() {
    let graph = plan(BASE, BASE, "A=RD B=U B.p");
    let run = run(&entries(BASE), &graph, &How::failing(&["DR(A)"]));
    assert_eq!(run.show(), "prov; A; B pending");
    assert_eq!(run.ran, ["S(prov)", "DR(B)", "DR(A)"]);
}

#[test]
fn a_mixed_graph_is_ordered() {
    let base = "A; B{A}; C(p:A); D(q:A); E{C}; F(p:C); G(q:C); H(r:F)";
    let graph = plan(base, base, "A=RD B.p C.p F.p");
    assert_order(&graph, &["DR(F) < DR(E) < DR(C) < DR(B) < DR(A)"]);
    assert_eq!(provider_deletes(&graph), ["F", "E", "C", "B", "A"]);
    let run = run(&entries(base), &graph, &How::failing(&[]));
    assert_eq!(run.show(), "A; B; C; D; E; F; G; H");
}

#[test]
fn entries_that_do_not_join_do_not_hide_those_behind_them() {
    // B stays, and depends on A only as a whole; C depends on B and directly on A.
    let base = "prov; A; B(A); C(B, p:A)";
    let graph = plan(base, base, "A=RD B.p C.p");
    assert_eq!(provider_deletes(&graph), ["C", "A"]);
}

#[test]
fn a_second_root_waits_for_what_the_first_has_dragged_along() {
    let base = "prov; A; X; B(p:A, q:X)";
    let graph = plan(base, base, "A=RD X=RD B.p B.q");
    assert_eq!(provider_deletes(&graph), ["B", "A", "X"], "each once");
    assert_order(
        &graph,
        &["DR(B) < DR(X)", "DR(B) < DR(A)", "CR(X) < CR(B)", "CR(A) < CR(B)", "DR(A) | DR(X)"],
    );
}

#[test]
fn old_entries_that_are_dragged_along_are_deleted_for_good() {
    let base = "prov; A; B(p:A) delete; B(p:A)";
    let graph = plan(base, "prov; A; B(p:A)", "A=RD B.p");
    assert_order(&graph, &["DR(B) < Del(B) < DR(A)"]);
    assert!(graph.finals().is_empty(), "{:?}", steps(&graph));
    let run = run(&entries(base), &graph, &How::failing(&[]));
    assert_eq!(run.show(), "prov; A; B");
    assert!(run.lost().is_empty());
}

#[test]
fn a_dragged_entry_is_made_again_after_its_deletion_even_if_the_program_dropped_the_dependency() {
    let graph = plan(BASE, "prov; A; B", "A=RD B.p");
    assert_order(&graph, &["DR(B) < CR(B)"]);
    assert!(!crate::notation::precedes(&graph, find(&graph, "CR(A)")[0], find(&graph, "CR(B)")[0]));
}

#[test]
fn protected_replacements_are_refused_unless_the_program_removes_the_protection() {
    let refused = |base: &str, wanted: &str| plan_with(base, wanted, "A=R", &options(|_| ())).err();
    let error = Some(vec![StackError::ProtectedReplace { urn: urn("A") }]);
    assert_eq!(refused("prov; A protect", "prov; A protect"), error);
    assert_eq!(refused("prov; A protect", "prov; A"), None);
    assert_eq!(refused("prov; A", "prov; A protect"), None);
    let ignoring = options(|options| options.ignore_protect = true);
    assert!(plan_with("prov; A protect", "prov; A protect", "A=R", &ignoring).is_ok());
    // The old object of a replacement may be deleted although it was protected.
    let graph = plan("prov; A protect", "prov; A", "A=R");
    assert_eq!(provider_deletes(&graph), ["A"]);
}

#[test]
fn replacements_are_forced_by_targets_providers_and_companions() {
    let targeted = options(|options| options.replace_targets = [urn("A")].into());
    assert_eq!(steps(&plan_with("prov; A", "prov; A", "A=U", &targeted).unwrap())[0], "CR(A)");
    let (base, wanted) = ("P1; P2; A{P1}", "P1; P2; A{P2}");
    assert_eq!(steps(&plan(base, wanted, "A=U A.provider"))[0], "CR(A)");
    assert_eq!(steps(&plan(base, wanted, "A=U")), ["U(A)"]);
    assert_eq!(steps(&plan("prov; T; D", "prov; T; D(dw T)", "T=R"))[..3], ["CR(T)", "Rep(T)", "CR(D)"]);
}

#[test]
fn objects_of_others_are_taken_over_and_left_without_a_deletion() {
    let graph = plan("prov; A external", "prov; A", "");
    assert_eq!(steps(&graph), ["CR(A)", "Rep(A)"]);
    let mut wanted = goals("prov; A");
    wanted[1].adopts = Some("elsewhere".into());
    let planned = |base: &str| {
        let mut script = Script::parse("");
        groundstate_pulumi_ordering::plan_stack(&entries(base), &wanted, &mut script, &options(|_| ()))
            .unwrap()
    };
    assert_eq!(steps(&planned("prov; A")), ["CR(A)", "Rep(A)"]);
    assert_eq!(steps(&planned("prov")), ["C(A)"]);
    assert_eq!(run(&entries("prov; A"), &planned("prov; A"), &How::failing(&[])).show(), "prov; A");
    wanted[1].adopts = Some("A-1".into());
    let mut script = Script::parse("A=U");
    let base = entries("prov; A");
    let same =
        groundstate_pulumi_ordering::plan_stack(&base, &wanted, &mut script, &options(|_| ())).unwrap();
    assert_eq!(steps(&same), ["U(A)"], "it is that object already");
}

#[test]
fn what_is_only_read_is_read() {
    assert_eq!(steps(&plan("prov", "prov; A external", "")), ["Rd(A)"]);
    assert_eq!(steps(&plan("prov; A external", "prov; A external", "")), ["Rd(A)"]);
    // A managed object that is only read from now on goes at the end.
    let graph = plan("prov; A", "prov; A external", "");
    assert_eq!(steps(&graph), ["Rd(A)", "DR(A)"]);
    let run = run(&entries("prov; A"), &graph, &How::failing(&[]));
    assert_eq!((run.show().as_str(), run.deleted.len()), ("prov; A", 1));
}
