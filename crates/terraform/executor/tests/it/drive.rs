//! The drivers of futures.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use groundstate_executor::drive;
use groundstate_schedule::walk::{Event, Outcome, Relation, Settled, StopToken, WalkGraph, WalkOptions};

fn chain(nodes: usize) -> WalkGraph {
    let mut builder = WalkGraph::builder(nodes);
    for node in 1..nodes {
        builder.edge(node, node - 1, Relation::Needs);
    }
    builder.build().unwrap()
}

/// Sleeps now and then, fails at every tenth node of a graph that is wide and deep, and notes starts and ends.
async fn work(node: usize, log: Arc<Mutex<Vec<(bool, usize)>>>) -> Outcome {
    log.lock().unwrap().push((true, node));
    if node.is_multiple_of(3) {
        tokio::time::sleep(Duration::from_micros(50)).await;
    }
    tokio::task::yield_now().await;
    log.lock().unwrap().push((false, node));
    if node % 10 == 7 { Outcome::Failed(format!("node {node}")) } else { Outcome::Succeeded }
}

fn layers() -> (WalkGraph, Vec<(usize, usize)>) {
    let edges: Vec<_> = (20..200)
        .flat_map(|node| [(node, node - 20), (node, node - 13), (node, node - 20 + node % 3)])
        .collect();
    let mut builder = WalkGraph::builder(200);
    for &(from, to) in &edges {
        builder.edge(from, to, Relation::Needs);
    }
    (builder.build().unwrap(), edges)
}

fn check(log: &[(bool, usize)], edges: &[(usize, usize)], limit: usize) {
    let (mut ended, mut running, mut most) = (std::collections::BTreeSet::new(), 0_usize, 0);
    for (starts, node) in log {
        if *starts {
            running += 1;
            most = most.max(running);
            for (_, dependency) in edges.iter().filter(|edge| edge.0 == *node) {
                assert!(ended.contains(dependency), "{node} started before {dependency} ended");
            }
        } else {
            running -= 1;
            ended.insert(*node);
        }
    }
    assert!(most <= limit, "{most} at once");
    assert!(most > 1, "operations take turns");
}

#[tokio::test]
async fn futures_keep_to_the_rules() {
    let (graph, edges) = layers();
    let log = Arc::new(Mutex::new(Vec::new()));
    let options = WalkOptions::default().parallelism(6);
    let report = drive(&graph, &options, |node| work(node, Arc::clone(&log)), &mut |_| ()).await;
    check(&log.lock().unwrap(), &edges, 6);
    assert!(report.failures().values().all(|text| text.starts_with("node ")));
    assert_eq!(report.nodes(Settled::SkippedStopped).count(), 0);
    assert!(report.nodes(Settled::SkippedUpstream).count() > 0);
}

#[cfg(feature = "tokio")]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tasks_keep_to_the_rules_and_come_to_the_same_result() {
    let (graph, edges) = layers();
    let graph = Arc::new(graph);
    let log = Arc::new(Mutex::new(Vec::new()));
    let options = WalkOptions::default().parallelism(6);
    let shared = Arc::clone(&log);
    let execute = move |node| work(node, Arc::clone(&shared));
    let report = groundstate_executor::drive_spawned(&graph, &options, execute, |_| ()).await;
    check(&log.lock().unwrap(), &edges, 6);
    let alone = Arc::default();
    let same = drive(&graph, &options, |node| work(node, Arc::clone(&alone)), &mut |_| ()).await;
    assert_eq!(report, same);
}

#[cfg(feature = "tokio")]
#[tokio::test]
async fn panics_of_tasks_are_failures() {
    let graph = Arc::new(chain(3));
    let execute = |node| async move {
        assert!(node != 1, "node {node} breaks");
        Outcome::Succeeded
    };
    let report = groundstate_executor::drive_spawned(&graph, &WalkOptions::default(), execute, |_| ()).await;
    assert_eq!(report.failures()[&1], "the operation panicked: node 1 breaks");
    assert_eq!(report.settled(2), Settled::SkippedUpstream);
}

#[cfg(feature = "tokio")]
#[tokio::test]
async fn dropping_a_walk_on_tasks_aborts_them() {
    let graph = Arc::new(WalkGraph::builder(5).build().unwrap());
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let execute = move |_| {
        let held = Arc::clone(&held);
        async move {
            std::future::pending::<()>().await;
            drop(held);
            Outcome::Succeeded
        }
    };
    let options = WalkOptions::default();
    let walk = groundstate_executor::drive_spawned(&graph, &options, execute, |_| ());
    tokio::time::timeout(Duration::from_millis(20), walk).await.unwrap_err();
    while Arc::strong_count(&alive) > 1 {
        tokio::task::yield_now().await;
    }
}

#[cfg(feature = "tokio")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_are_observed_and_stopped() {
    let graph = Arc::new(chain(100));
    let stop = StopToken::new();
    let token = stop.clone();
    let execute = move |node| {
        if node == 9 {
            token.request();
        }
        async { Outcome::Succeeded }
    };
    let events = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&events);
    let options = WalkOptions::default().stop(stop);
    let observe = move |event| seen.lock().unwrap().push(event);
    let report = groundstate_executor::drive_spawned(&graph, &options, execute, observe).await;
    assert_eq!(report.nodes(Settled::SkippedStopped).count(), 90);
    assert_eq!(events.lock().unwrap().len(), 10 * 2 + 90);
    let nothing = Arc::new(WalkGraph::builder(0).build().unwrap());
    let none = |_| async { Outcome::Succeeded };
    assert!(groundstate_executor::drive_spawned(&nothing, &options, none, |_| ()).await.is_success());
}

#[tokio::test]
async fn panics_are_failures() {
    let graph = chain(3);
    let execute = |node| async move {
        tokio::task::yield_now().await;
        assert!(node != 1, "node {node} breaks");
        Outcome::Succeeded
    };
    let report = drive(&graph, &WalkOptions::default(), execute, &mut |_| ()).await;
    assert_eq!(report.failures()[&1], "the operation panicked: node 1 breaks");
    assert_eq!(report.settled(2), Settled::SkippedUpstream);
}

#[tokio::test]
async fn a_stop_during_an_operation_lets_it_end() {
    let graph = chain(100);
    let stop = StopToken::new();
    let execute = |node| {
        let stop = stop.clone();
        async move {
            if node == 9 {
                stop.request();
                tokio::task::yield_now().await;
            }
            Outcome::Succeeded
        }
    };
    let options = WalkOptions::default().stop(stop.clone());
    let mut events = Vec::new();
    let report = drive(&graph, &options, execute, &mut |event| events.push(event)).await;
    assert_eq!(report.nodes(Settled::Succeeded).count(), 10);
    assert_eq!(report.nodes(Settled::SkippedStopped).count(), 90);
    assert_eq!(events.len(), 10 * 2 + 90);
    assert_eq!(events[..2], [Event::Started(0), Event::Settled(0, Settled::Succeeded)]);
}

#[tokio::test]
async fn long_walks_let_other_tasks_run() {
    let graph = chain(2_000);
    let turns = AtomicUsize::new(0);
    let options = WalkOptions::default();
    let mut observe = |_| ();
    let walk = drive(&graph, &options, async |_| Outcome::Succeeded, &mut observe);
    let other = async {
        for _ in 0..5 {
            turns.fetch_add(1, SeqCst);
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        report = walk => assert!(report.is_success()),
        () = other => {}
    }
    assert!(turns.load(SeqCst) > 1, "the walk came to its end in one go");
}

#[tokio::test]
async fn only_futures_that_were_woken_are_polled() {
    let graph = WalkGraph::builder(50).build().unwrap();
    let polls = AtomicUsize::new(0);
    let (sender, _) = tokio::sync::broadcast::channel::<()>(1);
    let execute = |node| {
        let mut receiver = sender.subscribe();
        let polls = &polls;
        async move {
            let mut wait = std::pin::pin!(async {
                if node == 0 {
                    for _ in 0..100 {
                        tokio::task::yield_now().await;
                    }
                } else {
                    receiver.recv().await.ok();
                }
            });
            std::future::poll_fn(|context| {
                polls.fetch_add(1, SeqCst);
                wait.as_mut().poll(context)
            })
            .await;
            Outcome::Succeeded
        }
    };
    let options = WalkOptions::default().parallelism(50);
    let mut observe = |event| {
        if event == Event::Settled(0, Settled::Succeeded) {
            sender.send(()).ok();
        }
    };
    let report = drive(&graph, &options, execute, &mut observe).await;
    assert!(report.is_success());
    assert!(polls.load(SeqCst) < 101 + 49 * 4, "{} polls", polls.load(SeqCst));
}
