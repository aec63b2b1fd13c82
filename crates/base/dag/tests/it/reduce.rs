//! Transitive reduction.

use proptest::prelude::*;

use crate::naive::{any_dag, any_graph, distances, edges, graph};

#[test]
fn an_edge_beside_a_longer_path_goes() {
    let mut graph = graph(4, &[(0, 3), (0, 1), (1, 2), (2, 3), (0, 2)]);
    assert_eq!(graph.reduce_transitively(), Ok(2));
    assert_eq!(edges(&graph), [(0, 1), (1, 2), (2, 3)]);
    assert_eq!(graph.reduce_transitively(), Ok(0));
}

#[test]
fn a_graph_with_a_cycle_is_left_as_it_was() {
    let mut graph = graph(3, &[(0, 1), (1, 2), (0, 2), (2, 2)]);
    let before = edges(&graph);
    assert_eq!(graph.reduce_transitively(), Err(graph.find_cycle().unwrap()));
    assert_eq!(edges(&graph), before);
}

proptest! {
    #[test]
    fn only_edges_that_no_longer_path_replaces_stay(graph in any_dag()) {
        let paths = distances(&graph);
        let all = edges(&graph);
        let expected: Vec<(usize, usize)> = all
            .iter()
            .copied()
            .filter(|&(from, to)| !all.iter().any(|&(a, b)| a == from && b != to && paths[b][to].is_some()))
            .collect();
        let mut reduced = graph.clone();
        prop_assert_eq!(reduced.reduce_transitively(), Ok(all.len() - expected.len()));
        prop_assert_eq!(edges(&reduced), expected);
        let reach = |paths: &[Vec<Option<usize>>]| -> Vec<bool> {
            paths.concat().iter().map(Option::is_some).collect()
        };
        prop_assert_eq!(reach(&distances(&reduced)), reach(&paths));
    }

    #[test]
    fn reduction_fails_exactly_when_there_is_a_cycle(graph in any_graph()) {
        prop_assert_eq!(graph.clone().reduce_transitively().err(), graph.find_cycle());
    }
}
