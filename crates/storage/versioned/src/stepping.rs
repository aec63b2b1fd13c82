//! One step at a time: the compare and swap of a document's head.

use std::time::Duration;

use futures_util::future::BoxFuture;
use groundstate_blobs::{Blob, DeleteOptions, ErrorKind as BlobKind, Key, Precondition, PutOptions};
use groundstate_common::{Backoff, jittered};
use tracing::debug;

use crate::document::{Document, Stored};
use crate::error::{Error, ErrorKind, Result};
use crate::head::Head;
use crate::ids::AttemptId;
use crate::lock::Lock;
use crate::op::Op;
use crate::step::Step;
use crate::traced;
use crate::version::Version;

/// How often a step is evaluated before it gives up.
const ATTEMPTS: usize = 100;
/// How many of them follow each other at once.
const QUICK: usize = 2;
const WAITS: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(500));

/// A step that was carried out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stepped {
    /// The head behind the step.
    pub head: Head,
    /// The version that the step wrote.
    pub version: Option<Version>,
    /// The lock that the step took, renewed, released or broke.
    pub lock: Option<Lock>,
    /// Whether anything changed; a step may change nothing.
    pub changed: bool,
}

/// An attempt whose outcome is not known.
pub(crate) struct Attempt {
    pub(crate) id: AttemptId,
    pub(crate) stepped: Stepped,
    pub(crate) record: Option<Key>,
    /// Whether it may be carried out later, since its answer got lost.
    pub(crate) may_arrive: bool,
}

/// What became of an attempt.
pub(crate) enum Attempted {
    Done(Box<Attempt>),
    /// It was refused, or its answer got lost; what is stored instead, if the store said so.
    Unknown(Box<Attempt>, Option<Box<Blob>>),
}

/// What says of a head what is to be changed. It is a type of its own, not a generic one, so that futures are known to be `Send`.
pub(crate) type Decide<'a, E> = dyn FnMut(&Head) -> Result<Step, E> + Send + 'a;

/// Why a step goes on.
enum Unsettled<E> {
    Refused(E),
    Unknown(Box<Attempt>, Option<Box<Blob>>),
    /// The document had no head, and has one now.
    Created,
}

impl Document {
    /// Carries out one step: `decide` sees the head, and says what is to be changed of it, or refuses.
    ///
    /// Steps of all clients come one after the other. If another client was faster, `decide` is called again with what is there
    /// now, so it may be called several times, and its last answer counts. A step whose answer got lost is recognised, not made twice.
    ///
    /// # Errors
    ///
    /// What `decide` refuses with is the inner error. `Invalid` for a step that this head does not allow, `TooLarge`,
    /// `NotKept`, `Expired`, `Busy`, `Ambiguous` and those of [`head`](Self::head).
    pub async fn step<E: Send>(
        &self,
        mut decide: impl FnMut(&Head) -> Result<Step, E> + Send,
    ) -> Result<Result<Stepped, E>> {
        self.step_as(Op::Step, &mut decide).await
    }

    /// A step that errors call by this name.
    pub(crate) fn step_as<'a, E: Send + 'a>(
        &'a self,
        op: Op,
        decide: &'a mut Decide<'_, E>,
    ) -> BoxFuture<'a, Result<Result<Stepped, E>>> {
        Box::pin(traced::run(op, self, self.stepping(op, decide)))
    }

    async fn stepping<E>(&self, op: Op, decide: &mut Decide<'_, E>) -> Result<Result<Stepped, E>> {
        let mut unknown: Vec<Attempt> = Vec::new();
        let mut waits = Backoff::new(WAITS.0, WAITS.1);
        let mut stored = self.load(op).await?;
        for round in 0..ATTEMPTS {
            if round > QUICK {
                self.pause(waits.wait()).await;
            }
            let settled = match self.settle(op, &mut unknown, &stored.head).await? {
                Some(done) => Ok(done),
                None => self.evaluate(op, &unknown, &stored, decide).await?,
            };
            let asked = match settled {
                Ok(stepped) => {
                    traced::stepped(&stepped, round + 1);
                    return Ok(Ok(stepped));
                }
                Err(Unsettled::Refused(refusal)) => return Ok(Err(refusal)),
                Err(Unsettled::Unknown(attempt, found)) => {
                    unknown.push(*attempt);
                    found
                }
                Err(Unsettled::Created) => None,
            };
            stored = match asked {
                Some(blob) => self.stored(op, &blob)?,
                None => self.load(op).await.map_err(|error| self.in_doubt(op, &unknown, error))?,
            };
        }
        Err(self.in_doubt(op, &unknown, Error::new(ErrorKind::Busy, op, self.place())))
    }

    /// Asks what is to be done, and tries it once.
    async fn evaluate<E>(
        &self,
        op: Op,
        unknown: &[Attempt],
        stored: &Stored,
        decide: &mut Decide<'_, E>,
    ) -> Result<Result<Stepped, Unsettled<E>>> {
        let step = match decide(&stored.head) {
            Ok(step) if !step.is_nothing() => step,
            // An attempt that is on its way may still arrive, and then the answer would be another one.
            _ if unknown.iter().any(|attempt| attempt.may_arrive) => {
                return Err(Error::new(ErrorKind::Ambiguous, op, self.place()));
            }
            Ok(_) => {
                let head = stored.head.clone();
                return Ok(Ok(Stepped { head, version: None, lock: None, changed: false }));
            }
            Err(refusal) => return Ok(Err(Unsettled::Refused(refusal))),
        };
        // Data is only stored for documents that have a head, by which sweeps find it.
        let creates = stored.version.is_none() && step.version.is_some();
        let attempted = if creates {
            self.attempt(op, stored, &Step::fence()).await
        } else {
            self.attempt(op, stored, &step).await
        };
        match attempted.map_err(|error| self.in_doubt(op, unknown, error))? {
            Attempted::Done(_) | Attempted::Unknown(..) if creates => Ok(Err(Unsettled::Created)),
            Attempted::Done(attempt) => {
                // The head that they asked for is replaced, so they cannot arrive any more.
                for refused in unknown {
                    self.forget(refused.record.as_ref()).await;
                }
                Ok(Ok(attempt.stepped))
            }
            Attempted::Unknown(attempt, found) => Ok(Err(Unsettled::Unknown(attempt, found))),
        }
    }

    /// Tries once to put another head in place of this one.
    pub(crate) async fn attempt(&self, op: Op, stored: &Stored, step: &Step) -> Result<Attempted> {
        let mut attempt = self.prepare(op, &stored.head, step).await?;
        // What could not be read again is not written.
        if let Some(problem) = attempt.stepped.head.problem() {
            return Err(Error::new(ErrorKind::Corrupt, op, self.place()).because(problem));
        }
        let bytes = attempt.stepped.head.write(self.name()).map_err(|error| self.unwritable(op, error))?;
        let condition = PutOptions::expecting(Precondition::of(stored.version.as_ref()));
        let key = self.key(op, self.layout().head())?;
        match self.store().put(&key, bytes, &condition).await {
            Ok(_) => Ok(Attempted::Done(Box::new(attempt))),
            Err(error) if error.kind() == BlobKind::PreconditionFailed => {
                debug!("another client was faster");
                Ok(Attempted::Unknown(Box::new(attempt), error.found().cloned().map(Box::new)))
            }
            Err(error) if error.kind() == BlobKind::Ambiguous => {
                debug!("the answer got lost");
                attempt.may_arrive = true;
                Ok(Attempted::Unknown(Box::new(attempt), None))
            }
            Err(error) => Err(self.failed(op, error)),
        }
    }

    /// The error of a step, some attempts of which may have been carried out.
    fn in_doubt(&self, op: Op, unknown: &[Attempt], error: Error) -> Error {
        match unknown.iter().any(|attempt| attempt.may_arrive) {
            true => Error::new(ErrorKind::Ambiguous, op, self.place()).with_source(error),
            false => error,
        }
    }

    /// Finds out which of the attempts was carried out, and forgets those that never will be.
    async fn settle(&self, op: Op, unknown: &mut Vec<Attempt>, head: &Head) -> Result<Option<Stepped>> {
        for attempt in std::mem::take(unknown) {
            let revision = attempt.stepped.head.revision;
            if head.revision < revision {
                // It may still arrive, if its answer got lost.
                unknown.push(attempt);
                continue;
            }
            match head.attempt_at(revision) {
                Some(id) if *id == attempt.id => return Ok(Some(attempt.stepped)),
                None if attempt.may_arrive => return Err(Error::new(ErrorKind::Ambiguous, op, self.place())),
                _ => self.forget(attempt.record.as_ref()).await,
            }
        }
        Ok(None)
    }

    /// Removes the record of a version that was not accepted. A sweep does if this fails.
    async fn forget(&self, record: Option<&Key>) {
        if let Some(key) = record {
            drop(self.store().delete(key, &DeleteOptions::default()).await);
        }
    }

    async fn pause(&self, wait: Duration) {
        // Without a random number all clients wait the same time, which is all that is lost.
        let share = self.context().ids.number().unwrap_or(u32::MAX);
        self.context().sleeper.sleep(jittered(wait, share)).await;
    }
}
