//! The operations on a document, each of them one step, with the outcomes that callers expect.

use std::convert::Infallible;
use std::time::Duration;

use crate::content::Content;
use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::head::Head;
use crate::lock::{EndedLock, Ending, Lock, NewLock};
use crate::op::Op;
use crate::step::{Step, VersionOptions};
use crate::stepping::{Decide, Stepped};
use crate::version::Version;

/// What became of an attempt to take a lock.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum LockOutcome {
    /// The lock is the caller's: taken now, or under this id before.
    Locked(Lock),
    /// Another lock is in force.
    Held(Lock),
}

/// What became of an attempt to renew a lock.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RenewOutcome {
    /// It lasts so long now.
    Renewed(Lock),
    /// The document has not this lock any more.
    Lost(LockLoss),
}

/// What became of an attempt to release a lock.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum UnlockOutcome {
    /// It is released now.
    Unlocked(Lock),
    /// It was released before: the answer to an earlier attempt got lost.
    Already(EndedLock),
    /// The document has not this lock.
    Lost(LockLoss),
}

/// What became of an attempt to break a lock.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum BreakOutcome {
    /// This lock is broken now.
    Broken(Lock),
    /// The document has no lock.
    NotLocked,
    /// The document has another lock than the one to be broken.
    Other(Lock),
}

/// What became of an attempt to write, delete or restore.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum WriteOutcome {
    /// This version is the present one now.
    Written(Version),
    /// Nothing was to be done: the present version is what the caller asked for. None if there is no version at all.
    Unchanged(Option<Version>),
    /// A lock is in force, and the caller names none.
    Held(Lock),
    /// The document has not the lock that the caller names.
    Lost(LockLoss),
    /// The present version is not the one that the caller expects.
    Conflict(Option<Version>),
}

/// What is there in place of a lock.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LockLoss {
    /// The lock that is in force.
    pub holder: Option<Lock>,
    /// How the lost lock ended, as far as the head remembers.
    pub ended: Option<EndedLock>,
}

/// What a writer expects to be the present version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expect {
    /// Any, or none.
    #[default]
    Any,
    /// None: the document was never written, or it is deleted.
    Absent,
    /// The version of this number.
    Number(u64),
}

/// When a write of the content that is there already makes no version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Same {
    /// If it was written under the same lock: then a lost answer made the caller repeat it.
    #[default]
    UnderSameLock,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How to write.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The lock, if the caller has one, who writes, and the note.
    pub version: VersionOptions,
    /// The fencing token of the lock. One that is not the lock's is refused like a lost lock.
    pub token: Option<u64>,
    /// What must be the present version.
    pub expect: Expect,
    /// When equal bytes are no new version.
    pub same: Same,
}

impl WriteOptions {
    /// Writes under a lock.
    #[must_use]
    pub fn lock(mut self, id: impl Into<String>) -> Self {
        self.version = self.version.lock(id);
        self
    }

    /// Requires that this is the token of the lock.
    #[must_use]
    pub fn token(mut self, token: u64) -> Self {
        self.token = Some(token);
        self
    }

    /// Says who writes.
    #[must_use]
    pub fn by(mut self, by: impl Into<String>) -> Self {
        self.version = self.version.by(by);
        self
    }

    /// Keeps a note with the version.
    #[must_use]
    pub fn note(mut self, note: crate::Note) -> Self {
        self.version = self.version.note(note);
        self
    }

    /// Requires that this is the present version.
    #[must_use]
    pub fn expect(mut self, expect: Expect) -> Self {
        self.expect = expect;
        self
    }

    /// Says when equal bytes are no new version.
    #[must_use]
    pub fn same(mut self, same: Same) -> Self {
        self.same = same;
        self
    }
}

impl LockLoss {
    fn of(head: &Head, id: &str) -> Self {
        Self { holder: head.lock().cloned(), ended: head.ended(id).cloned() }
    }
}

/// The answer of a step that is not made. It is in a box, since results are moved around.
fn refuse<T, O>(outcome: O) -> Result<T, Box<O>> {
    Err(Box::new(outcome))
}

impl Document {
    /// Takes the lock, unless another one is in force. Under an id that is in force it succeeds again, with the same token.
    ///
    /// # Errors
    ///
    /// Those of [`step`](Self::step).
    pub async fn lock(&self, lock: &NewLock) -> Result<LockOutcome> {
        const OP: Op = Op::Lock;
        let mut decide = |head: &Head| match head.lock() {
            Some(held) if held.id != lock.id => refuse(LockOutcome::Held(held.clone())),
            // Nothing is to be changed if the answer to the same request got lost.
            Some(held) if lock.is_same_as(held) => refuse(LockOutcome::Locked(held.clone())),
            _ => Ok(Step::lock(lock.clone())),
        };
        match self.step_as(OP, &mut decide).await? {
            Ok(stepped) => Ok(LockOutcome::Locked(self.stepped_lock(OP, stepped)?)),
            Err(outcome) => Ok(*outcome),
        }
    }

    /// Renews the lease of a lock, so that it ends so long from now. A lock whose lease is over is renewed too, unless another
    /// client took it meanwhile.
    ///
    /// # Errors
    ///
    /// Those of [`step`](Self::step).
    pub async fn renew(&self, id: &str, lease: Option<Duration>) -> Result<RenewOutcome> {
        const OP: Op = Op::Renew;
        let mut decide = |head: &Head| match head.lock_of(id) {
            Some(_) => Ok(Step::renew(lease)),
            None => refuse(RenewOutcome::Lost(LockLoss::of(head, id))),
        };
        match self.step_as(OP, &mut decide).await? {
            Ok(stepped) => Ok(RenewOutcome::Renewed(self.stepped_lock(OP, stepped)?)),
            Err(outcome) => Ok(*outcome),
        }
    }

    /// Releases a lock.
    ///
    /// # Errors
    ///
    /// Those of [`step`](Self::step).
    pub async fn unlock(&self, id: &str) -> Result<UnlockOutcome> {
        const OP: Op = Op::Unlock;
        let mut decide = |head: &Head| match (head.lock_of(id), head.ended(id)) {
            (Some(_), _) => Ok(Step::release()),
            (None, Some(ended)) if ended.how == Ending::Released => {
                refuse(UnlockOutcome::Already(ended.clone()))
            }
            (None, _) => refuse(UnlockOutcome::Lost(LockLoss::of(head, id))),
        };
        match self.step_as(OP, &mut decide).await? {
            Ok(stepped) => Ok(UnlockOutcome::Unlocked(self.stepped_lock(OP, stepped)?)),
            Err(outcome) => Ok(*outcome),
        }
    }

    /// Ends a lock of another holder by force: the one of this id, or whichever there is.
    ///
    /// # Errors
    ///
    /// Those of [`step`](Self::step).
    pub async fn break_lock(&self, id: Option<&str>, by: &str, reason: &str) -> Result<BreakOutcome> {
        const OP: Op = Op::Break;
        let mut decide = |head: &Head| match head.recorded_lock() {
            None => refuse(BreakOutcome::NotLocked),
            Some(lock) if id.is_some_and(|id| id != lock.id) => refuse(BreakOutcome::Other(lock.clone())),
            Some(_) => Ok(Step::break_lock(by, reason)),
        };
        match self.step_as(OP, &mut decide).await? {
            Ok(stepped) => Ok(BreakOutcome::Broken(self.stepped_lock(OP, stepped)?)),
            Err(outcome) => Ok(*outcome),
        }
    }

    /// Writes a version, if lock and present version are what the options say.
    ///
    /// # Errors
    ///
    /// `Expired` for a content whose upload took too long, and those of [`step`](Self::step).
    pub async fn write(&self, content: &Content, options: &WriteOptions) -> Result<WriteOutcome> {
        let mut decide = |head: &Head| {
            options.check_lock(head)?;
            if let Some(current) = head.current().filter(|current| options.is_same(current, content)) {
                return refuse(WriteOutcome::Unchanged(Some(current.clone())));
            }
            options.check_version(head)?;
            Ok(Step::write(content.clone(), options.version.clone()))
        };
        self.written(Op::Write, &mut decide).await
    }

    /// Deletes the document: writes a version that says so. Its history stays, and it can be written again.
    ///
    /// # Errors
    ///
    /// Those of [`step`](Self::step).
    pub async fn delete(&self, options: &WriteOptions) -> Result<WriteOutcome> {
        let mut decide = |head: &Head| {
            options.check_lock(head)?;
            if head.current().is_none() && !matches!(options.expect, Expect::Number(_)) {
                return refuse(WriteOutcome::Unchanged(head.last().cloned()));
            }
            options.check_version(head)?;
            Ok(Step::delete(options.version.clone()))
        };
        self.written(Op::Delete, &mut decide).await
    }

    /// Writes the content of an old version as a new one.
    ///
    /// # Errors
    ///
    /// `NotKept` if the history does not have it, `Invalid` for a deletion, and those of [`step`](Self::step).
    pub async fn restore(&self, number: u64, options: &WriteOptions) -> Result<WriteOutcome> {
        let mut decide = |head: &Head| {
            options.check_lock(head)?;
            options.check_version(head)?;
            Ok(Step::restore(number, options.version.clone()))
        };
        self.written(Op::Restore, &mut decide).await
    }

    /// Protects a version from retention, or leaves it to retention again.
    ///
    /// # Errors
    ///
    /// `NotKept` if the history does not have it, `TooLarge` for more than 256 pinned versions, and those of [`step`](Self::step).
    pub async fn pin(&self, number: u64, pinned: bool) -> Result<Head> {
        let mut decide = |head: &Head| {
            let is_pinned = head.pins().any(|pin| pin == number);
            Ok::<_, Infallible>(match (is_pinned, pinned) {
                (false, true) => Step::pin(number),
                (true, false) => Step::unpin(number),
                _ => Step::nothing(),
            })
        };
        let Ok(stepped) = self.step_as(Op::Pin, &mut decide).await?;
        Ok(stepped.head)
    }

    async fn written(&self, op: Op, decide: &mut Decide<'_, Box<WriteOutcome>>) -> Result<WriteOutcome> {
        match self.step_as(op, decide).await? {
            Ok(Stepped { version: Some(version), .. }) => Ok(WriteOutcome::Written(version)),
            Ok(_) => Err(Error::new(ErrorKind::Internal, op, self.place())),
            Err(outcome) => Ok(*outcome),
        }
    }

    fn stepped_lock(&self, op: Op, stepped: Stepped) -> Result<Lock> {
        stepped.lock.ok_or_else(|| Error::new(ErrorKind::Internal, op, self.place()))
    }
}

impl WriteOptions {
    fn check_lock(&self, head: &Head) -> Result<(), Box<WriteOutcome>> {
        let Some(id) = &self.version.lock else {
            return head.lock().map_or(Ok(()), |lock| refuse(WriteOutcome::Held(lock.clone())));
        };
        match head.lock_of(id) {
            Some(lock) if self.token.is_none_or(|token| token == lock.token) => Ok(()),
            _ => refuse(WriteOutcome::Lost(LockLoss::of(head, id))),
        }
    }

    fn check_version(&self, head: &Head) -> Result<(), Box<WriteOutcome>> {
        let is_met = match self.expect {
            Expect::Any => true,
            Expect::Absent => head.current().is_none(),
            Expect::Number(number) => head.current().is_some_and(|current| current.number == number),
        };
        if is_met { Ok(()) } else { refuse(WriteOutcome::Conflict(head.current().cloned())) }
    }

    /// Whether the caller wrote this version before.
    fn is_same(&self, current: &Version, content: &Content) -> bool {
        let is_equal = current.sha256 == content.sha256() && current.size == content.size();
        is_equal
            && match self.same {
                Same::Always => true,
                Same::Never => false,
                Same::UnderSameLock => current.lock.is_some() && current.lock == self.version.lock,
            }
    }
}
