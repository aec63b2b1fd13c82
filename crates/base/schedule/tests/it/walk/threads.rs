//! The driver on threads.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use groundstate_schedule::walk::{
    Context, Event, OnFailure, Outcome, Relation, Settled, StopToken, WalkGraph, WalkOptions, walk,
};

use super::{example, graph};

#[test]
fn one_worker_runs_in_the_order_of_keys() {
    // Half of a diamond is create-before-destroy. Expected is the smallest order, by hand.
    let names = ["A", "Ad", "B", "Bd", "C", "Cd", "D", "Dd"];
    let graph = graph(
        &names,
        &[
            ("Cd", "Dd"),
            ("A", "Cd"),
            ("B", "A"),
            ("C", "A"),
            ("C", "Cd"),
            ("D", "B"),
            ("D", "C"),
            ("D", "Dd"),
            ("Bd", "D"),
            ("Bd", "B"),
            ("Ad", "Bd"),
        ],
    );
    let seen = Mutex::new(Vec::new());
    let work = |node: usize, _: &Context| {
        seen.lock().unwrap().push(names[node]);
        Outcome::Succeeded
    };
    let report = walk(&graph, &WalkOptions::default().parallelism(1), &work, &mut |_| ());
    assert!(report.is_success());
    assert_eq!(*seen.lock().unwrap(), ["Dd", "Cd", "A", "B", "C", "D", "Bd", "Ad"]);
}

#[test]
fn no_more_run_at_once_than_the_limit() {
    const LIMIT: usize = 7;
    let graph = WalkGraph::builder(100).build().unwrap();
    let (running, most) = (Mutex::new(0_usize), AtomicUsize::new(0));
    let all_there = Condvar::new();
    let work = |_: usize, _: &Context| {
        let mut count = running.lock().unwrap();
        *count += 1;
        most.fetch_max(*count, SeqCst);
        all_there.notify_all();
        // Each waits until the limit was reached once, so a walker that runs fewer at once ends in the timeout.
        let reached =
            all_there.wait_timeout_while(count, Duration::from_secs(20), |_| most.load(SeqCst) < LIMIT);
        let (mut count, timeout) = reached.unwrap();
        assert!(!timeout.timed_out(), "the limit is reached");
        *count -= 1;
        Outcome::Succeeded
    };
    let report = walk(&graph, &WalkOptions::default().parallelism(LIMIT), &work, &mut |_| ());
    assert!(report.is_success(), "{:?}", report.failures());
    assert_eq!(most.load(SeqCst), LIMIT);
}

#[test]
fn a_stop_waits_for_running_operations() {
    let mut builder = WalkGraph::builder(100);
    for node in 1..100 {
        builder.edge(node, node - 1, Relation::Needs);
    }
    let graph = builder.build().unwrap();
    let stop = StopToken::new();
    let work = |node: usize, context: &Context| {
        if node == 9 {
            stop.request();
            assert!(context.is_stopping(), "operations are told");
        }
        Outcome::Succeeded
    };
    let report = walk(&graph, &WalkOptions::default().stop(stop.clone()), &work, &mut |_| ());
    assert_eq!(report.nodes(Settled::Succeeded).count(), 10);
    assert_eq!(report.nodes(Settled::SkippedStopped).count(), 90);
}

#[test]
fn a_panic_of_an_operation_is_a_failure() {
    let (_, graph) = example("chain created");
    for formatted in [false, true] {
        let work = |_: usize, _: &Context| -> Outcome {
            if formatted { panic!("out of {}", "luck") } else { panic!("out of luck") }
        };
        let report = walk(&graph, &WalkOptions::default(), &work, &mut |_| ());
        assert_eq!(report.failures()[&0], "the operation panicked: out of luck");
        assert_eq!(report.nodes(Settled::SkippedUpstream).collect::<Vec<_>>(), [1, 2]);
    }
}

#[test]
fn events_come_one_at_a_time_and_every_node_settles_once() {
    let (_, graph) = example("both delete first");
    let mut events = Vec::new();
    let work = |node: usize, _: &Context| {
        if node == 1 { Outcome::Failed("x".to_owned()) } else { Outcome::Succeeded }
    };
    let options = WalkOptions::default().on_failure(OnFailure::Stop);
    walk(&graph, &options, &work, &mut |event| events.push(event));
    assert_eq!(
        events,
        [
            Event::Started(3),
            Event::Settled(3, Settled::Succeeded),
            Event::Started(1),
            Event::Settled(1, Settled::Failed),
            Event::Settled(0, Settled::SkippedUpstream),
            Event::Settled(2, Settled::SkippedUpstream),
        ]
    );
}

#[test]
fn an_empty_graph_is_walked_at_once() {
    let graph = WalkGraph::builder(0).build().unwrap();
    let work = |_: usize, _: &Context| Outcome::Succeeded;
    assert!(walk(&graph, &WalkOptions::default(), &work, &mut |_| ()).is_success());
}

#[test]
fn no_more_threads_run_than_are_of_use() {
    // Unlimited means: as many as the plan can use, never one for each node of a chain.
    let mut builder = WalkGraph::builder(1000);
    for node in 1..1000 {
        builder.edge(node, node - 1, Relation::Needs);
    }
    let graph = builder.build().unwrap();
    let caller = std::thread::current().id();
    let work = |_: usize, _: &Context| {
        assert_eq!(std::thread::current().id(), caller, "a chain needs no second thread");
        Outcome::Succeeded
    };
    let report = walk(&graph, &WalkOptions::default().parallelism(usize::MAX), &work, &mut |_| ());
    assert!(report.is_success(), "{:?}", report.failures());
}

#[test]
fn what_a_dependency_wrote_is_seen() {
    let mut builder = WalkGraph::builder(200);
    for node in 100..200 {
        for dependency in 0..100 {
            builder.edge(node, dependency, Relation::Needs);
        }
    }
    let graph = builder.build().unwrap();
    let written: Vec<AtomicUsize> = (0..100).map(|_| AtomicUsize::new(0)).collect();
    let work = |node: usize, _: &Context| {
        if node < 100 {
            written[node].store(node + 1, std::sync::atomic::Ordering::Relaxed);
        } else {
            let sum: usize = written.iter().map(|cell| cell.load(std::sync::atomic::Ordering::Relaxed)).sum();
            assert_eq!(sum, 5050);
        }
        Outcome::Succeeded
    };
    let report = walk(&graph, &WalkOptions::default().parallelism(8), &work, &mut |_| ());
    assert!(report.is_success(), "{:?}", report.failures());
}
