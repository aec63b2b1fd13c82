//! A driver on a bounded number of threads.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope, scope};

use super::{OnFailure, Outcome, Settled, WalkGraph, WalkReport, Walker, limit};

/// Does the operations of a plan. Every function of a node and a context that may be called from many threads is one.
pub trait Execute: Sync {
    /// Does the operation of a node. All that was done for its dependencies is visible here.
    fn execute(&self, node: usize, context: &Context) -> Outcome;
}

impl<F: Fn(usize, &Context) -> Outcome + Sync> Execute for F {
    fn execute(&self, node: usize, context: &Context) -> Outcome {
        self(node, context)
    }
}

/// What an operation may know of the walk around it.
#[derive(Clone, Debug)]
pub struct Context {
    stop: StopToken,
}

impl Context {
    /// The context of a walk that this token stops.
    #[must_use]
    pub fn new(stop: StopToken) -> Self {
        Self { stop }
    }

    /// Whether the walk is to end: an operation that can end early may do so, and then says that it failed.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stop.is_requested()
    }
}

/// Stops a walk from elsewhere. Clones stop the same walk.
#[derive(Clone, Debug, Default)]
pub struct StopToken(Arc<AtomicBool>);

impl StopToken {
    /// An unused token.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for the stop. A second request changes nothing.
    pub fn request(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether the stop was asked for.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// How to walk.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WalkOptions {
    /// How many operations run at once; 0 means [`DEFAULT_PARALLELISM`](super::DEFAULT_PARALLELISM).
    pub parallelism: usize,
    /// What a failure does to the rest.
    pub on_failure: OnFailure,
    /// Ends the walk early.
    pub stop: StopToken,
}

impl WalkOptions {
    /// Sets how many operations run at once.
    #[must_use]
    pub fn parallelism(mut self, operations: usize) -> Self {
        self.parallelism = operations;
        self
    }

    /// Sets what a failure does to the rest.
    #[must_use]
    pub fn on_failure(mut self, on_failure: OnFailure) -> Self {
        self.on_failure = on_failure;
        self
    }

    /// Sets what ends the walk early.
    #[must_use]
    pub fn stop(mut self, stop: StopToken) -> Self {
        self.stop = stop;
        self
    }
}

/// What an observer of a walk is told, one event at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The operation of a node starts.
    Started(usize),
    /// A node has settled.
    Settled(usize, Settled),
}

/// Walks the graph on the calling thread and others, as many as are of use and at most the limit, until every node has
/// settled.
///
/// A panic of an operation is its failure. Should the system refuse another thread, the walk goes on with those it has.
/// The observer holds up the walk while it works, and must not panic.
pub fn walk(
    graph: &WalkGraph,
    options: &WalkOptions,
    execute: &dyn Execute,
    observe: &mut (dyn FnMut(Event) + Send),
) -> WalkReport {
    let walker = Walker::new(graph, options.parallelism, options.on_failure);
    let shared = Mutex::new(Shared { walker, observe, idle: 0, threads: 1 });
    let pool = Pool {
        shared,
        woken: Condvar::new(),
        execute,
        context: Context::new(options.stop.clone()),
        most: limit(options.parallelism),
    };
    scope(|scope| pool.work(scope));
    pool.shared.into_inner().unwrap_or_else(PoisonError::into_inner).walker.into_report()
}

struct Pool<'p> {
    shared: Mutex<Shared<'p>>,
    woken: Condvar,
    execute: &'p dyn Execute,
    context: Context,
    most: usize,
}

struct Shared<'p> {
    walker: Walker<&'p WalkGraph>,
    observe: &'p mut (dyn FnMut(Event) + Send),
    /// Threads that wait for something to do.
    idle: usize,
    threads: usize,
}

impl<'p> Pool<'p> {
    fn work<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        let mut shared = self.lock();
        loop {
            if self.context.is_stopping() {
                shared.walker.stop();
            }
            let next = shared.walker.start_next();
            shared.tell();
            if let Some(node) = next {
                (shared.observe)(Event::Started(node));
                self.call_others(&mut shared, scope);
                drop(shared);
                let outcome = self.run(node);
                shared = self.lock();
                // Cannot fail for a node that this thread has started.
                let finished = shared.walker.finish(node, outcome);
                debug_assert!(finished.is_ok());
                shared.tell();
            } else if shared.walker.is_finished() {
                self.woken.notify_all();
                return;
            } else {
                shared.idle += 1;
                shared = self.woken.wait(shared).unwrap_or_else(PoisonError::into_inner);
                shared.idle -= 1;
            }
        }
    }

    /// Wakes or starts one more thread if there is more to do; it will do the same for the next.
    fn call_others<'scope>(&'scope self, shared: &mut Shared<'p>, scope: &'scope Scope<'scope, '_>) {
        if !shared.walker.may_start() {
            return;
        }
        if shared.idle > 0 {
            self.woken.notify_one();
        } else if shared.threads < self.most {
            shared.threads += 1;
            if Builder::new().name("walk".to_owned()).spawn_scoped(scope, || self.work(scope)).is_err() {
                // One that the system does not give now will not be asked for again.
                shared.threads = self.most;
            }
        }
    }

    fn run(&self, node: usize) -> Outcome {
        let run = AssertUnwindSafe(|| self.execute.execute(node, &self.context));
        catch_unwind(run).unwrap_or_else(|payload| Outcome::Failed(panic_text(&*payload)))
    }

    fn lock(&self) -> MutexGuard<'_, Shared<'p>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared<'_> {
    fn tell(&mut self) {
        for (node, settled) in self.walker.take_news() {
            (self.observe)(Event::Settled(node, settled));
        }
    }
}

impl fmt::Debug for Shared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("walker", &self.walker).finish_non_exhaustive()
    }
}

/// The message of a failure that was a panic.
#[must_use]
pub fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    format!("the operation panicked: {text}")
}
