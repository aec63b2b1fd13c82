//! Random graphs and failures under a scheduler that the test controls.

use std::collections::BTreeSet;

use groundstate_schedule::walk::{
    Context, OnFailure, Outcome, Relation, Settled, WalkGraph, WalkOptions, Walker, impact, walk,
};
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Case {
    nodes: usize,
    edges: Vec<(usize, usize)>,
    failing: BTreeSet<usize>,
    parallelism: usize,
    /// Which of the running operations ends next.
    ends: Vec<usize>,
}

fn cases() -> impl Strategy<Value = Case> {
    (2_usize..14).prop_flat_map(|nodes| {
        let edges = prop::collection::vec((0..nodes, 0..nodes), 0..30);
        let failing = prop::collection::btree_set(0..nodes, 0..4);
        let ends = prop::collection::vec(0_usize..100, nodes);
        (edges, failing, 1_usize..6, ends, Just((0..nodes).collect::<Vec<_>>()).prop_shuffle()).prop_map(
            move |(edges, failing, parallelism, ends, rank)| {
                // Edges lead to lower ranks, and ranks are not numbers, so that order by number is no help.
                let edges = edges
                    .into_iter()
                    .filter(|(a, b)| a != b)
                    .map(|(a, b)| if rank[a] > rank[b] { (a, b) } else { (b, a) })
                    .collect();
                Case { nodes, edges, failing, parallelism, ends }
            },
        )
    })
}

fn build(case: &Case) -> WalkGraph {
    let mut builder = WalkGraph::builder(case.nodes);
    for &(from, to) in &case.edges {
        builder.edge(from, to, Relation::Needs);
    }
    builder.build().expect("edges lead to lower ranks")
}

/// The definition, without cleverness: failed nodes that run, and all that wait for them.
fn expected(case: &Case) -> Vec<Settled> {
    let mut settled: Vec<Option<Settled>> = vec![None; case.nodes];
    while settled.iter().any(Option::is_none) {
        for node in 0..case.nodes {
            let waits_for = case.edges.iter().filter(|edge| edge.0 == node).map(|edge| settled[edge.1]);
            let Some(ends) = waits_for.collect::<Option<Vec<_>>>() else { continue };
            let runs = ends.iter().all(|end| *end == Settled::Succeeded);
            settled[node] = Some(match (runs, case.failing.contains(&node)) {
                (false, _) => Settled::SkippedUpstream,
                (true, true) => Settled::Failed,
                (true, false) => Settled::Succeeded,
            });
        }
    }
    settled.into_iter().flatten().collect()
}

fn outcome(case: &Case, node: usize) -> Outcome {
    if case.failing.contains(&node) { Outcome::Failed("x".to_owned()) } else { Outcome::Succeeded }
}

/// Ends operations in the order that the case says, and checks each start.
fn simulate(
    case: &Case,
    graph: &WalkGraph,
    mut pick: impl FnMut(usize) -> usize,
) -> Result<(), TestCaseError> {
    let mut walker = Walker::new(graph, case.parallelism, OnFailure::Continue);
    let (mut running, mut ended) = (Vec::new(), BTreeSet::new());
    loop {
        while let Some(node) = walker.start_next() {
            for edge in case.edges.iter().filter(|edge| edge.0 == node) {
                prop_assert!(ended.contains(&edge.1), "{node} started before {} ended", edge.1);
            }
            running.push(node);
        }
        prop_assert!(running.len() <= case.parallelism);
        prop_assert_eq!(running.len(), walker.running());
        if running.is_empty() {
            break;
        }
        let node = running.swap_remove(pick(running.len()));
        ended.insert(node);
        walker.finish(node, outcome(case, node)).expect("it runs");
    }
    prop_assert!(walker.is_finished());
    let news: Vec<usize> = walker.take_news().into_iter().map(|(node, _)| node).collect();
    prop_assert_eq!(news.len(), case.nodes);
    prop_assert_eq!(news.into_iter().collect::<BTreeSet<_>>().len(), case.nodes);
    let report = walker.into_report();
    let settled: Vec<_> = (0..case.nodes).map(|node| report.settled(node)).collect();
    prop_assert_eq!(settled, expected(case));
    for (node, roots) in report.all_roots(graph) {
        prop_assert_eq!(report.roots(graph, node), roots);
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_schedule_keeps_to_the_rules(case in cases()) {
        let graph = build(&case);
        let mut ends = case.ends.iter().cycle();
        simulate(&case, &graph, |running| ends.next().map_or(0, |end| end % running))?;
    }

    #[test]
    fn threads_come_to_the_same_result(case in cases()) {
        let graph = build(&case);
        let work = |node: usize, _: &Context| outcome(&case, node);
        let report = walk(&graph, &WalkOptions::default().parallelism(case.parallelism), &work, &mut |_| ());
        let settled: Vec<_> = (0..case.nodes).map(|node| report.settled(node)).collect();
        prop_assert_eq!(settled, expected(&case));
        let failing: Vec<usize> = case.failing.iter().copied().collect();
        prop_assert_eq!(impact(&graph, &failing), report.all_roots(&graph));
    }

    #[test]
    fn one_at_a_time_is_the_smallest_topological_order(case in cases()) {
        let graph = build(&case);
        let mut walker = Walker::new(&graph, 1, OnFailure::Continue);
        let mut done = BTreeSet::new();
        while let Some(node) = walker.start_next() {
            let smallest = (0..case.nodes).find(|candidate| {
                let mut waits_for = case.edges.iter().filter(|edge| edge.0 == *candidate);
                !done.contains(candidate) && waits_for.all(|edge| done.contains(&edge.1))
            });
            prop_assert_eq!(Some(node), smallest);
            done.insert(node);
            walker.finish(node, Outcome::Succeeded).expect("it runs");
        }
    }

    #[test]
    fn a_stop_at_any_time_settles_everything(case in cases(), after in 0_usize..14) {
        let graph = build(&case);
        let mut walker = Walker::new(&graph, case.parallelism, OnFailure::Continue);
        let mut started = 0;
        let mut running = Vec::new();
        while started < after && let Some(node) = walker.start_next().or_else(|| {
            let node = running.pop()?;
            walker.finish(node, outcome(&case, node)).ok()?;
            walker.start_next()
        }) {
            running.push(node);
            started += 1;
        }
        walker.stop();
        prop_assert_eq!(walker.start_next(), None);
        for node in running {
            walker.finish(node, outcome(&case, node)).expect("it runs");
        }
        prop_assert!(walker.is_finished());
        let report = walker.into_report();
        let ran = report.nodes(Settled::Succeeded).count() + report.nodes(Settled::Failed).count();
        prop_assert_eq!(ran, started);
        for node in report.nodes(Settled::SkippedUpstream) {
            prop_assert!(!report.roots(&graph, node).is_empty());
        }
    }
}

/// Every order of ends of every small graph.
#[test]
fn all_interleavings_of_four_nodes() {
    const PAIRS: [(usize, usize); 6] = [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)];
    for chosen in 0_usize..1 << PAIRS.len() {
        let edges =
            PAIRS.iter().enumerate().filter(|(bit, _)| chosen & (1 << bit) != 0).map(|(_, pair)| *pair);
        let edges: Vec<_> = edges.collect();
        for failing in [&[][..], &[0], &[1], &[0, 2]] {
            let failing = failing.iter().copied().collect();
            let case = Case { nodes: 4, edges: edges.clone(), failing, parallelism: 3, ends: Vec::new() };
            let graph = build(&case);
            for schedule in 0_usize..81 {
                let mut rest = schedule;
                let pick = |running: usize| {
                    let choice = rest % 3;
                    rest /= 3;
                    choice % running
                };
                simulate(&case, &graph, pick).unwrap();
            }
        }
    }
}
