//! The thread of a writer: takes what was asked for, and lets appends that wait at the same time share a sync.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Ack, Cursor, Epoch, Error, ErrorKind, Record, Result};

use super::answer::{Teller, Waiting, answer, spawn};
use super::epoch::Keeper;

/// How many bytes share a sync at most, unless one batch alone is longer.
const GROUP_BYTES: usize = 4 << 20;

/// What a writer's thread is asked for.
pub(crate) enum Request {
    Append(Vec<Record>, Teller<Result<Ack>>),
    Begin(Record, Teller<Result<Epoch>>),
    Clear(Teller<Result<()>>),
    Close(Teller<Result<()>>),
}

/// The way to a writer's thread.
#[derive(Debug)]
pub(crate) struct Line {
    requests: Mutex<Sender<Request>>,
    position: Arc<Mutex<Option<Cursor>>>,
}

impl Line {
    /// Gives the keeper a thread.
    pub(crate) fn open(keeper: Keeper, target: &str) -> Result<Self> {
        let (requests, receiver) = channel();
        let position = Arc::new(Mutex::new(keeper.position()));
        let shared = Arc::clone(&position);
        spawn("open", target, move || serve(keeper, &receiver, &shared))?;
        Ok(Self { requests: Mutex::new(requests), position })
    }

    /// Asks for something; the answer is none if the thread has ended.
    pub(crate) fn ask<T>(&self, request: impl FnOnce(Teller<T>) -> Request) -> Waiting<T> {
        let (teller, waiting) = answer();
        // A request without a receiver is dropped, and its sender says so.
        drop(self.requests.lock().unwrap_or_else(PoisonError::into_inner).send(request(teller)));
        waiting
    }

    pub(crate) fn position(&self) -> Option<Cursor> {
        *self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn serve(mut keeper: Keeper, requests: &Receiver<Request>, position: &Mutex<Option<Cursor>>) {
    let mut waiting = None;
    while let Some(request) = waiting.take().or_else(|| requests.recv().ok()) {
        // Where things stand is published before any caller is told, so that each one told sees it.
        let publish = |keeper: &Keeper| {
            *position.lock().unwrap_or_else(PoisonError::into_inner) = keeper.position();
        };
        match request {
            Request::Append(batch, teller) => {
                let mut group = vec![(batch, teller)];
                waiting = gather(requests, &mut group);
                let outcomes = append(&mut keeper, &group);
                publish(&keeper);
                group.into_iter().zip(outcomes).for_each(|((_, teller), outcome)| teller.tell(outcome));
            }
            Request::Begin(base, teller) => {
                let outcome = keeper.begin(&base);
                publish(&keeper);
                teller.tell(outcome);
            }
            Request::Clear(teller) => {
                let outcome = keeper.clear();
                publish(&keeper);
                teller.tell(outcome);
            }
            Request::Close(teller) => {
                let outcome = keeper.close();
                drop(keeper);
                return teller.tell(outcome);
            }
        }
    }
}

/// Adds the appends that wait already. Gives the request that ends the group, if one does.
fn gather(
    requests: &Receiver<Request>,
    group: &mut Vec<(Vec<Record>, Teller<Result<Ack>>)>,
) -> Option<Request> {
    let size = |batch: &[Record]| batch.iter().map(|record| record.as_bytes().len() + 4).sum::<usize>();
    let mut bytes = size(&group.first()?.0);
    while bytes < GROUP_BYTES {
        match requests.try_recv().ok()? {
            Request::Append(batch, teller) => {
                let more = size(&batch);
                if bytes.saturating_add(more) > GROUP_BYTES {
                    return Some(Request::Append(batch, teller));
                }
                bytes += more;
                group.push((batch, teller));
            }
            other => return Some(other),
        }
    }
    None
}

/// Appends all as one batch. A batch that fails with others is tried alone, as it may be to blame.
fn append(keeper: &mut Keeper, group: &[(Vec<Record>, Teller<Result<Ack>>)]) -> Vec<Result<Ack>> {
    let records: Vec<&Record> = group.iter().flat_map(|(batch, _)| batch).collect();
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
            group.iter().map(|_| Err(again(&error))).collect()
        }
        Err(_) => {
            let alone = |(batch, _): &(Vec<Record>, _)| keeper.append(&batch.iter().collect::<Vec<_>>());
            group.iter().map(alone).collect()
        }
    }
}

/// The same error for another caller; the cause stays with its text.
fn again(error: &Error) -> Error {
    let copy = Error::new(error.kind(), error.op(), error.target());
    match std::error::Error::source(error) {
        Some(source) => copy.with_source(source.to_string()),
        None => copy,
    }
}
