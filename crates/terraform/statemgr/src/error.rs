//! The error of managers and stores: a coarse kind for callers to act on, and what they need to act.

use std::fmt;

use crate::Op;
use crate::holder::LockHolder;

/// What stores and managers return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

groundstate_common::failure! {
    /// Why an operation on a store or a manager did not happen.
    ///
    /// Callers act on the [`kind`](Self::kind); the text says which operation, at which place, and why. The cause, if there
    /// is one, is in [`source`](std::error::Error::source) and not in the text.
    pub struct Error { kind: ErrorKind, op: Op, told: More }
}

/// What a caller needs to act, and what failed after it, as its text.
#[derive(Debug, Default)]
struct More {
    detail: Detail,
    also: Option<String>,
}

#[derive(Debug, Default)]
enum Detail {
    #[default]
    None,
    Held(Box<LockHolder>),
    /// The lock was held when it was asked for, and free when its holder was looked up.
    Raced,
    Mismatch {
        expected: String,
        found: String,
    },
}

impl fmt::Display for More {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.detail {
            Detail::None => {}
            Detail::Held(holder) => write!(f, " by {holder}")?,
            Detail::Raced => f.write_str(" by a client that has just released it, try again")?,
            Detail::Mismatch { expected, found } => write!(f, " (expected {expected}, found {found})")?,
        }
        self.also.iter().try_for_each(|also| write!(f, "; afterwards, {also}"))
    }
}

groundstate_common::worded! {
    /// What a caller can do about an error.
    #[derive(PartialOrd, Ord)]
    pub enum ErrorKind => summary {
        /// What was asked for is not there: the lock, or the place itself (a bucket, a directory). Create it or give up.
        NotFound = "it does not exist",
        /// The lock is held; [`Error::holder`] says by whom, if it is known. Wait, or ask them.
        Locked = "it is locked",
        /// What is stored is not what was expected; [`Error::mismatch`] has both. Refresh, do the work again, retry.
        Conflict = "it has changed meanwhile, refresh and try again",
        /// The lock that the caller believes to hold was lost: it expired or was broken. Give up, or lock, refresh and do
        /// the work again.
        LockLost = "the lock was lost, take it again and refresh",
        /// The snapshot belongs to another chain of snapshots. Check the place; only force gets past this.
        LineageMismatch = "the lineages differ",
        /// The store cannot do this, as its capabilities say. Do without.
        Unsupported = "the store cannot do this",
        /// Credentials or permissions do not suffice. Fix them.
        Denied = "permission was denied",
        /// The store does not answer, or has no room, and nothing has happened. Retry later.
        Unavailable = "the store is not available, try again later",
        /// The answer got lost: it may have happened or not. Read before anything else.
        Ambiguous = "it is not known whether it happened, read the state again",
        /// What is stored cannot be understood. Repair it, or bring back a backup.
        Corrupt = "what is stored is damaged",
        /// What was asked for is done, but its lock was lost meanwhile or could not be released. Read the state, and free the
        /// lock if the text says that it is held.
        NotReleased = "it is done, but its lock was lost or could not be released",
        /// The caller's arguments are invalid. Fix the call.
        Invalid = "the arguments are not valid",
        /// A defect of the store or the manager. Report it.
        Internal = "there is a defect in the store",
    }
}

impl Error {
    /// The lock is held, by `holder` if its record could be read.
    pub fn locked(op: Op, target: impl fmt::Display, holder: Option<LockHolder>) -> Self {
        let mut error = Self::new(ErrorKind::Locked, op, target);
        if let Some(holder) = holder {
            error.0.more.detail = Detail::Held(Box::new(holder));
        }
        error
    }

    /// The lock was held, and was free again when its holder was looked up: worth another try at once.
    pub fn raced(op: Op, target: impl fmt::Display) -> Self {
        let mut error = Self::new(ErrorKind::Locked, op, target);
        error.0.more.detail = Detail::Raced;
        error
    }

    /// What is stored is `found` where `expected` was asked for.
    pub fn conflict(
        op: Op,
        target: impl fmt::Display,
        expected: impl fmt::Display,
        found: impl fmt::Display,
    ) -> Self {
        Self::new(ErrorKind::Conflict, op, target).expected_and_found(expected, found)
    }

    /// The store has no capability for this.
    pub fn unsupported(op: Op, target: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Unsupported, op, target)
    }

    /// Adds what failed after it, such as the release of a lock.
    #[must_use]
    pub fn and_also(mut self, other: &Self) -> Self {
        self.0.more.also = Some(other.to_string());
        self
    }

    /// Keeps what was expected and what was found.
    #[must_use]
    pub fn expected_and_found(mut self, expected: impl fmt::Display, found: impl fmt::Display) -> Self {
        self.0.more.detail = Detail::Mismatch { expected: expected.to_string(), found: found.to_string() };
        self
    }

    /// Who holds the lock, if the error is about that and the holder left a record.
    pub fn holder(&self) -> Option<&LockHolder> {
        match &self.0.more.detail {
            Detail::Held(holder) => Some(holder),
            _ => None,
        }
    }

    /// What was expected and what was found, if the error is about that.
    pub fn mismatch(&self) -> Option<(&str, &str)> {
        match &self.0.more.detail {
            Detail::Mismatch { expected, found } => Some((expected, found)),
            _ => None,
        }
    }

    /// Whether the same call may succeed later without anything being done about it.
    ///
    /// A held lock always counts. The original programs count one only if its holder left a record with an id, because their
    /// other failures to lock look the same; here those have kinds of their own.
    pub fn retriable(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Unavailable | ErrorKind::Locked)
    }

    /// Whether another try makes sense without waiting.
    pub fn retriable_at_once(&self) -> bool {
        matches!(self.0.more.detail, Detail::Raced)
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, ErrorKind};
    use crate::Op;
    use crate::{LockHolder, LockId, LockInfo};

    #[test]
    fn says_only_its_own_level() {
        let cause = std::io::Error::other("the wire is cut");
        let error = Error::new(ErrorKind::Unavailable, Op::Read, "memory:prod").with_source(cause);
        assert_eq!(error.to_string(), "cannot read memory:prod: the store is not available, try again later");
        let source = std::error::Error::source(&error).unwrap();
        assert_eq!(source.to_string(), "the wire is cut");
    }

    #[test]
    fn is_found_behind_other_errors() {
        #[derive(Debug, thiserror::Error)]
        #[error("the apply stopped")]
        struct Wrapper(#[source] Error);

        let outer = Wrapper(Error::conflict(Op::Write, "memory:prod", "version 1", "version 2"));
        let found = Error::find(&outer).unwrap();
        assert_eq!(found.kind(), ErrorKind::Conflict);
        assert_eq!(found.mismatch(), Some(("version 1", "version 2")));
        assert!(Error::find(&std::io::Error::other("nothing")).is_none());
    }

    #[test]
    fn a_held_lock_is_worth_waiting_for() {
        let holder = |id: &str| LockHolder::of(LockInfo { id: LockId::new(id), ..LockInfo::default() });
        let rows = [
            (Error::locked(Op::Lock, "a", Some(holder("1"))), true, false),
            (Error::locked(Op::Lock, "a", Some(holder(""))), true, false),
            (Error::locked(Op::Lock, "a", None), true, false),
            (Error::raced(Op::Lock, "a"), true, true),
            (Error::new(ErrorKind::Unavailable, Op::Lock, "a"), true, false),
            (Error::new(ErrorKind::Denied, Op::Lock, "a"), false, false),
        ];
        for (error, retriable, at_once) in rows {
            assert_eq!((error.retriable(), error.retriable_at_once()), (retriable, at_once), "{error}");
        }
    }
}
