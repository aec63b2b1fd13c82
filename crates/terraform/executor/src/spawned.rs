//! A driver of walks on tokio: as many tasks as there is work for at once.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use groundstate_schedule::walk::{Event, Outcome, StopToken, WalkGraph, WalkOptions, WalkReport, Walker};
use tokio::sync::Notify;
use tokio::task::{JoinSet, yield_now};

use crate::drive::outcome;

/// After so many operations in a row a task lets others run.
const BUDGET: usize = 64;

/// Walks the graph on tasks until every node has settled; as [`drive`](crate::drive), but on all threads of the runtime.
///
/// A task that has done an operation takes the next one itself, so a chain needs no hand-over. It must be awaited on a
/// tokio runtime. Dropping the future that is returned aborts the tasks.
pub async fn drive_spawned<F: Future<Output = Outcome> + Send + 'static>(
    graph: &Arc<WalkGraph>,
    options: &WalkOptions,
    execute: impl Fn(usize) -> F + Send + Sync + 'static,
    observe: impl FnMut(Event) + Send + 'static,
) -> WalkReport {
    let walker = Walker::new(Arc::clone(graph), options.parallelism, options.on_failure);
    let progress = Progress { walker, observe: Box::new(observe), tasks: JoinSet::new(), starting: false };
    let pool = Arc::new(Pool {
        progress: Mutex::new(progress),
        execute,
        stop: options.stop.clone(),
        finished: Notify::new(),
    });
    let aborting = Aborting(&pool);
    pool.call_another(&mut pool.lock());
    while !pool.lock().walker.is_finished() {
        pool.finished.notified().await;
    }
    drop(aborting);
    pool.lock().walker.clone().into_report()
}

struct Pool<E> {
    progress: Mutex<Progress>,
    execute: E,
    stop: StopToken,
    finished: Notify,
}

struct Progress {
    walker: Walker<Arc<WalkGraph>>,
    observe: Box<dyn FnMut(Event) + Send>,
    tasks: JoinSet<()>,
    /// A task was called that has not looked for work yet.
    starting: bool,
}

impl<F, E> Pool<E>
where
    F: Future<Output = Outcome> + Send + 'static,
    E: Fn(usize) -> F + Send + Sync + 'static,
{
    async fn work(self: Arc<Self>) {
        let mut next = {
            let mut progress = self.lock();
            progress.starting = false;
            self.take(&mut progress)
        };
        let mut done = 0;
        while let Some(node) = next {
            let outcome = outcome((self.execute)(node)).await;
            next = self.finish(node, outcome);
            done += 1;
            if done % BUDGET == 0 {
                yield_now().await;
            }
        }
    }

    fn finish(self: &Arc<Self>, node: usize, outcome: Outcome) -> Option<usize> {
        let mut progress = self.lock();
        // Cannot fail for a node that this task has started.
        let finished = progress.walker.finish(node, outcome);
        debug_assert!(finished.is_ok());
        self.take(&mut progress)
    }

    /// The next node to work on. If there are more, another task is called, which does the same.
    fn take(self: &Arc<Self>, progress: &mut Progress) -> Option<usize> {
        if self.stop.is_requested() {
            progress.walker.stop();
        }
        let next = progress.walker.start_next();
        for (node, settled) in progress.walker.take_news() {
            (progress.observe)(Event::Settled(node, settled));
        }
        if let Some(node) = next {
            (progress.observe)(Event::Started(node));
        }
        if progress.walker.is_finished() {
            self.finished.notify_one();
        } else if progress.walker.may_start() {
            self.call_another(progress);
        }
        next
    }

    fn call_another(self: &Arc<Self>, progress: &mut Progress) {
        if !std::mem::replace(&mut progress.starting, true) {
            // Those that have ended are forgotten, so that the set stays as small as what runs.
            while progress.tasks.try_join_next().is_some() {}
            progress.tasks.spawn(Arc::clone(self).work());
        }
    }
}

impl<E> Pool<E> {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Aborts the tasks of an abandoned walk.
struct Aborting<'a, E>(&'a Pool<E>);

impl<E> Drop for Aborting<'_, E> {
    fn drop(&mut self) {
        self.0.lock().tasks.abort_all();
    }
}
