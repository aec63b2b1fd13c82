//! Graphs of a million nodes, on the small stack of a test thread.

use groundstate_dag::{Graph, NodeIndex};

const NODES: usize = 1_000_000;

/// Each node points to the next.
fn chain() -> (Graph<()>, Vec<NodeIndex>) {
    let mut graph = Graph::with_capacity(NODES);
    let nodes: Vec<NodeIndex> = (0..NODES).map(|_| graph.add_node(())).collect();
    for pair in nodes.windows(2) {
        graph.add_edge(pair[0], pair[1]);
    }
    (graph, nodes)
}

#[test]
fn a_chain_of_a_million_nodes_needs_no_stack() {
    let (mut graph, nodes) = chain();
    assert_eq!(graph.topo_order().unwrap(), nodes);
    assert_eq!(graph.levels().unwrap().len(), NODES);
    assert_eq!(graph.find_cycle(), None);
    assert_eq!(graph.strongly_connected_components().len(), NODES);
    assert_eq!(graph.descendants([nodes[0]]).count(), NODES - 1);
    assert_eq!(graph.ancestors([nodes[NODES - 1]]).count(), NODES - 1);
    graph.add_edge(nodes[0], nodes[NODES - 1]);
    assert_eq!(graph.reduce_transitively(), Ok(1));
    assert_eq!(graph.to_dot(|_, ()| "").lines().count(), 2 * NODES + 1);
}

#[test]
fn a_cycle_of_a_million_nodes_is_found_whole() {
    let (mut graph, nodes) = chain();
    graph.add_edge(nodes[NODES - 1], nodes[0]);
    assert_eq!(graph.find_cycle().unwrap().into_nodes(), nodes);
    assert_eq!(graph.strongly_connected_components(), [nodes]);
}
