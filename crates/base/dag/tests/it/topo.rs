//! Topological orders and levels.

use groundstate_dag::Graph;
use proptest::prelude::*;

use crate::naive::{any_dag, any_graph, edges, graph, numbers};

/// By definition: again and again the smallest node, by rank, all of whose predecessors are in the order.
fn expected_order(graph: &Graph<usize>, rank: impl Fn(usize) -> usize) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    while order.len() < graph.node_count() {
        let next = (0..graph.node_count())
            .filter(|node| !order.contains(node))
            .filter(|node| edges(graph).iter().all(|(from, to)| to != node || order.contains(from)))
            .min_by_key(|&node| (rank(node), node))
            .expect("the graph has no cycle");
        order.push(next);
    }
    order
}

/// By definition: the number of edges of the longest path that ends in the node.
fn depth(graph: &Graph<usize>, node: usize) -> usize {
    edges(graph)
        .iter()
        .filter(|(_, to)| *to == node)
        .map(|&(from, _)| depth(graph, from) + 1)
        .max()
        .unwrap_or(0)
}

#[test]
fn nodes_without_edges_keep_their_order() {
    let graph = graph(3, &[]);
    assert_eq!(numbers(graph.topo_order().unwrap()), [0, 1, 2]);
    assert_eq!(graph.levels().unwrap().len(), 1);
    assert!(Graph::<u8>::new().levels().unwrap().is_empty());
}

#[test]
fn the_key_decides_only_among_nodes_that_could_come_next() {
    let graph = graph(4, &[(3, 0), (0, 1)]);
    assert_eq!(numbers(graph.topo_order().unwrap()), [2, 3, 0, 1]);
    let by_key = graph.topo_order_by_key(|_, &node| std::cmp::Reverse(node)).unwrap();
    assert_eq!(numbers(by_key), [3, 2, 0, 1]);
}

#[test]
fn a_cycle_is_the_error_of_every_order() {
    let graph = graph(4, &[(0, 1), (1, 2), (2, 3), (3, 1)]);
    let cycle = graph.find_cycle().unwrap();
    assert_eq!(graph.topo_order(), Err(cycle.clone()));
    assert_eq!(graph.topo_order_by_key(|_, _| 0), Err(cycle.clone()));
    assert_eq!(graph.levels(), Err(cycle));
}

proptest! {
    #[test]
    fn the_order_takes_the_first_added_of_those_that_can_come(graph in any_dag()) {
        prop_assert_eq!(numbers(graph.topo_order().unwrap()), expected_order(&graph, |_| 0));
    }

    #[test]
    fn the_order_by_key_takes_the_smallest_key_of_those_that_can_come(graph in any_dag(), modulus in 1_usize..5) {
        let order = graph.topo_order_by_key(|_, &node| node % modulus).unwrap();
        prop_assert_eq!(numbers(order), expected_order(&graph, |node| node % modulus));
    }

    #[test]
    fn the_level_of_a_node_is_its_longest_way_from_a_start(graph in any_dag()) {
        let levels = graph.levels().unwrap();
        for (level, nodes) in levels.iter().enumerate() {
            let expected: Vec<usize> =
                (0..graph.node_count()).filter(|&node| depth(&graph, node) == level).collect();
            prop_assert_eq!(numbers(nodes.iter().copied()), expected);
        }
        prop_assert_eq!(levels.concat().len(), graph.node_count());
    }

    #[test]
    fn there_is_an_order_exactly_when_there_is_no_cycle(graph in any_graph()) {
        prop_assert_eq!(graph.topo_order().err(), graph.find_cycle());
        prop_assert_eq!(graph.levels().err(), graph.find_cycle());
    }
}
