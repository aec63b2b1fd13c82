//! The thread of a writer: takes what was asked for, and lets appends that wait at the same time share a sync.

use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};

use groundstate_durable::spawn;
use tokio::sync::oneshot::{self, Sender};
use tracing::trace;

use crate::{Ack, Cursor, Epoch, ErrorKind, Op, Record, Result};

use super::epoch::Keeper;

/// How many bytes share a sync at most, unless one batch alone is longer.
const GROUP_BYTES: usize = 4 << 20;

/// What a writer's thread is asked for.
pub(crate) enum Request {
    Append(Vec<Record>, Sender<Result<Ack>>),
    Begin(Record, Sender<Result<Epoch>>),
    Clear(Sender<Result<()>>),
    Close(Sender<Result<()>>),
}

/// The way to a writer's thread.
#[derive(Debug)]
pub(crate) struct Line {
    requests: Mutex<mpsc::Sender<Request>>,
    position: Arc<Mutex<Option<Cursor>>>,
}

impl Line {
    /// Gives the keeper a thread.
    pub(crate) fn open(keeper: Keeper, target: &str) -> Result<Self> {
        let (requests, receiver) = mpsc::channel();
        let position = Arc::new(Mutex::new(keeper.position()));
        let shared = Arc::clone(&position);
        spawn(Op::Open, target, move || serve(keeper, &receiver, &shared))?;
        Ok(Self { requests: Mutex::new(requests), position })
    }

    /// Asks for something; the answer is none if the thread has ended.
    pub(crate) async fn ask<T>(&self, request: impl FnOnce(Sender<T>) -> Request) -> Option<T> {
        let (sender, outcome) = oneshot::channel();
        // A request that the thread does not take is dropped with its sender.
        drop(self.requests.lock().unwrap_or_else(PoisonError::into_inner).send(request(sender)));
        outcome.await.ok()
    }

    pub(crate) fn position(&self) -> Option<Cursor> {
        *self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn serve(mut keeper: Keeper, requests: &mpsc::Receiver<Request>, position: &Mutex<Option<Cursor>>) {
    let mut waiting = None;
    while let Some(request) = waiting.take().or_else(|| requests.recv().ok()) {
        // Where things stand is published before any caller is told, so that each one told sees it.
        let publish = |keeper: &Keeper| {
            *position.lock().unwrap_or_else(PoisonError::into_inner) = keeper.position();
        };
        match request {
            Request::Append(batch, sender) => {
                let mut group = vec![(batch, sender)];
                waiting = gather(requests, &mut group);
                let outcomes = append(&mut keeper, &group);
                publish(&keeper);
                group.into_iter().zip(outcomes).for_each(|((_, sender), outcome)| drop(sender.send(outcome)));
            }
            Request::Begin(base, sender) => {
                let outcome = keeper.begin(&base);
                publish(&keeper);
                drop(sender.send(outcome));
            }
            Request::Clear(sender) => {
                let outcome = keeper.clear();
                publish(&keeper);
                drop(sender.send(outcome));
            }
            Request::Close(sender) => {
                let outcome = keeper.close();
                drop(keeper);
                return drop(sender.send(outcome));
            }
        }
    }
}

/// Adds the appends that wait already. Gives the request that ends the group, if one does.
fn gather(
    requests: &mpsc::Receiver<Request>,
    group: &mut Vec<(Vec<Record>, Sender<Result<Ack>>)>,
) -> Option<Request> {
    let size = |batch: &[Record]| batch.iter().map(|record| record.as_bytes().len() + 4).sum::<usize>();
    let mut bytes = size(&group.first()?.0);
    loop {
        match requests.try_recv().ok()? {
            Request::Append(batch, sender) => {
                let more = size(&batch);
                if bytes.saturating_add(more) > GROUP_BYTES {
                    return Some(Request::Append(batch, sender));
                }
                bytes += more;
                group.push((batch, sender));
            }
            other => return Some(other),
        }
    }
}

/// Appends all as one batch. A batch that fails with others is tried alone, as it may be to blame.
fn append(keeper: &mut Keeper, group: &[(Vec<Record>, Sender<Result<Ack>>)]) -> Vec<Result<Ack>> {
    let records: Vec<&Record> = group.iter().flat_map(|(batch, _)| batch).collect();
    trace!(batches = group.len(), records = records.len(), "writing batches with one sync");
    match keeper.append(&records) {
        Ok(receipt) => {
            let mut first = receipt.first;
            let share = |(batch, _): &(Vec<Record>, _)| {
                let next = first.plus(batch.len() as u64);
                let share = Ack::new(receipt.epoch, first, next);
                first = next;
                Ok(share)
            };
            group.iter().map(share).collect()
        }
        Err(error) if group.len() == 1 => vec![Err(error)],
        // All share the fate of the one write that they were.
        Err(error) if error.kind() == ErrorKind::Ambiguous => {
            group.iter().map(|_| Err(error.again())).collect()
        }
        Err(_) => {
            let alone = |(batch, _): &(Vec<Record>, _)| keeper.append(&batch.iter().collect::<Vec<_>>());
            group.iter().map(alone).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::sync::oneshot;

    use super::{GROUP_BYTES, Keeper, Request, gather};
    use crate::{ErrorKind, Record};

    fn append(len: usize) -> Request {
        Request::Append(vec![Record::new(vec![0; len])], oneshot::channel().0)
    }

    /// How many batches share each sync, where each record takes four bytes beside its own.
    fn groups(requests: impl IntoIterator<Item = Request>) -> Vec<usize> {
        let (sender, receiver) = mpsc::channel();
        requests.into_iter().for_each(|request| sender.send(request).unwrap());
        let (mut waiting, mut groups) = (None, Vec::new());
        while let Some(request) = waiting.take().or_else(|| receiver.try_recv().ok()) {
            let Request::Append(batch, sender) = request else {
                groups.push(0);
                continue;
            };
            let mut group = vec![(batch, sender)];
            waiting = gather(&receiver, &mut group);
            groups.push(group.len());
        }
        groups
    }

    #[test]
    fn batches_share_a_sync_up_to_its_limit_and_no_further() {
        let half = GROUP_BYTES / 2 - 4;
        assert_eq!(groups([half, half, half].map(append)), [2, 1]);
        assert_eq!(groups([half, half + 1, half].map(append)), [1, 1, 1]);
        assert_eq!(groups([3 * half, 7, 7].map(append)), [1, 2], "one that is longer has a sync of its own");
        assert_eq!(groups([7, 7, half, half - 22].map(append)), [4]);
        assert_eq!(groups([7, 7, half, half - 21].map(append)), [3, 1]);
    }

    #[test]
    fn what_is_no_batch_ends_a_group() {
        let clear = || Request::Clear(oneshot::channel().0);
        assert_eq!(groups([append(1), append(1), clear(), append(1), append(1)]), [2, 0, 2]);
    }

    #[test]
    fn each_caller_is_told_what_became_of_its_batch_when_all_fail() {
        let folder = tempfile::tempdir().unwrap();
        let mut keeper = Keeper::open(&folder.path().join("j"), 1 << 20, "ann", false).unwrap();
        let group: Vec<_> = (0..3).map(|_| (vec![Record::default()], oneshot::channel().0)).collect();
        let outcomes = super::append(&mut keeper, &group);
        let kinds: Vec<_> = outcomes.into_iter().map(|outcome| outcome.unwrap_err().kind()).collect();
        assert_eq!(kinds, [ErrorKind::NoEpoch; 3]);
    }
}
