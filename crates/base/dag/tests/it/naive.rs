//! Small random graphs, and the definitions that the crate's results are held against.

use groundstate_dag::{Graph, NodeIndex};
use proptest::prelude::*;

/// A graph whose nodes hold their own index.
pub(crate) fn graph(nodes: usize, edges: &[(usize, usize)]) -> Graph<usize> {
    let mut graph = Graph::with_capacity(nodes);
    let indices: Vec<NodeIndex> = (0..nodes).map(|node| graph.add_node(node)).collect();
    for &(from, to) in edges {
        graph.add_edge(indices[from], indices[to]);
    }
    graph
}

/// The numbers of the nodes.
pub(crate) fn numbers(nodes: impl IntoIterator<Item = NodeIndex>) -> Vec<usize> {
    nodes.into_iter().map(NodeIndex::index).collect()
}

/// The edges of a graph by the numbers of their nodes.
pub(crate) fn edges<N>(graph: &Graph<N>) -> Vec<(usize, usize)> {
    graph.edges().map(|(from, to)| (from.index(), to.index())).collect()
}

/// Any graph of up to ten nodes, cycles and all.
pub(crate) fn any_graph() -> impl Strategy<Value = Graph<usize>> {
    (1_usize..10).prop_flat_map(|nodes| {
        prop::collection::vec((0..nodes, 0..nodes), 0..2 * nodes).prop_map(move |edges| graph(nodes, &edges))
    })
}

/// A graph without cycles, of up to twelve nodes in any order.
pub(crate) fn any_dag() -> impl Strategy<Value = Graph<usize>> {
    (1_usize..12).prop_flat_map(|nodes| {
        let places = Just((0..nodes).collect::<Vec<_>>()).prop_shuffle();
        let pairs = prop::collection::vec((0..nodes, 0..nodes), 0..4 * nodes);
        (places, pairs).prop_map(move |(places, pairs)| {
            let forward: Vec<(usize, usize)> =
                pairs.into_iter().filter(|&(a, b)| places[a] < places[b]).collect();
            graph(nodes, &forward)
        })
    })
}

/// For each pair of nodes the length of the shortest path of one edge or more.
pub(crate) fn distances<N>(graph: &Graph<N>) -> Vec<Vec<Option<usize>>> {
    let count = graph.node_count();
    let mut paths = vec![vec![None; count]; count];
    for (from, to) in edges(graph) {
        paths[from][to] = Some(1);
    }
    for middle in 0..count {
        for from in 0..count {
            for to in 0..count {
                if let (Some(before), Some(after)) = (paths[from][middle], paths[middle][to]) {
                    let through = before + after;
                    paths[from][to] =
                        Some(paths[from][to].map_or(through, |known: usize| known.min(through)));
                }
            }
        }
    }
    paths
}
