//! The error of blob stores: a coarse kind for callers to act on, the place, the reason and the next step.

use std::fmt;
use std::time::Duration;

use crate::Op;
use crate::blob::Blob;

/// What blob stores return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

groundstate_common::failure! {
    /// Why an operation on a blob store did not happen.
    ///
    /// Callers act on the [`kind`](Self::kind); the text says which operation, at which place, why, and what to change. The
    /// cause, if there is one, is in [`source`](std::error::Error::source) and not in the text.
    pub struct Error { kind: ErrorKind, op: Op, more: More }
}

/// What is known beyond the reason.
#[derive(Debug, Default)]
struct More {
    found: Option<Blob>,
    retry_after: Option<Duration>,
}

groundstate_common::worded! {
    /// What a caller can do about an error.
    #[derive(PartialOrd, Ord)]
    pub enum ErrorKind => summary {
        /// The container (bucket, directory) is not there; in [`Leases`](crate::Leases), the blob. Create it or give up.
        NotFound = "it does not exist",
        /// What is stored is not what the condition asks for, and nothing was changed. Read, do the work again, retry.
        PreconditionFailed = "something else is stored than was expected",
        /// What is stored is what the reader has already. Use that.
        NotModified = "it has not changed",
        /// Another client holds the lease. Wait, or ask its holder.
        LeaseHeld = "another client holds a lease on it",
        /// The lease that the caller names is not in force: it was broken, or another client's is. Give up, or lock again.
        LeaseLost = "the lease is not in force any more",
        /// The answer got lost: it may have happened or not. Read before anything else.
        Ambiguous = "the answer was lost, so the operation may or may not have been carried out",
        /// The credentials are known and do not allow this. Grant the permission.
        Denied = "permission was denied",
        /// There are no credentials, or they are not valid. Fix them.
        Unauthenticated = "the credentials are missing or not valid",
        /// The container is in another region. Name that one.
        WrongRegion = "it is in another region",
        /// This machine's clock is too far from the service's. Set it.
        ClockSkew = "the clock of this machine is wrong",
        /// The service asks for fewer requests, and nothing has happened. Retry later.
        Throttled = "the service asks for fewer requests",
        /// The service does not answer, or has no room, and nothing has happened. Retry later.
        Unavailable = "the service is not available",
        /// The store cannot do this, as its capabilities say. Do without.
        Unsupported = "the store cannot do this",
        /// The name cannot be a key everywhere. Choose another.
        InvalidKey = "the key is not valid",
        /// The answer is longer than it may be, or takes longer. Raise the limit if it is right, or look at who answers.
        LimitExceeded = "the answer exceeds a limit",
        /// The caller's arguments or settings are invalid. Fix them.
        Invalid = "the arguments are not valid",
        /// What arrived is not what was stored or sent. Retry; if it stays, bring back a backup.
        Corrupt = "what arrived is damaged",
        /// A defect of the store or the service. Report it.
        Internal = "there is a defect in the store or the service",
    }
}

impl ErrorKind {
    /// Whether the same call may succeed later without anything being done about it, nothing having happened so far.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::Throttled | Self::Unavailable)
    }
}

impl Error {
    /// The store has no capability for this.
    pub fn unsupported(op: Op, place: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Unsupported, op, place)
    }

    /// Keeps what was found stored instead, so that it need not be read again.
    #[must_use]
    pub fn with_found(mut self, found: Option<Blob>) -> Self {
        self.0.more.found = found;
        self
    }

    /// Says how long to wait before the next attempt.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.0.more.retry_after = Some(wait);
        self
    }

    /// What is stored instead of what the condition asked for, if it was read. `None` is not knowledge of absence.
    pub fn found(&self) -> Option<&Blob> {
        self.0.more.found.as_ref()
    }

    /// How long the service asks to wait before the next attempt.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.more.retry_after
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, ErrorKind};
    use crate::Op;

    #[test]
    fn says_operation_place_reason_and_next_step_but_not_the_cause() {
        let error = Error::new(ErrorKind::Denied, Op::Read, "s3://b/k")
            .next_step("grant s3:GetObject")
            .with_source(std::io::Error::other("403"));
        assert_eq!(error.to_string(), "cannot read s3://b/k: permission was denied; grant s3:GetObject");
        assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "403");
        assert_eq!(Error::find(&error).unwrap().kind(), ErrorKind::Denied);
    }
}
