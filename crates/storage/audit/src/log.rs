//! The handle by which a program records.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use groundstate_blobs::Context;
use groundstate_common::{Clock, Timestamp};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::location::Location;
use crate::op::Op;
use crate::recorder::Recorder;

/// How many events wait for the recorder at most.
const QUEUE: usize = 4096;

/// Records events. Clones record into the same log; the recorder ends when the last one is dropped.
#[derive(Clone, Debug)]
pub struct AuditLog {
    location: Location,
    clock: Arc<dyn Clock>,
    queue: mpsc::Sender<Request>,
    condition: Arc<Condition>,
}

/// An event for the recorder.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) event: Event,
    pub(crate) time: Timestamp,
    /// Who waits until it is durable.
    pub(crate) answer: Option<oneshot::Sender<Result<()>>>,
}

/// What the handle and the recorder know of each other.
#[derive(Debug, Default)]
pub(crate) struct Condition {
    /// The last batch could not be written.
    pub(crate) is_failing: AtomicBool,
    /// How many events could not wait, because too many did.
    pub(crate) lost: AtomicU64,
}

impl AuditLog {
    /// Opens a log: the handle, and what does the work.
    ///
    /// `node` names this process's machine or place in entries.
    ///
    /// # Errors
    ///
    /// `Internal` when no id can be made for this process.
    pub fn open(location: Location, node: &str, context: Context) -> Result<(Self, Recorder)> {
        let run = context
            .ids
            .uuid()
            .map_err(|error| location.error(ErrorKind::Internal, Op::Use).with_source(error))?;
        let (queue, requests) = mpsc::channel(QUEUE);
        let condition = Arc::new(Condition::default());
        let clock = Arc::clone(&context.clock);
        let recorder = Recorder::new(location.clone(), node, run, context, requests, Arc::clone(&condition));
        Ok((Self { location, clock, queue, condition }, recorder))
    }

    /// Records an event, and returns when its entry is durable.
    ///
    /// While the store fails, it returns with the error at once. The entry waits then, and is recorded when the store works again,
    /// unless the process ends before.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Denied` and others of the store; `Closed` after the recorder has ended.
    pub async fn record(&self, event: Event) -> Result<()> {
        let time = self.clock.now();
        if let Err(error) = self.check() {
            self.send(Request { event, time, answer: None });
            return Err(error);
        }
        let (answer, answered) = oneshot::channel();
        let request = Request { event, time, answer: Some(answer) };
        let closed = || self.location.error(ErrorKind::Closed, Op::Record);
        self.queue.send(request).await.map_err(|_| closed())?;
        answered.await.map_err(|_| closed())?
    }

    /// Records an event without waiting: what is refused or only read is worth an entry, and not a delay.
    ///
    /// If thousands wait already it is counted, and the number becomes an entry.
    pub fn note(&self, event: Event) {
        self.send(Request { event, time: self.clock.now(), answer: None });
    }

    /// Whether entries can be recorded, as far as the last attempt told. A server refuses changes before it makes them while
    /// this fails.
    ///
    /// # Errors
    ///
    /// `Unavailable` while the recorder tries again to write a batch.
    pub fn check(&self) -> Result<()> {
        if self.condition.is_failing.load(Ordering::Acquire) {
            let message = "its last entries could not be written, and are tried again";
            return Err(self.location.error(ErrorKind::Unavailable, Op::Record).because(message));
        }
        Ok(())
    }

    /// Where it is.
    pub fn location(&self) -> &Location {
        &self.location
    }

    fn send(&self, request: Request) {
        if let Err(TrySendError::Full(_)) = self.queue.try_send(request) {
            self.condition.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Request {
    /// Tells who waits what became of it.
    pub(crate) fn tell(answer: oneshot::Sender<Result<()>>, outcome: &Result<()>) {
        let outcome = outcome.as_ref().copied().map_err(Error::again);
        // Who does not wait any more needs no answer.
        drop(answer.send(outcome));
    }
}
