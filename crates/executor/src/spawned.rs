//! A driver of walks on tokio: each operation is a task.

use std::collections::HashMap;
use std::future::Future;

use groundstate_ordering::walk::{Event, Outcome, WalkGraph, WalkOptions, WalkReport, Walker};
use tokio::task::{Id, JoinSet};

use crate::drive::{outcome, start};

/// Walks the graph with tasks until every node has settled; as [`drive`](crate::drive), but on all threads of the runtime.
///
/// It must be awaited on a tokio runtime. Dropping the future that is returned aborts the tasks that run.
pub async fn drive_spawned<F: Future<Output = Outcome> + Send + 'static>(
    graph: &WalkGraph,
    options: &WalkOptions,
    mut execute: impl FnMut(usize) -> F,
    observe: &mut (dyn FnMut(Event) + Send),
) -> WalkReport {
    let mut walker = Walker::new(graph, options.parallelism, options.on_failure);
    let mut tasks = JoinSet::new();
    let mut nodes: HashMap<Id, usize> = HashMap::new();
    loop {
        if options.stop.is_requested() {
            walker.stop();
        }
        start(&mut walker, observe, |node| {
            let task = tasks.spawn(outcome(execute(node)));
            nodes.insert(task.id(), node);
        });
        let Some(joined) = tasks.join_next_with_id().await else { return walker.into_report() };
        let (id, outcome) = match joined {
            Ok(joined) => joined,
            // Panics are caught inside, so the runtime is going down.
            Err(error) => (error.id(), Outcome::Failed(format!("the operation did not end: {error}"))),
        };
        if let Some(node) = nodes.remove(&id) {
            // Cannot fail for a node that was started and not joined before.
            let finished = walker.finish(node, outcome);
            debug_assert!(finished.is_ok());
        }
    }
}
