//! The recorder: writes what waits as one batch, and moves batches into the chain now and then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use groundstate_blobs::Context;
use tokio::sync::{Notify, mpsc, oneshot};
use tracing::{debug, warn};

use crate::batch;
use crate::chaining::Chainer;
use crate::entry::Record;
use crate::error::{Error, Result};
use crate::event::{Event, Outcome};
use crate::hash::Hash;
use crate::location::{BatchName, Location, Written};
use crate::log::{Condition, Request};
use crate::op::Op;

/// How many records a batch has at most.
const BATCH: usize = 256;
/// How long to wait before a batch that could not be written is tried again.
const AGAIN: Duration = Duration::from_secs(1);
/// How often batches are moved into the chain.
const INTERVAL: Duration = Duration::from_secs(5);

/// Does the work of an [`AuditLog`](crate::AuditLog).
///
/// A program runs it as a task. It ends when every handle is dropped and what they recorded is written and chained.
#[derive(Debug)]
#[must_use = "nothing is recorded unless it runs"]
pub struct Recorder {
    writer: Writer,
    chainer: Chainer,
    interval: Duration,
    chains: bool,
    context: Context,
}

/// Writes batches, one at a time.
#[derive(Debug)]
struct Writer {
    location: Location,
    node: String,
    run: String,
    /// The number of the next record.
    next: u64,
    /// The hash of the last batch.
    last: Hash,
    requests: mpsc::Receiver<Request>,
    condition: Arc<Condition>,
    sleeper: Arc<dyn groundstate_common::Sleeper>,
    clock: Arc<dyn groundstate_common::Clock>,
}

/// What the two halves of the recorder tell each other.
#[derive(Debug, Default)]
struct Signal {
    work: Notify,
    is_over: AtomicBool,
}

impl Recorder {
    pub(crate) fn new(
        location: Location,
        node: &str,
        run: String,
        context: Context,
        requests: mpsc::Receiver<Request>,
        condition: Arc<Condition>,
    ) -> Self {
        let writer = Writer {
            location: location.clone(),
            node: node.to_owned(),
            run,
            next: 1,
            last: Hash::START,
            requests,
            condition,
            sleeper: Arc::clone(&context.sleeper),
            clock: Arc::clone(&context.clock),
        };
        Self { writer, chainer: Chainer::new(location), interval: INTERVAL, chains: true, context }
    }

    /// Sets how often batches are moved into the chain; every five seconds otherwise.
    pub fn interval(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    /// Sets from how many bytes on a segment is full; 256 KiB otherwise. It holds for segments that this process begins.
    pub fn segment_bytes(mut self, limit: u64) -> Self {
        self.chainer.segment_bytes(limit);
        self
    }

    /// Leaves it to other nodes to move batches into the chain, such as where this one may not delete.
    pub fn batches_only(mut self) -> Self {
        self.chains = false;
        self
    }

    /// Records until every handle is dropped.
    pub async fn run(self) {
        let Self { mut writer, mut chainer, interval, chains, context } = self;
        let signal = Signal::default();
        let writing = async {
            writer.run(&signal).await;
            signal.is_over.store(true, Ordering::Release);
            signal.work.notify_one();
        };
        let chaining = async {
            // What processes left that are gone is chained first.
            let mut is_last = false;
            loop {
                if let Err(error) = chainer.chain_all().await {
                    warn!(error = %error, "the audit log cannot be chained, its batches stay as they are");
                }
                if is_last {
                    return;
                }
                signal.work.notified().await;
                if !signal.is_over.load(Ordering::Acquire) {
                    tokio::select! {
                        () = context.sleeper.sleep(interval) => {}
                        () = over(&signal) => {}
                    }
                }
                is_last = signal.is_over.load(Ordering::Acquire);
            }
        };
        match chains {
            true => tokio::join!(writing, chaining).0,
            false => writing.await,
        }
    }
}

/// Waits until nothing more is written.
async fn over(signal: &Signal) {
    while !signal.is_over.load(Ordering::Acquire) {
        signal.work.notified().await;
    }
}

impl Writer {
    async fn run(&mut self, signal: &Signal) {
        let mut waiting = Vec::new();
        while self.requests.recv_many(&mut waiting, BATCH).await > 0 {
            let (records, mut answers) = self.take(&mut waiting);
            let count = records.len();
            while let Err(error) = self.write(&records).await {
                warn!(error = %error, count, "entries of the audit log cannot be written, trying again");
                self.condition.is_failing.store(true, Ordering::Release);
                tell(&mut answers, &Err(error));
                self.sleeper.sleep(AGAIN).await;
                if self.requests.is_closed() && self.write(&records).await.is_err() {
                    // The program ends, and cannot wait for a store that does not answer.
                    let count = count + self.requests.len();
                    warn!(count, "entries of the audit log are lost");
                    return;
                }
            }
            self.condition.is_failing.store(false, Ordering::Release);
            self.next = self.next.saturating_add(count as u64);
            debug!(count, "entries are durable");
            tell(&mut answers, &Ok(()));
            signal.work.notify_one();
        }
    }

    /// The records of what waits, and who waits for them.
    fn take(&self, waiting: &mut Vec<Request>) -> (Vec<Record>, Vec<oneshot::Sender<Result<()>>>) {
        let (mut records, mut answers) = (Vec::new(), Vec::new());
        let mut push = |event: Event, time| {
            let number = self.next.saturating_add(records.len() as u64);
            records.push(Record::new(event, time, &self.node, &self.run, number));
        };
        let lost = self.condition.lost.swap(0, Ordering::Relaxed);
        for request in waiting.drain(..) {
            push(request.event, request.time);
            answers.extend(request.answer);
        }
        if lost > 0 {
            let event = Event::new("system", "audit.lose", format!("{lost} entries"), Outcome::Failed)
                .reason("too many waited to be written");
            push(event, self.clock.now());
        }
        (records, answers)
    }

    /// Writes a batch. The same batch can be written again until it is known to be there: its name is used for nothing else.
    async fn write(&mut self, records: &[Record]) -> Result<()> {
        let (bytes, hash) = batch::encode(&self.run, records, self.last);
        let name = BatchName { run: self.run.clone(), first: self.next }.to_string();
        match self.location.put(Op::Record, &name, &bytes, None).await? {
            Written::Yes(_) => {
                self.last = hash;
                Ok(())
            }
            Written::No => {
                let message = "another process uses the name of its batch";
                Err(self.location.error(crate::ErrorKind::Internal, Op::Record).because(message))
            }
        }
    }
}

fn tell(answers: &mut Vec<oneshot::Sender<Result<()>>>, outcome: &Result<(), Error>) {
    answers.drain(..).for_each(|answer| Request::tell(answer, outcome));
}
