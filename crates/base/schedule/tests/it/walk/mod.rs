//! The walker: its rules, the driver on threads, and properties of both.

mod impact;
mod properties;
mod rules;
mod threads;

use groundstate_schedule::walk::{Relation, WalkGraph};

/// A graph of named nodes in which the first of each pair waits for the second; names are numbered in the given order.
pub(crate) fn graph(names: &[&str], edges: &[(&str, &str)]) -> WalkGraph {
    let number = |name: &str| names.iter().position(|known| *known == name).expect("edges name nodes");
    let mut builder = WalkGraph::builder(names.len());
    for (from, to) in edges {
        builder.edge(number(from), number(to), Relation::Needs);
    }
    builder.build().expect("the graphs of these tests have no cycle")
}

/// Chains in every combination of actions, and the diamond: names in the order of keys, and complete edges.
pub(crate) fn example(name: &str) -> (Vec<&'static str>, WalkGraph) {
    let (names, edges): (&[_], &[_]) = match name {
        "chain created" => (&["A", "B", "C"], &[("B", "A"), ("C", "B"), ("C", "A")]),
        "chain destroyed" => (&["Ad", "Bd", "Cd"], &[("Ad", "Bd"), ("Ad", "Cd"), ("Bd", "Cd")]),
        "both delete first" => (
            &["A", "Ad", "B", "Bd"],
            &[("B", "A"), ("A", "Ad"), ("B", "Bd"), ("B", "Ad"), ("Ad", "Bd"), ("A", "Bd")],
        ),
        "create first, then delete first" => (
            &["A", "Ad", "B", "Bd"],
            &[("B", "A"), ("Ad", "A"), ("B", "Bd"), ("Ad", "B"), ("Ad", "Bd"), ("A", "Bd")],
        ),
        "create first, then an update" => (&["A", "Ad", "B"], &[("B", "A"), ("Ad", "A"), ("Ad", "B")]),
        "both create first" => (
            &["A", "Ad", "B", "Bd"],
            &[("B", "A"), ("Ad", "A"), ("Bd", "B"), ("Ad", "B"), ("Ad", "Bd"), ("Bd", "A")],
        ),
        "diamond" => (&["a", "b", "c", "d"], &[("b", "a"), ("c", "a"), ("d", "b"), ("d", "c")]),
        "unrelated, delete first" => (&["A", "Ad", "C", "Cd"], &[("A", "Ad"), ("C", "Cd")]),
        other => unreachable!("no example {other}"),
    };
    (names.to_vec(), graph(names, edges))
}
