//! What failures make impossible.

use std::collections::{BTreeMap, BTreeSet};

use groundstate_schedule::walk::{Context, Outcome, Settled, WalkOptions, impact, walk};

use super::example;

#[test]
fn impact_lists_what_a_failure_would_skip() {
    for (name, fails, skipped) in [
        ("chain created", "B", &["C"][..]),
        ("chain destroyed", "Cd", &["Ad", "Bd"]),
        ("both delete first", "Bd", &["A", "Ad", "B"]),
        ("both delete first", "Ad", &["A", "B"]),
        ("both delete first", "A", &["B"]),
        ("create first, then delete first", "A", &["Ad", "B"]),
        ("create first, then an update", "A", &["Ad", "B"]),
        ("create first, then an update", "B", &["Ad"]),
        ("both create first", "B", &["Ad", "Bd"]),
        ("both create first", "Bd", &["Ad"]),
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
    let (_, graph) = example("chain created");
    assert_eq!(impact(&graph, &[0, 1]), BTreeMap::from([(1, [0].into()), (2, [0].into())]));
    assert_eq!(impact(&graph, &[]), BTreeMap::new());
    assert_eq!(impact(&graph, &[77]), BTreeMap::new());
}

#[test]
fn all_failures_behind_a_skip_are_named() {
    let (_, graph) = example("diamond");
    assert_eq!(impact(&graph, &[1, 2]), BTreeMap::from([(3, [1, 2].into())]));
}
