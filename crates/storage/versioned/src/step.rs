//! What a step changes of a document.

use std::time::Duration;

use groundstate_common::Timestamp;

use crate::content::Content;
use crate::head::{Head, Pin};
use crate::lock::{EndedLock, Ending, Lock, NewLock};
use crate::version::{Note, Version};
use crate::wire::Extra;

/// What a step changes: at most one version, one lock and one pin, all or nothing.
///
/// The lock is taken or renewed first, then the version is written, then the lock is released or broken.
#[derive(Clone, Debug, Default)]
pub struct Step {
    pub(crate) version: Option<VersionStep>,
    pub(crate) lock: Option<LockStep>,
    pub(crate) pin: Option<PinStep>,
    pub(crate) sweep: Option<SweepStep>,
}

/// What a sweep changes before it removes anything. With nothing in it, it fences: steps of clients that have read an earlier
/// head are refused from then on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SweepStep {
    /// The oldest version that is retained from now on.
    pub(crate) oldest: Option<u64>,
    pub(crate) epoch: EpochStep,
}

/// What becomes of the epoch of uploads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum EpochStep {
    #[default]
    Stay,
    /// Uploads of earlier epochs are given up, and the next epoch begins.
    Next,
    /// The clock that began it was wrong: it begins now.
    Restart,
}

#[derive(Clone, Debug)]
pub(crate) enum VersionStep {
    Write(Content, VersionOptions),
    Delete(VersionOptions),
    Restore(u64, VersionOptions),
}

#[derive(Clone, Debug)]
pub(crate) enum LockStep {
    Take(NewLock),
    Renew(Option<Duration>),
    Release,
    Break { by: String, reason: String },
}

#[derive(Clone, Debug)]
pub(crate) enum PinStep {
    Pin(u64),
    Unpin(u64),
}

/// What is kept with a version.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct VersionOptions {
    /// The id of the lock under which it is written; the document has to have that lock, even if its lease is over.
    pub lock: Option<String>,
    /// Who writes it; at most 512 bytes.
    pub by: String,
    /// What the caller keeps with it.
    pub note: Option<Note>,
}

impl VersionOptions {
    /// Writes it under a lock.
    #[must_use]
    pub fn lock(mut self, id: impl Into<String>) -> Self {
        self.lock = Some(id.into());
        self
    }

    /// Says who writes it.
    #[must_use]
    pub fn by(mut self, by: impl Into<String>) -> Self {
        self.by = by.into();
        self
    }

    /// Keeps a note with it.
    #[must_use]
    pub fn note(mut self, note: Note) -> Self {
        self.note = Some(note);
        self
    }
}

impl Step {
    /// Changes nothing.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Takes the lock. The document must not have another lock that is in force; under the same id its document and lease are
    /// replaced, and its token stays.
    pub fn lock(lock: NewLock) -> Self {
        Self { lock: Some(LockStep::Take(lock)), ..Self::default() }
    }

    /// Renews the lease of the lock that the document has, from now on; `None` takes its end away.
    pub fn renew(lease: Option<Duration>) -> Self {
        Self { lock: Some(LockStep::Renew(lease)), ..Self::default() }
    }

    /// Releases the lock that the document has.
    pub fn release() -> Self {
        Self { lock: Some(LockStep::Release), ..Self::default() }
    }

    /// Ends the lock that the document has by force. Its holder finds out who did and why.
    pub fn break_lock(by: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { lock: Some(LockStep::Break { by: by.into(), reason: reason.into() }), ..Self::default() }
    }

    /// Writes a version.
    pub fn write(content: Content, options: VersionOptions) -> Self {
        Self { version: Some(VersionStep::Write(content, options)), ..Self::default() }
    }

    /// Writes the version that says that the document is deleted. Its history stays.
    pub fn delete(options: VersionOptions) -> Self {
        Self { version: Some(VersionStep::Delete(options)), ..Self::default() }
    }

    /// Writes the content of an old version as a new one.
    pub fn restore(number: u64, options: VersionOptions) -> Self {
        Self { version: Some(VersionStep::Restore(number, options)), ..Self::default() }
    }

    /// Protects a version from retention.
    pub fn pin(number: u64) -> Self {
        Self { pin: Some(PinStep::Pin(number)), ..Self::default() }
    }

    /// Leaves a version to retention again.
    pub fn unpin(number: u64) -> Self {
        Self { pin: Some(PinStep::Unpin(number)), ..Self::default() }
    }

    /// Changes nothing but the revision.
    pub(crate) fn fence() -> Self {
        Self { sweep: Some(SweepStep::default()), ..Self::default() }
    }

    /// Makes the changes of another step too, in the same step; those of the other count where both have one of a kind.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            version: other.version.or(self.version),
            lock: other.lock.or(self.lock),
            pin: other.pin.or(self.pin),
            sweep: other.sweep.or(self.sweep),
        }
    }

    /// Whether it changes nothing.
    pub fn is_nothing(&self) -> bool {
        let Self { version, lock, pin, sweep } = self;
        version.is_none() && lock.is_none() && pin.is_none() && sweep.is_none()
    }
}

/// The longest document of a lock.
const LONGEST_DOCUMENT: usize = 32 << 10;
/// The longest id of a lock, and the longest name of a person.
const LONGEST_ID: usize = 512;
/// The longest reason.
const LONGEST_REASON: usize = 2048;
/// How many versions can be pinned.
const MOST_PINS: usize = 256;

/// Why a step cannot be carried out.
pub(crate) enum Refused {
    Invalid(&'static str),
    TooLarge(&'static str),
}

impl VersionStep {
    pub(crate) fn options(&self) -> &VersionOptions {
        match self {
            Self::Write(_, options) | Self::Delete(options) | Self::Restore(_, options) => options,
        }
    }
}

impl Step {
    /// Whether what it has is small enough to be kept.
    pub(crate) fn check(&self) -> Result<(), Refused> {
        let by = match &self.lock {
            Some(LockStep::Take(lock)) => {
                if lock.id.is_empty() {
                    return Err(Refused::Invalid("the id of the lock is empty"));
                }
                if lock.id.len() > LONGEST_ID {
                    return Err(Refused::TooLarge("the id of the lock is longer than 512 bytes"));
                }
                if lock.document.len() > LONGEST_DOCUMENT {
                    return Err(Refused::TooLarge("the document of the lock is longer than 32 KiB"));
                }
                &lock.by
            }
            Some(LockStep::Break { by, reason }) if reason.len() <= LONGEST_REASON => by,
            Some(LockStep::Break { .. }) => return Err(Refused::TooLarge("the reason is longer than 2 KiB")),
            _ => "",
        };
        let writer = self.version.as_ref().map_or("", |version| &version.options().by);
        if by.len().max(writer.len()) > LONGEST_ID {
            return Err(Refused::TooLarge("who does it is longer than 512 bytes"));
        }
        Ok(())
    }

    /// Changes the lock before the version is written.
    pub(crate) fn apply_before(&self, head: &mut Head) -> Result<(), Refused> {
        let now = head.now;
        let end =
            |lease: Option<Duration>| lease.map(|lease| now.checked_add(lease).unwrap_or(Timestamp::MAX));
        match &self.lock {
            Some(LockStep::Take(new)) => {
                let (token, taken) = match &head.lock {
                    Some(lock) if lock.id == new.id => (lock.token, lock.taken),
                    Some(lock) if lock.is_in_force(now) => {
                        return Err(Refused::Invalid("the document has another lock"));
                    }
                    _ => (head.token + 1, now),
                };
                if let Some(old) = head.lock.take_if(|lock| lock.id != new.id) {
                    head.end_lock(EndedLock {
                        id: old.id,
                        token: old.token,
                        time: now,
                        how: Ending::Expired,
                    });
                }
                head.token = token;
                head.lock = Some(Lock {
                    id: new.id.clone(),
                    document: new.document.clone(),
                    token,
                    taken,
                    expires: end(new.lease),
                    by: new.by.clone(),
                    extra: Extra::new(),
                });
                Ok(())
            }
            Some(LockStep::Renew(lease)) => match &mut head.lock {
                Some(lock) => {
                    lock.expires = end(*lease);
                    Ok(())
                }
                None => Err(Refused::Invalid("the document has no lock to be renewed")),
            },
            _ => Ok(()),
        }
    }

    /// Makes a version the last one.
    pub(crate) fn apply_version(head: &mut Head, version: Version) {
        head.last = Some(version);
    }

    /// Changes everything that comes behind the version. A pin names its version by id.
    pub(crate) fn apply_after(&self, head: &mut Head, pin: Option<Pin>) -> Result<(), Refused> {
        let how = match &self.lock {
            Some(LockStep::Release) => Some(Ending::Released),
            Some(LockStep::Break { by, reason }) => {
                Some(Ending::Broken { by: by.clone(), reason: reason.clone() })
            }
            _ => None,
        };
        if let Some(how) = how {
            let Some(lock) = head.lock.take() else {
                return Err(Refused::Invalid("the document has no lock to be released"));
            };
            head.end_lock(EndedLock { id: lock.id, token: lock.token, time: head.now, how });
        }
        if let Some(PinStep::Unpin(number)) = self.pin {
            head.pins.retain(|pin| pin.number != number);
        }
        if let Some(pin) = pin {
            head.pins.retain(|other| other.number != pin.number);
            if head.pins.len() == MOST_PINS {
                return Err(Refused::TooLarge("256 versions are pinned already"));
            }
            head.pins.push(pin);
            head.pins.sort_by_key(|pin| pin.number);
        }
        if let Some(sweep) = self.sweep {
            if let Some(oldest) = sweep.oldest {
                head.oldest = head.oldest.max(oldest.min(head.number()));
            }
            if sweep.epoch == EpochStep::Next {
                head.uploads.given_up_before = head.uploads.epoch;
                head.uploads.epoch = head.uploads.epoch.saturating_add(1);
            }
            if sweep.epoch != EpochStep::Stay {
                head.uploads.since = Some(head.now);
            }
        }
        Ok(())
    }
}
