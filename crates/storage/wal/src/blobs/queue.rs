//! Batches that wait for a turn, and what became of them.

use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use crate::{Ack, Record, Result};

use tokio::sync::{Mutex as AsyncMutex, MutexGuard as AsyncGuard};

/// How many bytes share an object at most, unless one batch alone is longer.
const GROUP_BYTES: usize = 4 << 20;

/// Everything that waits.
#[derive(Debug, Default)]
pub(crate) struct Queue(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    next: u64,
    waiting: VecDeque<(u64, Vec<Record>)>,
    /// The outcomes for those that still wait for one.
    done: BTreeMap<u64, Slot>,
}

#[derive(Debug, Default)]
struct Slot {
    outcome: Option<Result<Ack>>,
    waker: Option<Waker>,
}

/// A batch in the queue. Dropping it takes the batch out, unless it is on its way already.
#[derive(Debug)]
pub(crate) struct Ticket<'a> {
    queue: &'a Queue,
    number: u64,
}

/// What comes first.
#[derive(Debug)]
pub(crate) enum Either<'t> {
    Outcome(Result<Ack>),
    Turn(AsyncGuard<'t, ()>),
}

/// Lets others go on for once, so that they can add what they have.
pub(crate) async fn let_others_in() {
    let mut is_over = false;
    poll_fn(|context| {
        if std::mem::replace(&mut is_over, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl Queue {
    pub(crate) fn enter(&self, batch: &[Record]) -> Ticket<'_> {
        let mut inner = self.inner();
        let number = inner.next;
        inner.next += 1;
        inner.waiting.push_back((number, batch.to_vec()));
        inner.done.insert(number, Slot::default());
        Ticket { queue: self, number }
    }

    /// Takes as many batches as share an object.
    pub(crate) fn take_group(&self) -> Vec<(u64, Vec<Record>)> {
        let (mut inner, mut group, mut bytes) = (self.inner(), Vec::new(), 0_usize);
        while let Some((_, batch)) = inner.waiting.front() {
            let size = batch.iter().map(|record| record.as_bytes().len() + 4).sum::<usize>();
            bytes = bytes.saturating_add(size);
            if bytes > GROUP_BYTES && !group.is_empty() {
                break;
            }
            group.extend(inner.waiting.pop_front());
        }
        group
    }

    /// Reports the outcome of a batch, if a caller still waits for it.
    pub(crate) fn tell(&self, number: u64, outcome: Result<Ack>) {
        let waker = self.inner().done.get_mut(&number).and_then(|slot| {
            slot.outcome = Some(outcome);
            slot.waker.take()
        });
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket<'_> {
    /// What became of the batch, if that is known.
    pub(crate) fn outcome(&self) -> Option<Result<Ack>> {
        self.queue.inner().done.get_mut(&self.number)?.outcome.take()
    }

    /// Waits for a turn to send what waits, or for the outcome, if another's turn sends this batch.
    pub(crate) async fn outcome_or_turn<'t>(&self, store_access: &'t AsyncMutex<()>) -> Either<'t> {
        let mut turn = pin!(store_access.lock());
        poll_fn(|context| {
            if let Some(slot) = self.queue.inner().done.get_mut(&self.number) {
                if let Some(outcome) = slot.outcome.take() {
                    return Poll::Ready(Either::Outcome(outcome));
                }
                slot.waker = Some(context.waker().clone());
            }
            turn.as_mut().poll(context).map(Either::Turn)
        })
        .await
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let mut inner = self.queue.inner();
        inner.done.remove(&self.number);
        inner.waiting.retain(|(number, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::{GROUP_BYTES, Queue};
    use crate::Record;

    /// The batches of each object, where each record takes four bytes beside its own.
    fn groups(lengths: &[usize]) -> Vec<usize> {
        let queue = Queue::default();
        let batches: Vec<[Record; 1]> = lengths.iter().map(|len| [Record::new(vec![0; *len])]).collect();
        let _tickets: Vec<_> = batches.iter().map(|batch| queue.enter(batch)).collect();
        std::iter::from_fn(|| Some(queue.take_group().len()).filter(|len| *len > 0)).collect()
    }

    #[test]
    fn batches_share_an_object_up_to_its_limit_and_no_further() {
        let half = GROUP_BYTES / 2 - 4;
        assert_eq!(groups(&[half, half, half]), [2, 1]);
        assert_eq!(groups(&[half, half + 1, half]), [1, 1, 1]);
        assert_eq!(groups(&[3 * half, 7, 7]), [1, 2], "one that is longer has an object of its own");
    }
}
