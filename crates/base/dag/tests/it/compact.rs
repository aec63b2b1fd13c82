//! Finished graphs: rows, merged values, components, reduction, as in graphs that grow.

use groundstate_dag::{CompactGraph, Graph, NodeIndex};
use proptest::prelude::*;

/// The same edges in both kinds of graph.
fn both(nodes: usize, edges: &[(usize, usize)]) -> (CompactGraph<()>, Graph<()>) {
    let mut graph = Graph::new();
    let indexes: Vec<NodeIndex> = (0..nodes).map(|_| graph.add_node(())).collect();
    for &(from, to) in edges {
        graph.add_edge(indexes[from], indexes[to]);
    }
    let edges = edges.iter().map(|&(from, to)| (from as u32, to as u32, ())).collect();
    (CompactGraph::from_edges(nodes, edges, |_, ()| {}), graph)
}

fn pairs(graph: &CompactGraph<()>) -> Vec<(usize, usize)> {
    graph.edges().map(|(from, to, ())| (from as usize, to as usize)).collect()
}

fn pairs_of(graph: &Graph<()>) -> Vec<(usize, usize)> {
    let mut pairs: Vec<_> = graph.edges().map(|(from, to)| (from.index(), to.index())).collect();
    pairs.sort_unstable();
    pairs
}

#[test]
fn values_of_equal_edges_are_merged_in_the_order_given() {
    let edges = vec![(1, 0, "a".to_owned()), (0, 1, "b".to_owned()), (1, 0, "c".to_owned())];
    let graph = CompactGraph::from_edges(2, edges, |all, more| all.push_str(&more));
    assert_eq!(graph.edge_count(), 2);
    assert_eq!(graph.values(1), ["ac"]);
    assert_eq!(graph.values(0), ["b"]);
}

#[test]
fn a_graph_without_nodes_has_nothing() {
    let graph: CompactGraph<()> = CompactGraph::from_edges(0, Vec::new(), |_, ()| {});
    assert_eq!(graph.node_count(), 0);
    assert_eq!(graph.topo_order(), Some(Vec::new()));
    assert_eq!(graph.components(), (Vec::new(), 0));
}

proptest! {
    #[test]
    fn both_kinds_of_graph_agree(
        nodes in 1_usize..12,
        picks in proptest::collection::vec((0_usize..12, 0_usize..12), 0..40),
    ) {
        let edges: Vec<_> = picks.into_iter().map(|(a, b)| (a % nodes, b % nodes)).collect();
        let (compact, mut graph) = both(nodes, &edges);
        prop_assert_eq!(pairs(&compact), pairs_of(&graph));
        for node in graph.indices() {
            let mut before: Vec<u32> = graph.predecessors(node).iter().map(|n| n.index() as u32).collect();
            before.sort_unstable();
            prop_assert_eq!(compact.predecessors(node.index() as u32), before);
        }

        let (of, count) = compact.components();
        let components = graph.strongly_connected_components();
        prop_assert_eq!(count, components.len());
        for component in &components {
            prop_assert!(component.iter().all(|node| of[node.index()] == of[component[0].index()]));
        }
        for (from, to, ()) in compact.edges() {
            prop_assert!(of[to as usize] <= of[from as usize]);
        }

        prop_assert_eq!(compact.topo_order().is_some(), graph.find_cycle().is_none());
        match compact.reduce_transitively() {
            None => prop_assert!(graph.reduce_transitively().is_err()),
            Some(reduced) => {
                graph.reduce_transitively().unwrap();
                prop_assert_eq!(pairs(&reduced), pairs_of(&graph));
            }
        }
    }
}
