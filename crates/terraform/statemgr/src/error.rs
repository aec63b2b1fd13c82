//! The error of managers and stores: a coarse kind for callers to act on, and what they need to act.

use std::fmt;

use crate::Op;
use crate::holder::LockHolder;

/// What stores and managers return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A cause of any type.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why an operation on a store or a manager did not happen.
///
/// Callers act on the [`kind`](Self::kind); the text says which operation, at which place, and why. The cause, if there
/// is one, is in [`source`](std::error::Error::source) and not in the text.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    op: Op,
    target: String,
    message: Option<String>,
    detail: Detail,
    /// What failed after it, as its text.
    also: Option<String>,
    source: Option<BoxError>,
}

#[derive(Debug)]
enum Detail {
    None,
    Held(Box<LockHolder>),
    /// The lock was held when it was asked for, and free when its holder was looked up.
    Raced,
    Mismatch {
        expected: String,
        found: String,
    },
}

/// What a caller can do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ErrorKind {
    /// What was asked for is not there: the lock, or the place itself (a bucket, a directory). Create it or give up.
    NotFound,
    /// The lock is held; [`Error::holder`] says by whom, if it is known. Wait, or ask them.
    Locked,
    /// What is stored is not what was expected; [`Error::mismatch`] has both. Refresh, do the work again, retry.
    Conflict,
    /// The lock that the caller believes to hold was lost: it expired or was broken. Give up, or lock, refresh and do
    /// the work again.
    LockLost,
    /// The snapshot belongs to another chain of snapshots. Check the place; only force gets past this.
    LineageMismatch,
    /// The store cannot do this, as its capabilities say. Do without.
    Unsupported,
    /// Credentials or permissions do not suffice. Fix them.
    Denied,
    /// The store does not answer, or has no room, and nothing has happened. Retry later.
    Unavailable,
    /// The answer got lost: it may have happened or not. Read before anything else.
    Ambiguous,
    /// What is stored cannot be understood. Repair it, or bring back a backup.
    Corrupt,
    /// What was asked for is done, but its lock was lost meanwhile or could not be released. Read the state, and free the
    /// lock if the text says that it is held.
    NotReleased,
    /// The caller's arguments are invalid. Fix the call.
    Invalid,
    /// A defect of the store or the manager. Report it.
    Internal,
}

impl ErrorKind {
    /// The kind in words.
    pub fn summary(self) -> &'static str {
        match self {
            Self::NotFound => "it does not exist",
            Self::Locked => "it is locked",
            Self::Conflict => "it has changed meanwhile, refresh and try again",
            Self::LockLost => "the lock was lost, take it again and refresh",
            Self::LineageMismatch => "the lineages differ",
            Self::Unsupported => "the store cannot do this",
            Self::Denied => "permission was denied",
            Self::Unavailable => "the store is not available, try again later",
            Self::Ambiguous => "it is not known whether it happened, read the state again",
            Self::Corrupt => "what is stored is damaged",
            Self::NotReleased => "it is done, but its lock was lost or could not be released",
            Self::Invalid => "the arguments are not valid",
            Self::Internal => "there is a defect in the store",
        }
    }
}

impl Error {
    /// An error of `kind`: `op` is what was attempted, `target` names the place without secrets.
    pub fn new(kind: ErrorKind, op: Op, target: impl fmt::Display) -> Self {
        let inner = Inner {
            kind,
            op,
            target: target.to_string(),
            message: None,
            detail: Detail::None,
            also: None,
            source: None,
        };
        Self(Box::new(inner))
    }

    /// The lock is held, by `holder` if its record could be read.
    pub fn locked(op: Op, target: impl fmt::Display, holder: Option<LockHolder>) -> Self {
        let mut error = Self::new(ErrorKind::Locked, op, target);
        if let Some(holder) = holder {
            error.0.detail = Detail::Held(Box::new(holder));
        }
        error
    }

    /// The lock was held, and was free again when its holder was looked up: worth another try at once.
    pub fn raced(op: Op, target: impl fmt::Display) -> Self {
        let mut error = Self::new(ErrorKind::Locked, op, target);
        error.0.detail = Detail::Raced;
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

    /// Says in words why, in place of the kind's own words; lower case, no full stop, no secrets.
    #[must_use]
    pub fn because(mut self, message: impl Into<String>) -> Self {
        self.0.message = Some(message.into());
        self
    }

    /// Adds what failed after it, such as the release of a lock.
    #[must_use]
    pub fn and_also(mut self, other: &Self) -> Self {
        self.0.also = Some(other.to_string());
        self
    }

    /// Keeps the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Keeps what was expected and what was found.
    #[must_use]
    pub fn expected_and_found(mut self, expected: impl fmt::Display, found: impl fmt::Display) -> Self {
        self.0.detail = Detail::Mismatch { expected: expected.to_string(), found: found.to_string() };
        self
    }

    /// What a caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The operation that failed.
    pub fn op(&self) -> Op {
        self.0.op
    }

    /// The place it failed at.
    pub fn target(&self) -> &str {
        &self.0.target
    }

    /// Why it failed: the text without the operation and the place, for errors that go on from it.
    pub fn reason(&self) -> impl fmt::Display + '_ {
        Reason(&self.0)
    }

    /// Who holds the lock, if the error is about that and the holder left a record.
    pub fn holder(&self) -> Option<&LockHolder> {
        match &self.0.detail {
            Detail::Held(holder) => Some(holder),
            _ => None,
        }
    }

    /// What was expected and what was found, if the error is about that.
    pub fn mismatch(&self) -> Option<(&str, &str)> {
        match &self.0.detail {
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
        matches!(self.0.detail, Detail::Raced)
    }

    /// The first error of this type in `error` and its causes.
    ///
    /// Wrappers may hide an error of a store inside one of their own; callers that act on kinds look through them.
    pub fn find<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(found) = error.downcast_ref::<Self>() {
                return Some(found);
            }
            next = error.source();
        }
        None
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}: {}", self.0.op, self.0.target, self.reason())
    }
}

/// Why it failed, without the operation and the place.
struct Reason<'e>(&'e Inner);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { kind, message, detail, also, .. } = self.0;
        f.write_str(message.as_deref().unwrap_or(kind.summary()))?;
        match detail {
            Detail::None => {}
            Detail::Held(holder) => write!(f, " by {holder}")?,
            Detail::Raced => f.write_str(" by a client that has just released it, try again")?,
            Detail::Mismatch { expected, found } => write!(f, " (expected {expected}, found {found})")?,
        }
        also.iter().try_for_each(|also| write!(f, "; afterwards, {also}"))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| &**source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, ErrorKind};
    use crate::Op;
    use crate::{LockHolder, LockId, LockInfo};

    #[test]
    fn stays_as_small_as_a_pointer() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }

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
