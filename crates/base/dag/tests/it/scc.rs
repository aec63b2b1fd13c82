//! Strongly connected components.

use groundstate_dag::{Graph, NodeIndex};
use proptest::prelude::*;

use crate::naive::{any_graph, distances, graph, numbers};

fn components(graph: &Graph<usize>) -> Vec<Vec<usize>> {
    graph.strongly_connected_components().into_iter().map(numbers).collect()
}

#[test]
fn what_a_component_points_to_comes_before_it() {
    let graph = graph(5, &[(0, 1), (1, 2), (2, 1), (2, 3), (4, 0)]);
    assert_eq!(components(&graph), [vec![3], vec![1, 2], vec![0], vec![4]]);
}

#[test]
fn a_graph_without_nodes_has_no_components() {
    assert!(Graph::<u8>::new().strongly_connected_components().is_empty());
}

proptest! {
    #[test]
    fn nodes_share_a_component_exactly_when_each_reaches_the_other(graph in any_graph()) {
        let paths = distances(&graph);
        let components = components(&graph);
        let place = |node: usize| components.iter().position(|c| c.contains(&node)).unwrap();
        for one in graph.indices().map(NodeIndex::index) {
            for two in graph.indices().map(NodeIndex::index) {
                let mutual = one == two || (paths[one][two].is_some() && paths[two][one].is_some());
                prop_assert_eq!(place(one) == place(two), mutual);
                if paths[one][two].is_some() {
                    prop_assert!(place(two) <= place(one));
                }
            }
        }
        let mut all = components.concat();
        prop_assert!(components.iter().all(|component| component.is_sorted()));
        all.sort_unstable();
        prop_assert_eq!(all, (0..graph.node_count()).collect::<Vec<_>>());
    }
}
