//! The head of a document: its last version, its lock, and what the next step needs to know.

use bytes::Bytes;
use groundstate_blobs::sealed;
use groundstate_common::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::ids::{AttemptId, VersionId};
use crate::layout::LAST_NUMBER;
use crate::lock::{EndedLock, Lock};
use crate::name::Name;
use crate::version::Version;
use crate::wire::{self, Extra, FORMAT, Unreadable, members};

/// How many attempts a head remembers. A client whose answer got lost finds out what happened as long as not more came after.
const ATTEMPTS: usize = 32;
/// How many locks that ended a head remembers.
const ENDED: usize = 16;

/// What is true of a document at a time. One of a document that was never written has nothing.
#[derive(Clone, Debug)]
pub struct Head {
    pub(crate) now: Timestamp,
    /// Grows by one with each change of the head.
    pub(crate) revision: u64,
    pub(crate) token: u64,
    pub(crate) last: Option<Version>,
    pub(crate) lock: Option<Lock>,
    pub(crate) ended: Vec<EndedLock>,
    pub(crate) pins: Vec<Pin>,
    /// The number of the oldest version that is retained, apart from pinned ones.
    pub(crate) oldest: u64,
    pub(crate) uploads: Uploads,
    /// The last attempts that were carried out, the newest last: that of this revision, of the one before, and so on.
    pub(crate) attempts: Vec<AttemptId>,
    pub(crate) extra: Extra,
}

/// A version that retention does not remove.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pin {
    pub(crate) number: u64,
    pub(crate) id: VersionId,
}

/// Which uploads a step may refer to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Uploads {
    /// The epoch of uploads that begin now.
    pub(crate) epoch: u32,
    /// Uploads of epochs before this one are given up: no step refers to them any more.
    pub(crate) given_up_before: u32,
    /// When the epoch began, by the clock of the sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) since: Option<Timestamp>,
}

members! {
    struct Wire {
        format: u64,
        name: String,
        revision: u64,
        token: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last: Option<Box<RawValue>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lock: Option<Box<RawValue>>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ended: Vec<EndedLock>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pins: Vec<Pin>,
        oldest: u64,
        uploads: Uploads,
        attempts: Vec<AttemptId>,
    }
}

impl Head {
    /// The head of a document that was never written.
    pub(crate) fn absent(now: Timestamp) -> Self {
        Self {
            now,
            revision: 0,
            token: 0,
            last: None,
            lock: None,
            ended: Vec::new(),
            pins: Vec::new(),
            oldest: 1,
            uploads: Uploads::default(),
            attempts: Vec::new(),
            extra: Extra::new(),
        }
    }

    /// The present version; none if the document was never written or is deleted.
    pub fn current(&self) -> Option<&Version> {
        self.last.as_ref().filter(|version| !version.deleted)
    }

    /// The last version, which may be a deletion.
    pub fn last(&self) -> Option<&Version> {
        self.last.as_ref()
    }

    /// The number of the last version, 0 before the first.
    pub fn number(&self) -> u64 {
        self.last.as_ref().map_or(0, |version| version.number)
    }

    /// The lock that others have to respect now.
    pub fn lock(&self) -> Option<&Lock> {
        self.lock.as_ref().filter(|lock| lock.is_in_force(self.now))
    }

    /// The lock even if its lease is over. Until another client takes the lock, its holder may write and renew it.
    pub fn recorded_lock(&self) -> Option<&Lock> {
        self.lock.as_ref()
    }

    /// The lock that `id` names, even if its lease is over.
    pub fn lock_of(&self, id: &str) -> Option<&Lock> {
        self.lock.as_ref().filter(|lock| lock.id == id)
    }

    /// How the lock that `id` names ended, if it is one of the last sixteen that did.
    pub fn ended(&self, id: &str) -> Option<&EndedLock> {
        self.ended.iter().rev().find(|ended| ended.id == id)
    }

    /// The fencing token of the last lock, 0 before the first. It never goes back, also where documents are deleted.
    pub fn token(&self) -> u64 {
        self.token
    }

    /// The number of the oldest version that is retained, apart from pinned ones.
    pub fn oldest(&self) -> u64 {
        self.oldest
    }

    /// The numbers of the versions that retention does not remove, in order.
    pub fn pins(&self) -> impl ExactSizeIterator<Item = u64> {
        self.pins.iter().map(|pin| pin.number)
    }

    /// Whether the history has a version of this number.
    pub fn keeps(&self, number: u64) -> bool {
        let is_recent = (self.oldest.max(1)..=self.number()).contains(&number);
        is_recent || self.pins.iter().any(|pin| pin.number == number)
    }

    /// When this was true, by the clock of this client.
    pub fn time(&self) -> Timestamp {
        self.now
    }

    /// Which attempt made the revision; none if this head does not remember.
    pub(crate) fn attempt_at(&self, revision: u64) -> Option<&AttemptId> {
        let back = usize::try_from(self.revision.checked_sub(revision)?).ok()?;
        self.attempts.iter().rev().nth(back)
    }

    /// The head that an attempt puts in place of this one, to be changed by a step.
    pub(crate) fn next(&self, attempt: AttemptId) -> Self {
        let mut next = self.clone();
        next.revision += 1;
        next.attempts.push(attempt);
        let surplus = next.attempts.len().saturating_sub(ATTEMPTS);
        next.attempts.drain(..surplus);
        next
    }

    /// Remembers how a lock ended.
    pub(crate) fn end_lock(&mut self, ended: EndedLock) {
        self.ended.push(ended);
        let surplus = self.ended.len().saturating_sub(ENDED);
        self.ended.drain(..surplus);
    }

    pub(crate) fn read(text: &[u8], name: &Name, now: Timestamp) -> Result<Self, Unreadable> {
        let damaged = |error: serde_json::Error| Unreadable::Damaged(error.to_string());
        let opened = wire::open(text)?;
        let (wire, extra) = wire::read::<Wire>(&opened.object).map_err(damaged)?;
        let part = |problem: String| Unreadable::Damaged(problem);
        let last = wire.last.map(|last| Version::read(last.get().as_bytes())).transpose().map_err(part)?;
        let lock = wire.lock.map(|lock| Lock::read(lock.get().as_bytes())).transpose().map_err(part)?;
        let head = Self {
            now,
            revision: wire.revision,
            token: wire.token,
            last,
            lock,
            ended: wire.ended,
            pins: wire.pins,
            oldest: wire.oldest,
            uploads: wire.uploads,
            attempts: wire.attempts,
            extra,
        };
        if wire.name != name.as_str() {
            return Err(part("it is the head of another document".to_owned()));
        }
        if let Some(name) = head.unknown_member().filter(|_| opened.is_bare) {
            return Err(part(format!("no release wrote its member {name:?}")));
        }
        head.problem().map_or(Ok(head), |problem| Err(part(problem.to_owned())))
    }

    /// A member that this release does not know.
    fn unknown_member(&self) -> Option<&str> {
        let of_last = self.last.iter().flat_map(|last| last.extra.keys());
        let of_lock = self.lock.iter().flat_map(|lock| lock.extra.keys());
        self.extra.keys().chain(of_last).chain(of_lock).next().map(String::as_str)
    }

    /// What contradicts itself.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        let number = self.number();
        if self.revision == 0 || self.revision == u64::MAX || self.token == u64::MAX || number >= LAST_NUMBER
        {
            return Some("a number is out of range");
        }
        if self.lock.as_ref().is_some_and(|lock| lock.token > self.token) {
            return Some("its lock has a later token than the last");
        }
        if self.oldest > number.max(1) || self.pins.iter().any(|pin| pin.number > number) {
            return Some("it retains versions that it does not have");
        }
        (self.uploads.given_up_before > self.uploads.epoch).then_some("its epochs are not in order")
    }

    pub(crate) fn write(&self, name: &Name) -> serde_json::Result<Bytes> {
        let wire = Wire {
            format: FORMAT,
            name: name.to_string(),
            revision: self.revision,
            token: self.token,
            last: self.last.as_ref().map(Version::write).transpose()?,
            lock: self.lock.as_ref().map(Lock::write).transpose()?,
            ended: self.ended.clone(),
            pins: self.pins.clone(),
            oldest: self.oldest,
            uploads: self.uploads,
            attempts: self.attempts.clone(),
        };
        Ok(sealed::seal(wire::write(&wire, &self.extra)?.get()).into())
    }
}
