//! The state machine, step by step.

use groundstate_dag::Graph;
use groundstate_schedule::walk::{
    OnFailure, Outcome, Relation, Settled, WalkGraph, WalkGraphError, Walker, WalkerError,
};

use super::{example, graph};

fn failed(text: &str) -> Outcome {
    Outcome::Failed(text.to_owned())
}

/// Runs one node after another, and gives the order.
fn run(walker: &mut Walker<&WalkGraph>, outcome: impl Fn(usize) -> Outcome) -> Vec<usize> {
    let mut order = Vec::new();
    while let Some(node) = walker.start_next() {
        order.push(node);
        walker.finish(node, outcome(node)).expect("it was started");
    }
    order
}

#[test]
fn a_failure_skips_what_comes_after_it() {
    let (_, graph) = example("chain created");
    let mut walker = Walker::new(&graph, 10, OnFailure::Continue);
    let order = run(&mut walker, |node| if node == 1 { failed("no quota") } else { Outcome::Succeeded });
    assert_eq!(order, [0, 1]);
    assert!(walker.is_finished());
    let report = walker.into_report();
    let settled: Vec<_> = (0..3).map(|node| report.settled(node)).collect();
    assert_eq!(settled, [Settled::Succeeded, Settled::Failed, Settled::SkippedUpstream]);
    assert_eq!(report.roots(&graph, 2), [1].into());
    assert_eq!(report.failures()[&1], "no quota");
    assert!(!report.is_success());
    assert!(report.roots(&graph, 0).is_empty() && report.roots(&graph, 99).is_empty());
}

#[test]
fn a_failure_leaves_independent_operations_alone() {
    let (names, graph) = example("unrelated, delete first");
    let mut walker = Walker::new(&graph, 1, OnFailure::Continue);
    let order = run(&mut walker, |node| if names[node] == "Ad" { failed("") } else { Outcome::Succeeded });
    assert_eq!(order.iter().map(|&node| names[node]).collect::<Vec<_>>(), ["Ad", "Cd", "C"]);
    let report = walker.into_report();
    assert_eq!(report.nodes(Settled::SkippedUpstream).map(|node| names[node]).collect::<Vec<_>>(), ["A"]);
}

#[test]
fn a_skipped_operation_names_the_failure() {
    let (_, graph) = example("diamond");
    let mut walker = Walker::new(&graph, 10, OnFailure::Continue);
    run(&mut walker, |node| if node == 1 || node == 2 { failed("") } else { Outcome::Succeeded });
    let report = walker.into_report();
    assert_eq!(report.settled(3), Settled::SkippedUpstream);
    assert_eq!(report.roots(&graph, 3), [1, 2].into());
}

#[test]
fn a_stop_skips_what_has_not_begun() {
    let mut builder = WalkGraph::builder(100);
    for node in 1..100 {
        builder.edge(node, node - 1, Relation::Needs);
    }
    let graph = builder.build().unwrap();
    let mut walker = Walker::new(&graph, 10, OnFailure::Continue);
    for _ in 0..9 {
        let node = walker.start_next().unwrap();
        walker.finish(node, Outcome::Succeeded).unwrap();
    }
    let tenth = walker.start_next().unwrap();
    walker.stop();
    walker.stop();
    assert!(walker.is_stopping() && !walker.is_finished(), "what runs is waited for");
    walker.finish(tenth, Outcome::Succeeded).unwrap();
    assert!(walker.is_finished());
    let report = walker.into_report();
    assert_eq!(report.nodes(Settled::Succeeded).count(), 10);
    assert_eq!(report.nodes(Settled::SkippedStopped).count(), 90);
}

#[test]
fn a_skip_waits_until_all_others_are_settled() {
    let (_, graph) = example("diamond");
    let mut walker = Walker::new(&graph, 10, OnFailure::Continue);
    let a = walker.start_next().unwrap();
    walker.finish(a, Outcome::Succeeded).unwrap();
    let (b, c) = (walker.start_next().unwrap(), walker.start_next().unwrap());
    walker.take_news();
    walker.finish(b, failed("fast")).unwrap();
    assert_eq!(walker.take_news(), [(b, Settled::Failed)], "d still waits for the slow one");
    walker.finish(c, Outcome::Succeeded).unwrap();
    assert_eq!(walker.take_news(), [(c, Settled::Succeeded), (3, Settled::SkippedUpstream)]);
}

#[test]
fn ready_nodes_start_by_number_and_within_the_limit() {
    let graph = graph(&["a", "b", "c", "d"], &[("a", "d")]);
    let mut walker = Walker::new(&graph, 2, OnFailure::Continue);
    assert_eq!((walker.start_next(), walker.start_next()), (Some(1), Some(2)));
    assert!(!walker.may_start());
    assert_eq!(walker.start_next(), None);
    assert_eq!(walker.running(), 2);
    walker.finish(2, Outcome::Succeeded).unwrap();
    assert_eq!(walker.start_next(), Some(3));
    walker.finish(3, Outcome::Succeeded).unwrap();
    assert_eq!(walker.start_next(), Some(0));
}

#[test]
fn zero_means_the_usual_limit() {
    let graph = WalkGraph::builder(30).build().unwrap();
    let mut walker = Walker::new(&graph, 0, OnFailure::Continue);
    assert_eq!(std::iter::from_fn(|| walker.start_next()).count(), 10);
}

#[test]
fn a_node_is_finished_once_and_only_after_it_started() {
    let (_, graph) = example("chain created");
    let mut walker = Walker::new(&graph, 10, OnFailure::Continue);
    let refuse = |walker: &mut Walker<&WalkGraph>, node| {
        assert_eq!(walker.finish(node, Outcome::Succeeded), Err(WalkerError::NotRunning { node }));
    };
    refuse(&mut walker, 0);
    refuse(&mut walker, 17);
    walker.start_next();
    walker.finish(0, Outcome::Succeeded).unwrap();
    refuse(&mut walker, 0);
    assert_eq!(walker.start_next(), Some(1), "a wrong call changes nothing");
}

#[test]
fn failures_stop_the_rest_only_where_that_is_asked_for() {
    // 0 and 1 are independent, 2 waits for 0, 3 waits for 1 while it runs.
    let graph = graph(&["a", "b", "c", "d"], &[("c", "a"), ("d", "b")]);
    for (outcome, on_failure, expected) in [
        (failed("x"), OnFailure::Stop, [Settled::SkippedUpstream, Settled::SkippedStopped]),
        (failed("x"), OnFailure::Continue, [Settled::SkippedUpstream, Settled::Succeeded]),
        (Outcome::Refused("x".to_owned()), OnFailure::Stop, [Settled::SkippedUpstream, Settled::Succeeded]),
    ] {
        let mut walker = Walker::new(&graph, 2, on_failure);
        assert_eq!((walker.start_next(), walker.start_next()), (Some(0), Some(1)));
        walker.finish(0, outcome.clone()).unwrap();
        walker.finish(1, Outcome::Succeeded).unwrap();
        run(&mut walker, |_| Outcome::Succeeded);
        let report = walker.into_report();
        assert_eq!(report.settled(1), Settled::Succeeded, "what ran was waited for");
        assert_eq!([report.settled(2), report.settled(3)], expected, "{outcome:?} {on_failure:?}");
    }
}

#[test]
fn a_failure_outweighs_a_stop() {
    let graph = graph(&["a", "b", "c", "d"], &[("c", "b"), ("d", "a"), ("d", "c")]);
    let mut walker = Walker::new(&graph, 2, OnFailure::Continue);
    let (a, b) = (walker.start_next().unwrap(), walker.start_next().unwrap());
    walker.stop();
    walker.finish(b, Outcome::Succeeded).unwrap();
    walker.finish(a, failed("x")).unwrap();
    let report = walker.into_report();
    assert_eq!(report.settled(2), Settled::SkippedStopped);
    assert_eq!(report.settled(3), Settled::SkippedUpstream);
    assert_eq!(report.roots(&graph, 3), [a].into());
}

#[test]
fn barriers_settle_by_themselves_and_pass_failures_on() {
    // 0 and 1 -> barrier 4 -> barrier 5 -> 2, and 3 is alone.
    for fails in [false, true] {
        let mut builder = WalkGraph::builder(6);
        for (from, to) in [(4, 0), (4, 1), (5, 4), (2, 5)] {
            builder.edge(from, to, Relation::Needs);
        }
        let graph = builder.barrier(4).barrier(5).build().unwrap();
        let mut walker = Walker::new(&graph, 1, OnFailure::Continue);
        let outcome = |node| if fails && node == 1 { failed("x") } else { Outcome::Succeeded };
        let order = run(&mut walker, outcome);
        assert_eq!(order, if fails { vec![0, 1, 3] } else { vec![0, 1, 2, 3] });
        assert!(walker.take_news().iter().all(|(node, _)| *node < 4), "barriers are no news");
        let report = walker.into_report();
        assert_eq!(report.roots(&graph, 2), if fails { [1].into() } else { [].into() });
    }
}

#[test]
fn barriers_without_dependencies_settle_at_once() {
    let mut builder = WalkGraph::builder(4);
    let graph = builder
        .edge(1, 0, Relation::Needs)
        .edge(2, 1, Relation::Needs)
        .edge(3, 0, Relation::Needs)
        .barrier(0)
        .barrier(1)
        .build()
        .unwrap();
    let mut walker = Walker::new(&graph, 10, OnFailure::Continue);
    assert_eq!((walker.start_next(), walker.start_next(), walker.start_next()), (Some(2), Some(3), None));
}

#[test]
fn after_waits_for_the_end_and_unless_waits_for_nothing() {
    let mut builder = WalkGraph::builder(4);
    let graph = builder.edge(1, 0, Relation::After).edge(2, 0, Relation::Unless).edge(3, 2, Relation::Needs);
    let graph = graph.build().unwrap();
    // With a limit of one, 0 has failed before 2 starts; with more, 2 runs already.
    for (limit, expected) in [(1, Settled::SkippedUpstream), (2, Settled::Succeeded)] {
        let mut walker = Walker::new(&graph, limit, OnFailure::Continue);
        let started: Vec<usize> = std::iter::from_fn(|| walker.start_next()).collect();
        assert_eq!(started, [0, 2][..limit]);
        for node in started {
            let outcome = if node == 0 { failed("x") } else { Outcome::Succeeded };
            walker.finish(node, outcome).unwrap();
        }
        run(&mut walker, |_| Outcome::Succeeded);
        let report = walker.into_report();
        assert_eq!(report.settled(1), Settled::Succeeded, "it asks only for the end");
        assert_eq!([report.settled(2), report.settled(3)], [expected; 2]);
    }
}

#[test]
fn graphs_that_cannot_be_walked_are_refused() {
    let mut cyclic = WalkGraph::builder(5);
    for (from, to) in [(0, 1), (1, 2), (2, 3), (3, 1), (4, 3)] {
        cyclic.edge(from, to, Relation::Needs);
    }
    let error = cyclic.build().unwrap_err();
    assert_eq!(error, WalkGraphError::Cycle { path: vec![1, 2, 3] });
    assert_eq!(error.to_string(), "the nodes 1, 2, 3 wait for each other, remove one of these edges");
    let itself = WalkGraph::builder(1).edge(0, 0, Relation::After).build().unwrap_err();
    assert_eq!(itself, WalkGraphError::Cycle { path: vec![0] });
    let unknown = WalkGraph::builder(2).edge(0, 2, Relation::Needs).build().unwrap_err();
    assert_eq!(unknown, WalkGraphError::UnknownNode { node: 2, nodes: 2 });
    let unknown = WalkGraph::builder(2).barrier(7).build().unwrap_err();
    assert_eq!(unknown, WalkGraphError::UnknownNode { node: 7, nodes: 2 });
    assert!(WalkGraph::builder(2).edge(0, 1, Relation::Unless).edge(1, 0, Relation::Unless).build().is_ok());
}

#[test]
fn a_long_cycle_is_named_in_part_and_without_recursion() {
    const NODES: usize = 200_000;
    let mut ring = WalkGraph::builder(NODES);
    for node in 0..NODES {
        ring.edge(node, (node + 1) % NODES, Relation::Needs);
    }
    let error = ring.build().unwrap_err();
    assert!(error.to_string().contains("49, … and 199950 more wait"), "{error}");
    assert!(matches!(error, WalkGraphError::Cycle { path } if path.len() == NODES));
}

#[test]
fn a_long_chain_of_skips_needs_no_stack() {
    const NODES: usize = 200_000;
    let mut graph = Graph::new();
    let nodes: Vec<_> = (0..NODES).map(|node| graph.add_node(node)).collect();
    for pair in nodes.windows(2) {
        graph.add_edge(pair[1], pair[0]);
    }
    let graph = WalkGraph::from_graph(&graph).unwrap();
    let mut walker = Walker::new(&graph, 1, OnFailure::Continue);
    run(&mut walker, |_| failed("x"));
    let report = walker.into_report();
    assert_eq!(report.nodes(Settled::SkippedUpstream).count(), NODES - 1);
    assert_eq!(report.roots(&graph, NODES - 1), [0].into());
    assert_eq!(report.all_roots(&graph).len(), NODES - 1);
}

#[test]
fn an_edge_given_twice_is_harmless() {
    let graph =
        WalkGraph::builder(2).edge(1, 0, Relation::Needs).edge(1, 0, Relation::Needs).build().unwrap();
    let mut walker = Walker::new(&graph, 10, OnFailure::Continue);
    assert_eq!(run(&mut walker, |_| Outcome::Succeeded), [0, 1]);
}
