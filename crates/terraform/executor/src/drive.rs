//! A driver of walks inside one task: operations are futures that take turns.

use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use groundstate_schedule::walk::{Event, Outcome, WalkGraph, WalkOptions, WalkReport, Walker, panic_text};
use groundstate_statemgr::catch_panic;

/// After so many operations in a row the task lets others run.
const BUDGET: usize = 128;

/// Walks the graph with futures until every node has settled. It needs no runtime of a certain kind, and no threads.
///
/// A panic of an operation is its failure. Dropping the future that is returned drops the operations that run.
pub async fn drive<F: Future<Output = Outcome>>(
    graph: &WalkGraph,
    options: &WalkOptions,
    mut execute: impl FnMut(usize) -> F,
    observe: &mut (dyn FnMut(Event) + Send),
) -> WalkReport {
    let mut walker = Walker::new(graph, options.parallelism, options.on_failure);
    let woken = Arc::new(Woken::default());
    let mut running: BTreeMap<usize, Running<_>> = BTreeMap::new();
    poll_fn(|context| {
        woken.listen(context.waker());
        for _ in 0..BUDGET {
            if options.stop.is_requested() {
                walker.stop();
            }
            start(&mut walker, observe, |node| {
                let waker = Waker::from(Arc::new(NodeWaker { node, woken: Arc::clone(&woken) }));
                running.insert(node, Running { future: Box::pin(outcome(execute(node))), waker });
                woken.push(node);
            });
            if walker.is_finished() {
                return Poll::Ready(());
            }
            let Some(node) = woken.pop() else { return Poll::Pending };
            let Some(operation) = running.get_mut(&node) else { continue };
            let polled = operation.future.as_mut().poll(&mut Context::from_waker(&operation.waker));
            if let Poll::Ready(outcome) = polled {
                running.remove(&node);
                // Cannot fail for a node that runs.
                let finished = walker.finish(node, outcome);
                debug_assert!(finished.is_ok());
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
    walker.into_report()
}

/// Starts all that may start, and tells of it and of what has settled.
fn start(
    walker: &mut Walker<&WalkGraph>,
    observe: &mut (dyn FnMut(Event) + Send),
    mut begin: impl FnMut(usize),
) {
    loop {
        let next = walker.start_next();
        for (node, settled) in walker.take_news() {
            observe(Event::Settled(node, settled));
        }
        let Some(node) = next else { return };
        observe(Event::Started(node));
        begin(node);
    }
}

/// The outcome of an operation, whose panic is a failure.
pub(crate) async fn outcome(operation: impl Future<Output = Outcome>) -> Outcome {
    match catch_panic(operation).await {
        Ok(outcome) => outcome,
        Err(payload) => Outcome::Failed(panic_text(&*payload)),
    }
}

struct Running<F> {
    future: Pin<Box<F>>,
    waker: Waker,
}

/// The nodes whose futures want to be polled, so that no others are.
#[derive(Debug, Default)]
struct Woken(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    nodes: VecDeque<usize>,
    task: Option<Waker>,
}

#[derive(Debug)]
struct NodeWaker {
    node: usize,
    woken: Arc<Woken>,
}

impl Woken {
    fn listen(&self, task: &Waker) {
        let mut queue = self.queue();
        match &mut queue.task {
            Some(known) => known.clone_from(task),
            none => *none = Some(task.clone()),
        }
    }

    fn push(&self, node: usize) {
        self.queue().nodes.push_back(node);
    }

    fn pop(&self) -> Option<usize> {
        self.queue().nodes.pop_front()
    }

    fn queue(&self) -> std::sync::MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for NodeWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let task = {
            let mut queue = self.woken.queue();
            queue.nodes.push_back(self.node);
            queue.task.clone()
        };
        if let Some(task) = task {
            task.wake();
        }
    }
}
