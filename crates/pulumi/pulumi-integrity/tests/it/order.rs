//! Sorting.

use groundstate_pulumi_integrity::{Moved, SortError, sort};

use crate::support::{names, snapshot, urn};

#[track_caller]
fn sorted(resources: &[&str]) -> Vec<String> {
    let mut snapshot = snapshot(resources);
    sort(&mut snapshot).expect("there is an order");
    names(&snapshot)
}

#[test]
fn a_replaced_copy_makes_no_cycle() {
    assert_eq!(sorted(&["b(a)", "a", "a(! b)"]), ["a", "b", "a'1!"]);
}

#[test]
fn a_resource_that_depends_on_itself_is_a_cycle() {
    let mut snapshot = snapshot(&["b(c)", "c", "a(a)"]);
    let before = snapshot.clone();
    let error = sort(&mut snapshot).unwrap_err();
    assert_eq!(error, SortError::Cycle { urns: vec![urn("a")] });
    assert_eq!(error.to_string(), "snapshot has cyclic dependencies");
    assert_eq!(snapshot, before);
}

#[test]
fn sorting_is_deterministic() {
    let resources = ["e(d c k:b w:a)", "d(b)", "c(a r:b)", "a(b)", "b", "f(e ^d)"];
    let first = sorted(&resources);
    assert_eq!(first, ["b", "d", "a", "c", "e", "f"]);
    for _ in 0..1000 {
        assert_eq!(sorted(&resources), first);
    }
}

#[test]
fn cycles_are_named_in_their_order() {
    let error = sort(&mut snapshot(&["x(a)", "a(b)", "b(c)", "c(a)"])).unwrap_err();
    assert_eq!(error, SortError::Cycle { urns: vec![urn("a"), urn("b"), urn("c")] });
}

#[test]
fn what_is_needed_moves_up_and_nothing_else_does() {
    let mut snapshot = snapshot(&["a", "b(d)", "c", "d", "e"]);
    assert_eq!(sort(&mut snapshot), Ok(vec![Moved { from: 3, to: 1 }]));
    assert_eq!(names(&snapshot), ["a", "d", "b", "c", "e"]);
    assert_eq!(sort(&mut snapshot), Ok(vec![]));
}

#[test]
fn providers_are_told_apart_by_their_identifiers() {
    assert_eq!(sorted(&["P(#2)", "a(@P=1)", "P(#1 !)"]), ["P", "P'1!", "a"]);
    // Who waits for its replacement needs none.
    assert_eq!(sorted(&["a(? @P=1)", "P(#1 a)"]), ["a", "P"]);
    // A provider may name itself, and one of another identifier is better than none.
    assert_eq!(sorted(&["a(@P=2)", "P(#1 @P=1)"]), ["P", "a"]);
}

#[test]
fn of_equal_providers_the_nearest_one_before_is_meant() {
    assert_eq!(sorted(&["P(#1)", "a(@P=1)", "P(#1 !)"]), ["P", "a", "P'1!"], "what is in order stays");
    // The older copy needs `b`, and `b` the newer one, so there is no circle.
    let mut snapshot = snapshot(&["P(#1 ! b)", "P(#1)", "b(@P=1)"]);
    sort(&mut snapshot).expect("there is an order");
    assert_eq!(names(&snapshot), ["P", "b", "P'1!"]);
}

#[test]
fn a_provider_that_may_name_itself_or_an_earlier_copy_means_the_earlier_one() {
    assert_eq!(sorted(&["x(! P)", "P(#1)", "P(#1 ! @P=1)"]), ["P", "P'1!", "x!"]);
}

#[test]
fn a_copy_that_names_itself_means_the_other_copy() {
    let mut snapshot = snapshot(&["a(! a)", "a(!)"]);
    assert_eq!(sort(&mut snapshot), Ok(vec![Moved { from: 1, to: 0 }]));
}

#[test]
fn a_long_chain_needs_no_stack() {
    let count = 50_000;
    let chain: Vec<String> = (0..count).map(|at| format!("n{at}(n{})", at + 1)).collect();
    let mut chain: Vec<&str> = chain.iter().map(String::as_str).collect();
    let last = format!("n{count}");
    chain.push(&last);
    let mut snapshot = snapshot(&chain);
    assert_eq!(sort(&mut snapshot).unwrap().len(), count);
    assert_eq!(snapshot.resources[0].urn, urn(&last));
}
