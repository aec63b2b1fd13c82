//! The state machine of a walk.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Deref;

use super::{Settled, WalkGraph, WalkReport};

/// How many operations run at once by default.
pub const DEFAULT_PARALLELISM: usize = 10;

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It did what it was to do.
    Succeeded,
    /// It did not, for this reason.
    Failed(String),
    /// It was not even tried, for this reason. As a failure, but one that never stops the rest of the walk.
    Refused(String),
}

/// What a failure does to operations that do not depend on what failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// They go on.
    #[default]
    Continue,
    /// None starts any more.
    Stop,
}

/// A call that does not fit to the state of the walk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WalkerError {
    /// The node was said to have ended, but it was not started or ended before.
    #[error("node {node} is not running, finish each node once and only after it was started")]
    NotRunning {
        /// The node.
        node: usize,
    },
}

/// Decides what may start. Ask [`start_next`](Self::start_next) until there is nothing, do the work in any way and in
/// any order, report each end to [`finish`](Self::finish), and ask again.
///
/// The graph may be borrowed or shared.
#[derive(Clone, Debug)]
pub struct Walker<G> {
    graph: G,
    parallelism: usize,
    on_failure: OnFailure,
    /// How many dependencies of each node have not settled yet.
    waiting: Vec<u32>,
    fates: Vec<Fate>,
    blocked: Vec<Blocked>,
    ready: BinaryHeap<Reverse<usize>>,
    running: usize,
    left: usize,
    stopping: bool,
    failures: BTreeMap<usize, String>,
    news: Vec<(usize, Settled)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Waiting,
    Ready,
    Running,
    Settled(Settled),
}

/// What is known to keep a node from running. The later variant outweighs the earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Blocked {
    No,
    ByStop,
    ByFailure,
}

impl<G: Deref<Target = WalkGraph> + Clone> Walker<G> {
    /// At the beginning of a walk with at most `parallelism` operations at once; 0 means
    /// [`DEFAULT_PARALLELISM`], and there is no upper limit.
    #[must_use]
    pub fn new(graph: G, parallelism: usize, on_failure: OnFailure) -> Self {
        let nodes = graph.node_count();
        let mut walker = Self {
            parallelism: limit(parallelism),
            on_failure,
            waiting: graph.waiting_counts(),
            graph,
            fates: vec![Fate::Waiting; nodes],
            blocked: vec![Blocked::No; nodes],
            ready: BinaryHeap::new(),
            running: 0,
            left: nodes,
            stopping: false,
            failures: BTreeMap::new(),
            news: Vec::new(),
        };
        // All are examined before barriers settle, which brings others to zero.
        let free: Vec<usize> = (0..nodes).filter(|&node| walker.waiting[node] == 0).collect();
        let mut work = Vec::new();
        for node in free {
            walker.examine(node, &mut work);
        }
        walker.settle_all(work);
        walker
    }

    /// Starts the ready node of the smallest number, if another operation may run now.
    pub fn start_next(&mut self) -> Option<usize> {
        while self.running < self.parallelism {
            let Reverse(node) = self.ready.pop()?;
            if self.blocked[node] == Blocked::No {
                self.fates[node] = Fate::Running;
                self.running += 1;
                return Some(node);
            }
            self.settle(node, self.blocked[node].settled());
        }
        None
    }

    /// Takes note of the end of a node that was started.
    ///
    /// # Errors
    /// When the node is not running; the walk stays as it was.
    pub fn finish(&mut self, node: usize, outcome: Outcome) -> Result<(), WalkerError> {
        if self.fates.get(node) != Some(&Fate::Running) {
            return Err(WalkerError::NotRunning { node });
        }
        self.running -= 1;
        let (message, stops) = match outcome {
            Outcome::Succeeded => {
                self.settle(node, Settled::Succeeded);
                return Ok(());
            }
            Outcome::Failed(message) => (message, self.on_failure == OnFailure::Stop),
            Outcome::Refused(message) => (message, false),
        };
        self.failures.insert(node, message);
        self.settle(node, Settled::Failed);
        if stops {
            self.stop();
        }
        Ok(())
    }

    /// Lets nothing start any more. What runs is to be finished as before.
    pub fn stop(&mut self) {
        if std::mem::replace(&mut self.stopping, true) {
            return;
        }
        while let Some(Reverse(node)) = self.ready.pop() {
            let blocked = self.blocked[node].max(Blocked::ByStop);
            self.settle(node, blocked.settled());
        }
    }

    /// Whether nothing starts any more.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// Whether every node has settled.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.left == 0
    }

    /// How many operations were started and have not ended.
    #[must_use]
    pub fn running(&self) -> usize {
        self.running
    }

    /// Whether [`start_next`](Self::start_next) may have something to start.
    #[must_use]
    pub fn may_start(&self) -> bool {
        self.running < self.parallelism && !self.ready.is_empty()
    }

    /// What has settled since the last call, in that order. Barriers are left out.
    pub fn take_news(&mut self) -> Vec<(usize, Settled)> {
        std::mem::take(&mut self.news)
    }

    /// How the walk ended. Nodes that have not settled yet count as stopped.
    #[must_use]
    pub fn into_report(mut self) -> WalkReport {
        self.stop();
        let settled = self.fates.iter().map(|fate| match fate {
            Fate::Settled(settled) => *settled,
            Fate::Waiting | Fate::Ready | Fate::Running => Settled::SkippedStopped,
        });
        WalkReport { settled: settled.collect(), failures: self.failures }
    }

    fn settle(&mut self, node: usize, settled: Settled) {
        self.settle_all(vec![(node, settled)]);
    }

    /// Settles nodes, and with them every waiter that is now known not to run. A work list in place of recursion.
    fn settle_all(&mut self, mut work: Vec<(usize, Settled)>) {
        let graph = self.graph.clone();
        while let Some((node, settled)) = work.pop() {
            self.fates[node] = Fate::Settled(settled);
            self.left -= 1;
            if !graph.is_barrier(node) {
                self.news.push((node, settled));
            }
            for (waiter, relation) in graph.waiters.of(node) {
                if relation.needs_success() {
                    self.blocked[waiter] = self.blocked[waiter].max(Blocked::by(settled));
                }
                if relation.waits() {
                    self.waiting[waiter] -= 1;
                    if self.waiting[waiter] == 0 {
                        self.examine(waiter, &mut work);
                    }
                }
            }
        }
    }

    /// Decides about a node whose dependencies have all settled; it comes here once.
    fn examine(&mut self, node: usize, work: &mut Vec<(usize, Settled)>) {
        match self.blocked[node] {
            Blocked::No if self.graph.is_barrier(node) => work.push((node, Settled::Succeeded)),
            Blocked::No if self.stopping => work.push((node, Settled::SkippedStopped)),
            Blocked::No => {
                self.fates[node] = Fate::Ready;
                self.ready.push(Reverse(node));
            }
            blocked => work.push((node, blocked.settled())),
        }
    }
}

/// The number of operations that a given number means.
#[must_use]
pub fn limit(parallelism: usize) -> usize {
    if parallelism == 0 { DEFAULT_PARALLELISM } else { parallelism }
}

impl Blocked {
    /// What a dependency that settled so does to those that need it.
    fn by(settled: Settled) -> Self {
        match settled {
            Settled::Succeeded => Self::No,
            Settled::SkippedStopped => Self::ByStop,
            Settled::Failed | Settled::SkippedUpstream => Self::ByFailure,
        }
    }

    fn settled(self) -> Settled {
        match self {
            Self::No => Settled::Succeeded,
            Self::ByStop => Settled::SkippedStopped,
            Self::ByFailure => Settled::SkippedUpstream,
        }
    }
}
