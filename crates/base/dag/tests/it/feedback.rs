//! Sets of edges to cut, against all sets there are.

use groundstate_dag::CompactGraph;
use proptest::prelude::*;

fn graph(nodes: usize, edges: &[(u32, u32)]) -> CompactGraph<()> {
    CompactGraph::from_edges(nodes, edges.iter().map(|&(a, b)| (a, b, ())).collect(), |_, ()| {})
}

fn without(nodes: usize, edges: &[(u32, u32)], cut: &[(u32, u32)]) -> CompactGraph<()> {
    graph(nodes, &edges.iter().copied().filter(|edge| !cut.contains(edge)).collect::<Vec<_>>())
}

/// The size of a smallest set, by trying all sets of each size.
fn smallest(nodes: usize, edges: &[(u32, u32)]) -> usize {
    let mut sets: Vec<u32> = (0..1 << edges.len()).collect();
    sets.sort_by_key(|set| set.count_ones());
    let works = |set: &u32| {
        let cut: Vec<_> =
            edges.iter().enumerate().filter(|(at, _)| set & (1 << at) != 0).map(|(_, edge)| *edge).collect();
        without(nodes, edges, &cut).topo_order().is_some()
    };
    sets.into_iter().find(works).map_or(usize::MAX, |set| set.count_ones() as usize)
}

#[test]
fn an_acyclic_graph_needs_no_cut() {
    let cut = graph(3, &[(0, 1), (1, 2), (0, 2)]).feedback_edges(10, |()| 0);
    assert_eq!((cut.edges, cut.is_smallest), (Vec::new(), true));
}

#[test]
fn edges_of_a_small_rank_are_preferred() {
    let edges = vec![(0, 1, 'b'), (1, 2, 'a'), (2, 0, 'c')];
    let graph = CompactGraph::from_edges(3, edges, |_, _| {});
    assert_eq!(graph.feedback_edges(10, |rank| *rank).edges, [(1, 2)]);
}

#[test]
fn a_ring_of_a_hundred_thousand_needs_one_cut() {
    let ring: Vec<(u32, u32)> = (0..100_000).map(|at| (at, (at + 1) % 100_000)).collect();
    let cut = graph(100_000, &ring).feedback_edges(10, |()| 0);
    assert_eq!((cut.edges.len(), cut.is_smallest), (1, true));
}

#[test]
fn a_cut_without_steps_still_leaves_no_cycle() {
    let edges: Vec<(u32, u32)> =
        (0..20).flat_map(|a| (0..20).filter(move |b| a != *b).map(move |b| (a, b))).collect();
    let cut = graph(20, &edges).feedback_edges(0, |()| 0);
    assert!(!cut.is_smallest);
    assert!(without(20, &edges, &cut.edges).topo_order().is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_smaller_set_would_do(
        nodes in 1_usize..6,
        picks in proptest::collection::btree_set((0_u32..6, 0_u32..6), 0..11),
        steps in prop_oneof![Just(0_usize), Just(3), Just(100_000)],
    ) {
        let edges: Vec<_> = picks
            .into_iter()
            .map(|(a, b)| (a % nodes as u32, b % nodes as u32))
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect();
        let cut = graph(nodes, &edges).feedback_edges(steps, |()| 0);
        prop_assert!(without(nodes, &edges, &cut.edges).topo_order().is_some());
        if cut.is_smallest {
            prop_assert_eq!(cut.edges.len(), smallest(nodes, &edges));
        }
        prop_assert!(cut.is_smallest || steps < 100_000);
        for at in 0..cut.edges.len() {
            let mut fewer = cut.edges.clone();
            fewer.remove(at);
            prop_assert!(without(nodes, &edges, &fewer).topo_order().is_none(), "an edge is superfluous");
        }
    }
}
