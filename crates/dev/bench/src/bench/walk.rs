//! `groundstate-bench walk`: what a walk costs for each node when the operations cost nothing, with every driver.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use groundstate_executor::{drive, drive_spawned};
use groundstate_schedule::walk::{Context, Outcome as Ended, Relation, WalkGraph, WalkOptions, walk};

use super::{Failure, Outcome, machine, median};

/// The limit, in microseconds for each node, at ten operations at once.
const LIMIT: f64 = 10.0;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Nodes of the graphs
    #[arg(long, default_value_t = 100_000)]
    nodes: usize,
    /// How many operations run at once
    #[arg(long, value_delimiter = ',', default_values_t = [1, 10, 64])]
    parallelism: Vec<usize>,
    /// How often each thing is run
    #[arg(long, default_value_t = 5)]
    runs: usize,
}

/// Measures, prints a table, and fails when the limit is missed.
pub(crate) fn run(options: &Options) -> Outcome {
    if cfg!(debug_assertions) {
        let message = "figures of a debug build say nothing: run `cargo xtask bench walk`";
        return Err(Failure::Missing(message.to_owned()));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .build()
        .map_err(|error| Failure::Step(format!("no runtime: {error}")))?;
    println!("- machine: {}\n", machine::line());
    println!("| graph | at once | state machine, µs | threads, µs | one task, µs | tokio tasks, µs |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    let mut missed = 0;
    for (name, graph) in graphs(options.nodes)? {
        for &parallelism in &options.parallelism {
            let with = WalkOptions::default().parallelism(parallelism);
            let succeed = |_: usize, _: &Context| Ended::Succeeded;
            let time = |run: &mut dyn FnMut()| per_node(options, run);
            let figures = [
                time(&mut || alone(&graph, parallelism)),
                time(&mut || drop(walk(&graph, &with, &succeed, &mut |_| ()))),
                time(&mut || {
                    drop(runtime.block_on(drive(&graph, &with, async |_| Ended::Succeeded, &mut |_| ())))
                }),
                time(&mut || {
                    let execute = |_| async { Ended::Succeeded };
                    drop(runtime.block_on(drive_spawned(&graph, &with, execute, |_| ())));
                }),
            ];
            let cells = figures.map(|figure| format!("{figure:.2}")).join(" | ");
            println!("| {name} | {parallelism} | {cells} |");
            if parallelism == 10 {
                missed += figures.iter().filter(|figure| **figure > LIMIT).count();
            }
        }
    }
    if missed == 0 { Ok(()) } else { Err(Failure::Missed(missed)) }
}

/// The middle of the times, in microseconds for each node.
fn per_node(options: &Options, run: &mut dyn FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    let times: Vec<Duration> = (0..options.runs.max(1)).map(time).collect();
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / options.nodes.max(1) as f64;
    median(times.into_iter().map(micros).collect())
}

/// The state machine without any driver.
fn alone(graph: &WalkGraph, parallelism: usize) {
    use groundstate_schedule::walk::{OnFailure, Walker};
    let mut walker = Walker::new(graph, parallelism, OnFailure::Continue);
    let mut running = std::collections::VecDeque::new();
    loop {
        running.extend(std::iter::from_fn(|| walker.start_next()));
        let Some(node) = running.pop_front() else { break };
        if walker.finish(node, Ended::Succeeded).is_err() {
            break;
        }
    }
    drop(walker.into_report());
}

/// Nodes without edges, in one chain, and in layers of a hundred with three dependencies each.
fn graphs(nodes: usize) -> Outcome<Vec<(&'static str, Arc<WalkGraph>)>> {
    let build = |edges: &dyn Fn(usize) -> Vec<usize>| {
        let mut builder = WalkGraph::builder(nodes);
        for node in 0..nodes {
            for to in edges(node) {
                builder.edge(node, to, Relation::Needs);
            }
        }
        builder.build().map(Arc::new).map_err(|error| Failure::Step(error.to_string()))
    };
    let layered = |node: usize| {
        let before = node / 100 * 100;
        (0..3).filter(|_| before > 0).map(|at| before - 100 + (node * 7 + at * 31) % 100).collect()
    };
    Ok(vec![
        ("independent", build(&|_| Vec::new())?),
        ("chain", build(&|node| node.checked_sub(1).into_iter().collect())?),
        ("layers of 100, 3 edges each", build(&layered)?),
    ])
}
