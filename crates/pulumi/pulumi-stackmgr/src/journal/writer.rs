//! The queue before a journal: entries of one moment go together, and nothing comes after what was lost.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use groundstate_pulumi_journal::{Entry, OperationId, Target};

use crate::error::{Error, Result};
use crate::sink::{AppendError, JournalSink};

/// Hands entries to a sink, batch by batch.
///
/// It needs no task of its own: of those who wait, one stores for all.
#[derive(Debug)]
pub(super) struct Writer<S> {
    sink: S,
    batch: usize,
    queue: Mutex<Queue>,
    /// Held by the one who stores.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Arc<Entry>>,
    /// How many entries there have been, and how many of them were handed over, well or not.
    added: u64,
    settled: u64,
    /// Entries without a waiting caller, by the operation they belong to, with their position.
    elided: HashMap<OperationId, u64>,
    /// Why nothing can be stored any more, and from which place on.
    lost: Option<(u64, String)>,
    /// What those have to be told whose entries are kept, but not where they should be, with the places.
    told: Vec<(std::ops::RangeInclusive<u64>, Error)>,
    is_closed: bool,
}

impl<S: JournalSink> Writer<S> {
    pub(super) fn new(sink: S, batch: usize) -> Self {
        Self { sink, batch, queue: Mutex::default(), turn: tokio::sync::Mutex::default() }
    }

    /// Adds an entry, and waits until it is stored unless it is elided.
    pub(super) async fn add(&self, entry: Arc<Entry>, elided: bool) -> Result<()> {
        let place = {
            let mut queue = self.queue();
            queue.check(&entry)?;
            queue.added += 1;
            let place = queue.added;
            if elided {
                queue.elided.insert(entry.operation_id, place);
            }
            queue.waiting.push_back(entry);
            // Entries without a waiting caller must not pile up either.
            if elided && queue.waiting.len() < self.batch {
                return Ok(());
            }
            place
        };
        self.store_until(place).await
    }

    /// Gives up an entry that cannot be stored, and with it all that come later.
    pub(super) fn lose(&self, cause: String) {
        let mut queue = self.queue();
        let place = queue.added + 1;
        queue.lost.get_or_insert((place, cause));
    }

    /// Stores what is left, and closes the sink. What was lost before is an error here as well, however often it is called.
    pub(super) async fn close(&self) -> Result<()> {
        let (last, is_settled) = {
            let mut queue = self.queue();
            queue.is_closed = true;
            // What comes before an entry that was lost is stored nevertheless.
            let last = queue.lost.as_ref().map_or(queue.added, |(from, _)| queue.added.min(from - 1));
            (last, queue.settled >= last)
        };
        // What became of an entry that is settled was told to its caller.
        let stored = if is_settled { Ok(()) } else { self.store_until(last).await };
        let lost = self.queue().lost.as_ref().map(|(_, cause)| Error::Append(cause.clone()));
        let closed = self.sink.close().await;
        stored.and(lost.map_or(Ok(()), Err)).and(closed)
    }

    /// Waits until the entry at a place is stored, and stores itself when it is its turn.
    async fn store_until(&self, place: u64) -> Result<()> {
        loop {
            let _turn = self.turn.lock().await;
            let batch = {
                let mut queue = self.queue();
                if let Some(result) = queue.result(place) {
                    return result;
                }
                let count = queue.waiting.len().min(self.batch);
                queue.waiting.drain(..count).collect::<Vec<_>>()
            };
            // If the storing future is dropped on the way, what is stored is unknown.
            let count = batch.len() as u64;
            let storing = Storing { queue: &self.queue, count, cause: Some(CANCELLED.to_owned()) };
            let outcome = self.append(&batch).await;
            storing.finish(outcome);
        }
    }

    /// Stores a batch, in halves if it is too large for the sink.
    async fn append(&self, batch: &[Arc<Entry>]) -> Result<(), AppendError> {
        let mut parts = vec![batch];
        let mut kept = None;
        while let Some(part) = parts.pop() {
            match self.sink.append(part).await {
                Ok(()) => {}
                Err(AppendError::TooLarge(_)) if part.len() > 1 => {
                    let (first, second) = part.split_at(part.len() / 2);
                    parts.extend([second, first]);
                }
                Err(AppendError::Kept(error)) => kept = Some(error),
                Err(error) => return Err(error),
            }
        }
        kept.map_or(Ok(()), |error| Err(AppendError::Kept(error)))
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        lock(&self.queue)
    }
}

const CANCELLED: &str = "storing was given up on the way, so it is not known what is stored";

fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    // Nothing inside of the lock panics.
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A batch that is being stored.
struct Storing<'a> {
    queue: &'a Mutex<Queue>,
    count: u64,
    cause: Option<String>,
}

impl Storing<'_> {
    fn finish(mut self, outcome: Result<(), AppendError>) {
        self.cause = match outcome {
            Ok(()) => None,
            Err(AppendError::Kept(error)) => {
                let mut queue = lock(self.queue);
                let (first, last) = (queue.settled + 1, queue.settled + self.count);
                queue.told.push((first..=last, error));
                None
            }
            Err(AppendError::TooLarge(cause) | AppendError::Lost(cause)) => Some(cause.to_string()),
        };
    }
}

impl Drop for Storing<'_> {
    fn drop(&mut self) {
        let mut queue = lock(self.queue);
        if let Some(cause) = self.cause.take() {
            let first = queue.settled + 1;
            queue.lost.get_or_insert((first, cause));
        }
        queue.settled += self.count;
        let settled = if queue.lost.is_none() { queue.settled } else { 0 };
        queue.elided.retain(|_, place| *place > settled);
    }
}

impl Queue {
    /// Whether an entry may be added.
    fn check(&self, entry: &Entry) -> Result<()> {
        if self.is_closed {
            return Err(Error::JournalClosed);
        }
        let Some((from, cause)) = &self.lost else { return Ok(()) };
        let elided = entry.targets().find_map(|target| match target {
            Target::New(operation) => {
                self.elided.get(&operation).filter(|place| *place >= from).map(|_| operation)
            }
            Target::Old(_) => None,
        });
        Err(match elided {
            Some(operation) => Error::Elided { operation, cause: cause.clone() },
            None => Error::Append(cause.clone()),
        })
    }

    /// What became of the entry at a place, if it is known.
    fn result(&mut self, place: u64) -> Option<Result<()>> {
        if let Some((from, cause)) = &self.lost
            && place >= *from
        {
            return Some(Err(Error::Append(cause.clone())));
        }
        if self.settled < place {
            return None;
        }
        // The first one to ask gets the whole error, and the others its text.
        let told = self.told.iter_mut().find(|(places, _)| places.contains(&place));
        let Some((_, error)) = told else { return Some(Ok(())) };
        let text = Error::Save(error.to_string().into());
        Some(Err(std::mem::replace(error, text)))
    }
}
