//! The graph itself.

use std::collections::BTreeSet;

use groundstate_dag::Graph;
use proptest::prelude::*;

use crate::naive::{any_graph, edges, graph, numbers};

#[test]
fn nodes_and_edges_stay_in_the_order_they_were_added() {
    let graph = graph(4, &[(2, 0), (0, 3), (0, 1), (2, 3), (0, 3)]);
    assert_eq!(edges(&graph), [(0, 3), (0, 1), (2, 0), (2, 3)]);
    let [zero, _, _, three] = [0, 1, 2, 3].map(|at| graph.indices().nth(at).unwrap());
    assert_eq!(numbers(graph.successors(zero).iter().copied()), [3, 1]);
    assert_eq!(numbers(graph.predecessors(three).iter().copied()), [0, 2]);
    assert_eq!(graph.nodes().map(|(_, node)| *node).collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn an_edge_added_twice_is_one_edge() {
    let mut graph = Graph::default();
    let node = graph.add_node('a');
    assert!(graph.add_edge(node, node));
    assert!(!graph.add_edge(node, node));
    assert_eq!((graph.edge_count(), graph.successors(node).len(), graph.predecessors(node).len()), (1, 1, 1));
}

#[test]
fn nodes_are_read_and_replaced_by_their_index() {
    let mut graph = Graph::new();
    assert!(graph.is_empty());
    let node = graph.add_node("a");
    graph[node] = "b";
    assert_eq!((graph[node], graph.get(node), graph.is_empty()), ("b", Some(&"b"), false));
    assert_eq!(Graph::<u8>::new().get(node), None);
}

#[test]
fn mapping_keeps_the_shape() {
    let one = graph(3, &[(0, 2), (1, 2)]);
    let other = one.map(|index, node| format!("{}{node}", index.index()));
    assert_eq!(edges(&other), edges(&one));
    assert_eq!(other.nodes().map(|(_, node)| node.as_str()).collect::<Vec<_>>(), ["00", "11", "22"]);
}

proptest! {
    #[test]
    fn reversal_turns_every_edge_and_twice_turns_none(graph in any_graph()) {
        let turned: BTreeSet<_> = edges(&graph).into_iter().map(|(from, to)| (to, from)).collect();
        let reversed = graph.clone().reversed();
        prop_assert_eq!(edges(&reversed).into_iter().collect::<BTreeSet<_>>(), turned);
        for (from, to) in reversed.edges() {
            prop_assert!(reversed.contains_edge(from, to));
        }
        prop_assert_eq!(edges(&reversed.reversed()), edges(&graph));
    }

    #[test]
    fn edges_that_are_not_kept_are_gone_from_every_view(graph in any_graph(), modulus in 1_usize..4) {
        let mut rest = graph.clone();
        let keep = |from: usize, to: usize| (from + to).is_multiple_of(modulus);
        let removed = rest.retain_edges(|from, to| keep(from.index(), to.index()));
        let expected: Vec<_> = edges(&graph).into_iter().filter(|&(from, to)| keep(from, to)).collect();
        prop_assert_eq!(rest.edge_count(), expected.len());
        prop_assert_eq!(removed, graph.edge_count() - expected.len());
        for (from, to) in graph.edges() {
            prop_assert_eq!(rest.contains_edge(from, to), keep(from.index(), to.index()));
        }
        for node in rest.indices() {
            let before: Vec<_> =
                graph.predecessors(node).iter().filter(|from| keep(from.index(), node.index())).collect();
            prop_assert_eq!(rest.predecessors(node).iter().collect::<Vec<_>>(), before);
        }
        prop_assert_eq!(edges(&rest), expected);
    }
}
