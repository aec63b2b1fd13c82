//! Cycles.

use proptest::prelude::*;

use crate::naive::{any_dag, any_graph, distances, graph, numbers};

#[test]
fn a_cycle_is_given_whole_and_in_order() {
    let graph = graph(6, &[(0, 4), (4, 2), (2, 5), (5, 4), (1, 0)]);
    let cycle = graph.find_cycle().unwrap();
    assert_eq!(numbers(cycle.nodes().iter().copied()), [2, 5, 4]);
    assert_eq!(cycle.to_string(), "3 nodes form a cycle: 2 -> 5 -> 4 -> 2");
    assert_eq!(cycle.describe(|node| format!("r{}", graph[node])), "r2 -> r5 -> r4 -> r2");
    assert_eq!(numbers(cycle.into_nodes()), [2, 5, 4]);
}

#[test]
fn an_edge_from_a_node_to_itself_is_a_cycle_of_one() {
    let cycle = graph(2, &[(0, 1), (1, 1)]).find_cycle().unwrap();
    assert_eq!(cycle.to_string(), "node 1 has an edge to itself");
    assert_eq!(cycle.describe(|node| node.index()), "1 -> 1");
}

#[test]
fn each_component_gives_one_cycle() {
    let graph = graph(7, &[(5, 6), (6, 5), (5, 0), (0, 1), (1, 0), (3, 3), (3, 5), (1, 2)]);
    let cycles: Vec<Vec<usize>> = graph.cycles().map(|cycle| numbers(cycle.into_nodes())).collect();
    assert_eq!(cycles, [vec![0, 1], vec![3], vec![5, 6]]);
}

#[test]
fn of_several_cycles_through_a_node_the_shortest_is_given() {
    let graph = graph(5, &[(0, 1), (1, 2), (2, 3), (3, 0), (2, 4), (4, 0), (1, 4), (4, 3)]);
    assert_eq!(numbers(graph.find_cycle().unwrap().into_nodes()), [0, 1, 4]);
}

proptest! {
    #[test]
    fn a_graph_without_cycles_gives_none(graph in any_dag()) {
        prop_assert_eq!(graph.find_cycle(), None);
        prop_assert_eq!(graph.cycles().count(), 0);
    }

    #[test]
    fn cycles_are_closed_shortest_and_cover_each_component_once(graph in any_graph()) {
        let paths = distances(&graph);
        let on_cycle: Vec<usize> = (0..graph.node_count()).filter(|&n| paths[n][n].is_some()).collect();
        // The smallest node of each cyclic component: no smaller node reaches it and is reached from it.
        let firsts: Vec<usize> = on_cycle
            .iter()
            .copied()
            .filter(|&n| !(0..n).any(|m| paths[n][m].is_some() && paths[m][n].is_some()))
            .collect();
        let cycles: Vec<_> = graph.cycles().collect();
        prop_assert_eq!(cycles.iter().map(|cycle| cycle.nodes()[0].index()).collect::<Vec<_>>(), firsts);
        prop_assert_eq!(graph.find_cycle(), cycles.first().cloned());
        for cycle in cycles {
            let nodes = cycle.nodes();
            let next = nodes.iter().cycle().skip(1);
            prop_assert!(nodes.iter().zip(next).all(|(&from, &to)| graph.contains_edge(from, to)));
            let first = nodes[0].index();
            prop_assert_eq!(Some(nodes.len()), paths[first][first]);
        }
    }
}
