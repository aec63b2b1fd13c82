//! Random calls of several clients, written down for the check of their history.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use groundstate_statemgr::{ErrorKind, Expect, LockId, Version, WriteOptions};

use crate::cx::{Client, document};
use crate::executor::abandon_after;
use crate::failure::{Answer, Step, describe, describe_bytes, fail};
use crate::linear::{Event, Model, Moments};
use crate::rng::Rng;

/// What is stored, by the number of the document; zero is nothing.
pub(crate) struct SequentialStore;

/// A call on what is stored, with its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Gave this document.
    Read(u64),
    /// Stored this one, whatever was there.
    Write(u64),
    /// Stored this one (or nothing) in place of what was expected.
    Replace { expected: u64, by: u64 },
    /// Was refused because something else than what was expected is stored.
    Refused { expected: u64 },
}

impl Model for SequentialStore {
    type State = u64;
    type Call = Access;

    fn step(state: &u64, call: &Access) -> Option<u64> {
        match call {
            Access::Read(seen) => (seen == state).then_some(*state),
            Access::Write(new) => Some(*new),
            Access::Replace { expected, by } => (expected == state).then_some(*by),
            Access::Refused { expected } => (expected != state).then_some(*state),
        }
    }
}

/// What the clients of one history share.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) moments: Moments,
    documents: Mutex<Vec<Vec<u8>>>,
}

impl Shared {
    /// A new document, and its number.
    fn document(&self, serial: impl FnOnce() -> u64, size: usize) -> (u64, Vec<u8>) {
        let bytes = document(serial(), size);
        let mut documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        documents.push(bytes.clone());
        (u64::try_from(documents.len()).unwrap_or(u64::MAX), bytes)
    }

    fn number(&self, bytes: &[u8]) -> Step<u64> {
        let documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        match documents.iter().position(|document| document == bytes) {
            Some(at) => Ok(u64::try_from(at).unwrap_or(u64::MAX) + 1),
            None => fail("a read gives one of the documents that were written", describe_bytes(bytes)),
        }
    }
}

/// What a random client may do.
#[derive(Clone, Copy)]
pub(crate) struct Habits {
    pub(crate) calls: usize,
    pub(crate) conditional: bool,
    pub(crate) delete: bool,
    /// Gives up some of its writes.
    pub(crate) impatient: bool,
}

/// A client that reads and writes at random.
pub(crate) struct Actor {
    pub(crate) client: Client,
    pub(crate) shared: Arc<Shared>,
    pub(crate) rng: Rng,
    pub(crate) habits: Habits,
    /// Gives the serials of documents.
    pub(crate) serials: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// What it has seen last, and the number of that.
    pub(crate) seen: (Option<Version>, u64),
    pub(crate) events: Vec<Event<Access>>,
}

impl Actor {
    /// Makes its calls, and gives the events.
    pub(crate) async fn run(mut self) -> Step<Vec<Event<Access>>> {
        for _ in 0..self.habits.calls {
            match self.rng.below(5) {
                0 | 1 => self.read().await?,
                2 if self.habits.delete => self.delete().await?,
                _ => self.write().await?,
            }
        }
        Ok(self.events)
    }

    /// Stores the first document, whatever was there before.
    pub(crate) async fn begin(&mut self) -> Step {
        let (number, bytes) = self.shared.document(|| (self.serials)(), 0);
        let from = self.shared.moments.next();
        let version = self
            .client
            .write(Bytes::copy_from_slice(&bytes), &WriteOptions::any())
            .await
            .succeeds("the first write")?;
        self.seen = (Some(version), number);
        let to = Some(self.shared.moments.next());
        self.events.push(Event { call: Access::Write(number), from, to });
        Ok(())
    }

    pub(crate) async fn read(&mut self) -> Step {
        let from = self.shared.moments.next();
        let stored = match self.client.read().await {
            Ok(stored) => stored,
            // An answer that got lost says nothing.
            Err(error) if error.kind() == ErrorKind::Unavailable => return Ok(()),
            Err(error) => return fail("a read succeeds", describe(&error)),
        };
        let to = Some(self.shared.moments.next());
        let number = match &stored {
            Some(stored) => self.shared.number(&stored.bytes)?,
            None => 0,
        };
        self.seen = (stored.map(|stored| stored.version), number);
        self.events.push(Event { call: Access::Read(number), from, to });
        Ok(())
    }

    /// The condition to write under, and the number that it stands for.
    fn condition(&mut self) -> (Expect, Option<u64>) {
        if !self.habits.conditional || self.rng.below(4) == 0 {
            return (Expect::Any, None);
        }
        match &self.seen {
            (Some(version), number) => (Expect::Version(version.clone()), Some(*number)),
            (None, _) => (Expect::Absent, Some(0)),
        }
    }

    async fn write(&mut self) -> Step {
        let (expect, expected) = self.condition();
        let size = if self.rng.below(2) == 0 { 0 } else { 3_000 };
        let (number, bytes) = self.shared.document(|| (self.serials)(), size);
        let options = WriteOptions::expecting(expect);
        let waits =
            if self.habits.impatient && self.rng.below(4) == 0 { 1 + self.rng.below(3) } else { 1_000 };
        let from = self.shared.moments.next();
        let outcome = abandon_after(self.client.write(Bytes::copy_from_slice(&bytes), &options), waits).await;
        let done = match expected {
            Some(expected) => Access::Replace { expected, by: number },
            None => Access::Write(number),
        };
        match outcome {
            None => self.events.push(Event { call: done, from, to: None }),
            Some(outcome) => {
                if let Ok(version) = &outcome {
                    self.seen = (Some(version.clone()), number);
                }
                self.changed(from, outcome.map(drop), done, expected)?;
            }
        }
        Ok(())
    }

    async fn delete(&mut self) -> Step {
        let (expect, expected) = self.condition();
        let from = self.shared.moments.next();
        let outcome = self.client.delete(&WriteOptions::expecting(expect)).await;
        let done = match expected {
            Some(expected) => Access::Replace { expected, by: 0 },
            None => Access::Write(0),
        };
        if outcome.is_ok() {
            self.seen = (None, 0);
        }
        self.changed(from, outcome, done, expected)
    }

    /// Notes the answer to a change.
    fn changed(
        &mut self,
        from: u64,
        outcome: groundstate_statemgr::Result<()>,
        done: Access,
        expected: Option<u64>,
    ) -> Step {
        let to = Some(self.shared.moments.next());
        let event = match (outcome, expected) {
            (Ok(()), _) => Event { call: done, from, to },
            (Err(error), _) if error.kind() == ErrorKind::Ambiguous => Event { call: done, from, to: None },
            // Nothing has happened, because the service was out of reach or another writer was at it (W8).
            (Err(error), _) if matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Locked) => {
                return Ok(());
            }
            (Err(error), Some(expected)) if error.kind() == ErrorKind::Conflict => {
                Event { call: Access::Refused { expected }, from, to }
            }
            (Err(error), _) => {
                return fail("a change succeeds, or is refused for a reason", describe(&error));
            }
        };
        self.events.push(event);
        Ok(())
    }
}

/// The lock, by the number of its holder, and the newest token.
pub(crate) struct Lock;

/// A call on the lock, with its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Grab {
    Granted {
        to: u64,
        token: Option<u64>,
    },
    Refused {
        by: Option<u64>,
    },
    Released {
        by: u64,
    },
    /// A release under an id that is not in force, while the lock was held.
    Kept {
        against: u64,
    },
    /// A release while the lock was free.
    WasFree,
}

impl Model for Lock {
    type State = (Option<u64>, Option<u64>);
    type Call = Grab;

    fn step(state: &Self::State, call: &Grab) -> Option<Self::State> {
        let (holder, newest) = *state;
        match *call {
            Grab::Granted { to, token } => {
                let grows = token.is_none() || token > newest;
                (holder.is_none() && grows).then_some((Some(to), token.or(newest)))
            }
            Grab::Refused { by } => (holder.is_some() && (by.is_none() || by == holder)).then_some(*state),
            Grab::Released { by } => (holder == Some(by)).then_some((None, newest)),
            Grab::Kept { against } => (holder.is_some() && holder != Some(against)).then_some(*state),
            Grab::WasFree => holder.is_none().then_some(*state),
        }
    }
}

/// A client that locks and releases at random.
pub(crate) struct Locksmith {
    pub(crate) client: Client,
    pub(crate) shared: Arc<Shared>,
    pub(crate) rng: Rng,
    pub(crate) calls: usize,
    /// Makes the document to lock with, for a number.
    pub(crate) info: Arc<dyn Fn(u64) -> groundstate_statemgr::LockInfo + Send + Sync>,
    /// The first of its numbers; no two clients share any.
    pub(crate) first: u64,
}

impl Locksmith {
    /// Makes its calls, lets go of what it holds, and gives the events.
    pub(crate) async fn run(mut self) -> Step<Vec<Event<Grab>>> {
        let mut events = Vec::new();
        let mut held: Option<(u64, LockId)> = None;
        for number in (self.first..).take(self.calls) {
            let event = match held.take() {
                Some((mine, id)) if self.rng.below(3) > 0 => self.release(mine, &id).await?,
                Some((mine, id)) => {
                    held = Some((mine, id));
                    let stranger = (self.info)(number).id;
                    self.release(number, &stranger).await?
                }
                None => self.take(number, &mut held).await?,
            };
            events.push(event);
        }
        if let Some((mine, id)) = held {
            events.push(self.release(mine, &id).await?);
        }
        Ok(events)
    }

    async fn take(&self, number: u64, held: &mut Option<(u64, LockId)>) -> Step<Event<Grab>> {
        let from = self.shared.moments.next();
        let outcome = self.client.lock(&(self.info)(number)).await;
        let to = Some(self.shared.moments.next());
        let call = match outcome {
            Ok(grant) => {
                *held = Some((number, grant.id));
                Grab::Granted { to: number, token: grant.fence.map(|token| token.get()) }
            }
            Err(error) if error.kind() == ErrorKind::Locked => {
                let by = error.holder().and_then(|holder| self.number_of(&holder.info.id));
                Grab::Refused { by }
            }
            Err(error) => return fail("a lock succeeds or is refused with `Locked`", describe(&error)),
        };
        Ok(Event { call, from, to })
    }

    /// The number that a document was made for, found by its id.
    fn number_of(&self, id: &LockId) -> Option<u64> {
        (0..1_000).find(|number| (self.info)(*number).id == *id)
    }

    async fn release(&self, number: u64, id: &LockId) -> Step<Event<Grab>> {
        let from = self.shared.moments.next();
        let outcome = self.client.unlock(id).await;
        let to = Some(self.shared.moments.next());
        let call = match outcome {
            Ok(()) => Grab::Released { by: number },
            Err(error) if error.kind() == ErrorKind::Locked => Grab::Kept { against: number },
            Err(error) if error.kind() == ErrorKind::NotFound => Grab::WasFree,
            Err(error) => return Err(error).succeeds("a release under the granted id"),
        };
        Ok(Event { call, from, to })
    }
}
