//! The error of blob stores: a coarse kind for callers to act on, the place, the reason and the next step.

use std::fmt;
use std::time::Duration;

use crate::blob::Blob;

/// What blob stores return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A cause of any type.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why an operation on a blob store did not happen.
///
/// Callers act on the [`kind`](Self::kind); the text says which operation, at which place, why, and what to change. The
/// cause, if there is one, is in [`source`](std::error::Error::source) and not in the text.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    op: &'static str,
    place: String,
    message: Option<String>,
    next_step: Option<String>,
    found: Option<Blob>,
    retry_after: Option<Duration>,
    source: Option<BoxError>,
}

/// What a caller can do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The container (bucket, directory) is not there; in [`Leases`](crate::Leases), the blob. Create it or give up.
    NotFound,
    /// What is stored is not what the condition asks for, and nothing was changed. Read, do the work again, retry.
    PreconditionFailed,
    /// What is stored is what the reader has already. Use that.
    NotModified,
    /// Another client holds the lease. Wait, or ask its holder.
    LeaseHeld,
    /// The lease that the caller names is not in force: it was broken, or another client's is. Give up, or lock again.
    LeaseLost,
    /// The answer got lost: it may have happened or not. Read before anything else.
    Ambiguous,
    /// The credentials are known and do not allow this. Grant the permission.
    Denied,
    /// There are no credentials, or they are not valid. Fix them.
    Unauthenticated,
    /// The container is in another region. Name that one.
    WrongRegion,
    /// This machine's clock is too far from the service's. Set it.
    ClockSkew,
    /// The service asks for fewer requests, and nothing has happened. Retry later.
    Throttled,
    /// The service does not answer, or has no room, and nothing has happened. Retry later.
    Unavailable,
    /// The store cannot do this, as its capabilities say. Do without.
    Unsupported,
    /// The name cannot be a key everywhere. Choose another.
    InvalidKey,
    /// The answer is longer than it may be, or takes longer. Raise the limit if it is right, or look at who answers.
    LimitExceeded,
    /// The caller's arguments or settings are invalid. Fix them.
    Invalid,
    /// What arrived is not what was stored or sent. Retry; if it stays, bring back a backup.
    Corrupt,
    /// A defect of the store or the service. Report it.
    Internal,
}

impl ErrorKind {
    /// The kind in words.
    pub fn summary(self) -> &'static str {
        match self {
            Self::NotFound => "it does not exist",
            Self::PreconditionFailed => "something else is stored than was expected",
            Self::NotModified => "it has not changed",
            Self::LeaseHeld => "another client holds a lease on it",
            Self::LeaseLost => "the lease is not in force any more",
            Self::Ambiguous => "the answer got lost, so it is not known whether it happened",
            Self::Denied => "permission was denied",
            Self::Unauthenticated => "the credentials are missing or not valid",
            Self::WrongRegion => "it is in another region",
            Self::ClockSkew => "the clock of this machine is wrong",
            Self::Throttled => "the service asks for fewer requests",
            Self::Unavailable => "the service is not available",
            Self::Unsupported => "the store cannot do this",
            Self::InvalidKey => "the key is not valid",
            Self::LimitExceeded => "the answer exceeds a limit",
            Self::Invalid => "the arguments are not valid",
            Self::Corrupt => "what arrived is damaged",
            Self::Internal => "there is a defect in the store or the service",
        }
    }

    /// Whether the same call may succeed later without anything being done about it, nothing having happened so far.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::Throttled | Self::Unavailable)
    }
}

impl Error {
    /// An error of `kind`: `op` is a verb such as `write`, `place` names the place without secrets.
    pub fn new(kind: ErrorKind, op: &'static str, place: impl fmt::Display) -> Self {
        let place = place.to_string();
        let (message, next_step, found, retry_after, source) = (None, None, None, None, None);
        Self(Box::new(Inner { kind, op, place, message, next_step, found, retry_after, source }))
    }

    /// The store has no capability for this.
    pub fn unsupported(op: &'static str, place: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Unsupported, op, place)
    }

    /// Says in words why, in place of the kind's own words; lower case, no full stop, no secrets.
    #[must_use]
    pub fn because(mut self, message: impl Into<String>) -> Self {
        self.0.message = Some(message.into());
        self
    }

    /// Says what to change; an order, lower case, no full stop.
    #[must_use]
    pub fn next_step(mut self, next_step: impl Into<String>) -> Self {
        self.0.next_step = Some(next_step.into());
        self
    }

    /// Keeps what was found stored instead, so that it need not be read again.
    #[must_use]
    pub fn with_found(mut self, found: Option<Blob>) -> Self {
        self.0.found = found;
        self
    }

    /// Keeps the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What a caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The operation that failed, a verb.
    pub fn op(&self) -> &'static str {
        self.0.op
    }

    /// The place it failed at.
    pub fn place(&self) -> &str {
        &self.0.place
    }

    /// Why, in words.
    pub fn reason(&self) -> &str {
        self.0.message.as_deref().unwrap_or(self.0.kind.summary())
    }

    /// What to change, if that is known.
    pub fn step(&self) -> Option<&str> {
        self.0.next_step.as_deref()
    }

    /// What is stored instead of what the condition asked for, if it was read. `None` is not knowledge of absence.
    pub fn found(&self) -> Option<&Blob> {
        self.0.found.as_ref()
    }

    /// How long the service asks to wait before the next attempt.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Says how long to wait before the next attempt.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after = Some(wait);
        self
    }

    /// The first error of this type in `error` and its causes.
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
        let Inner { op, place, next_step, .. } = &*self.0;
        write!(f, "cannot {op} {place}: {}", self.reason())?;
        match next_step {
            Some(step) => write!(f, "; {step}"),
            None => Ok(()),
        }
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

    #[test]
    fn stays_as_small_as_a_pointer() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }

    #[test]
    fn says_operation_place_reason_and_next_step_but_not_the_cause() {
        let error = Error::new(ErrorKind::Denied, "read", "s3://b/k")
            .next_step("grant s3:GetObject")
            .with_source(std::io::Error::other("403"));
        assert_eq!(error.to_string(), "cannot read s3://b/k: permission was denied; grant s3:GetObject");
        assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "403");
        assert_eq!(Error::find(&error).unwrap().kind(), ErrorKind::Denied);
    }
}
