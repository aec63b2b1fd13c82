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
    while bytes < GROUP_BYTES {
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
    None
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
