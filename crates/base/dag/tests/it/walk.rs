//! Ancestors and descendants.

use groundstate_dag::NodeIndex;
use proptest::prelude::*;

use crate::naive::{any_graph, distances, graph, numbers};

#[test]
fn a_walk_goes_breadth_first_and_in_the_order_of_the_edges() {
    let graph = graph(6, &[(0, 3), (0, 1), (3, 4), (1, 2), (4, 5), (1, 5)]);
    let node = |at: usize| graph.indices().nth(at).unwrap();
    assert_eq!(numbers(graph.descendants([node(0)])), [3, 1, 4, 2, 5]);
    assert_eq!(numbers(graph.ancestors([node(5)])), [4, 1, 3, 0]);
    assert_eq!(numbers(graph.descendants([node(4), node(1)])), [5, 2]);
    assert_eq!(numbers(graph.descendants([])), []);
}

#[test]
fn a_start_is_found_only_when_something_leads_to_it() {
    let graph = graph(4, &[(0, 1), (1, 2), (2, 1), (3, 3)]);
    let node = |at: usize| graph.indices().nth(at).unwrap();
    assert_eq!(numbers(graph.descendants([node(0)])), [1, 2]);
    assert_eq!(numbers(graph.descendants([node(1)])), [2, 1]);
    assert_eq!(numbers(graph.descendants([node(0), node(1)])), [1, 2]);
    assert_eq!(numbers(graph.ancestors([node(3)])), [3]);
}

proptest! {
    #[test]
    fn walks_visit_what_paths_lead_to_once_and_the_nearest_first(graph in any_graph(), start in 0_usize..10) {
        let paths = distances(&graph);
        let start = start % graph.node_count();
        let node = graph.indices().nth(start).unwrap();
        let to_start = |other: NodeIndex| paths[other.index()][start];
        let from_start = |other: NodeIndex| paths[start][other.index()];
        let down: Vec<_> = graph.descendants([node]).map(from_start).collect();
        let up: Vec<_> = graph.ancestors([node]).map(to_start).collect();
        for (visited, all) in [
            (down, graph.indices().map(from_start).collect::<Vec<_>>()),
            (up, graph.indices().map(to_start).collect()),
        ] {
            // Every node visited is reachable, distances never fall, and as many are visited as can be reached.
            prop_assert!(visited.iter().all(Option::is_some) && visited.is_sorted());
            prop_assert_eq!(visited.len(), all.iter().flatten().count());
        }
        let mut distinct = numbers(graph.descendants([node]));
        let length = distinct.len();
        distinct.sort_unstable();
        distinct.dedup();
        prop_assert_eq!(distinct.len(), length);
    }
}
