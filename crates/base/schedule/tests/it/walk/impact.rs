//! What failures make impossible: the table of 11.3.

use std::collections::{BTreeMap, BTreeSet};

use groundstate_schedule::walk::{Context, Outcome, Settled, WalkOptions, impact, walk};

use super::example;

#[test]
fn impact_lists_what_a_failure_would_skip() {
    for (name, fails, skipped) in [
        ("E1", "B", &["C"][..]),
        ("E3", "Cd", &["Ad", "Bd"]),
        ("E4", "Bd", &["A", "Ad", "B"]),
        ("E4", "Ad", &["A", "B"]),
        ("E4", "A", &["B"]),
        ("E7", "A", &["Ad", "B"]),
        ("E8", "A", &["Ad", "B"]),
        ("E8", "B", &["Ad"]),
        ("E11", "B", &["Ad", "Bd"]),
        ("E11", "Bd", &["Ad"]),
        ("diamond", "b", &["d"]),
    ] {
        let (names, graph) = example(name);
        let number = |wanted: &str| names.iter().position(|name| *name == wanted).unwrap();
        let root = number(fails);
        let expected: BTreeMap<_, BTreeSet<_>> =
            skipped.iter().map(|name| (number(name), [root].into())).collect();
        assert_eq!(impact(&graph, &[root]), expected, "{name}, {fails} fails");

        let work = move |node: usize, _: &Context| {
            if node == root { Outcome::Failed("x".to_owned()) } else { Outcome::Succeeded }
        };
        let report = walk(&graph, &WalkOptions::default(), &work, &mut |_| ());
        assert_eq!(report.all_roots(&graph), expected, "{name}, {fails} fails in a walk");
        let others = names.len() - 1 - skipped.len();
        assert_eq!(report.nodes(Settled::Succeeded).count(), others, "the rest runs: {name}, {fails}");
    }
}

#[test]
fn a_failure_behind_another_is_no_failure() {
    let (_, graph) = example("E1");
    assert_eq!(impact(&graph, &[0, 1]), BTreeMap::from([(1, [0].into()), (2, [0].into())]));
    assert_eq!(impact(&graph, &[]), BTreeMap::new());
    assert_eq!(impact(&graph, &[77]), BTreeMap::new());
}

#[test]
fn all_failures_behind_a_skip_are_named() {
    let (_, graph) = example("diamond");
    assert_eq!(impact(&graph, &[1, 2]), BTreeMap::from([(3, [1, 2].into())]));
}
