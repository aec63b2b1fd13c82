//! The error of versioned documents: a coarse kind for callers to act on, the place, the reason and the next step.

use std::fmt;
use std::time::Duration;

use groundstate_blobs as blobs;

use crate::Op;

/// What operations on documents return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

groundstate_common::failure! {
    /// Why an operation on a document did not happen.
    ///
    /// Callers act on the [`kind`](Self::kind). What is expected to happen is not an error but an outcome, such as
    /// [`LockOutcome::Held`](crate::LockOutcome::Held).
    pub struct Error { kind: ErrorKind, op: Op, more: More }
}

/// What is known beyond the reason.
#[derive(Debug, Default)]
struct More {
    retry_after: Option<Duration>,
}

groundstate_common::worded! {
    /// What a caller can do about an error.
    #[derive(PartialOrd, Ord)]
    pub enum ErrorKind => summary {
        /// The history does not have this version: it was never written, or retention removed it. Choose another.
        NotKept = "the history does not have this version",
        /// A sweep took the upload for one that was given up. Upload the content again.
        Expired = "the upload took so long that a sweep gave it up",
        /// A limit is exceeded. Send less.
        TooLarge = "it is larger than it may be",
        /// The caller's arguments or settings are invalid. Fix them.
        Invalid = "the arguments are not valid",
        /// The store cannot do this, or a later release wrote what is stored. Choose another store, or upgrade.
        Unsupported = "it is not supported",
        /// Other clients change the document so often that no attempt got through. Nothing has happened. Retry later.
        Busy = "other clients change it all the time",
        /// The answer got lost: it may have happened or not. Repeat it, or read.
        Ambiguous = "the answer was lost, so the operation may or may not have been carried out",
        /// The container of the store does not exist. Create it, or fix the settings.
        NoContainer = "the container does not exist",
        /// The store refuses these credentials. Fix them, or grant the permission.
        Denied = "permission was denied",
        /// The store asks for fewer requests, and nothing has happened. Retry later.
        Throttled = "the store asks for fewer requests",
        /// The store does not answer, or has no room, and nothing has happened. Retry later.
        Unavailable = "the store is not available",
        /// What is stored is damaged. Restore another version, or a backup of the store.
        Corrupt = "what is stored is damaged",
        /// There is a defect in this crate, the store or the service. Report it.
        Internal = "there is a defect in the store or the service",
    }
}

impl ErrorKind {
    /// Whether the same call may succeed later without anything being done about it, nothing having happened so far.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::Busy | Self::Throttled | Self::Unavailable)
    }
}

impl Error {
    /// How long the store asks to wait before the next attempt.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.more.retry_after
    }

    /// The error of an operation that the blob store ended.
    pub(crate) fn of_store(op: Op, target: impl fmt::Display, error: blobs::Error) -> Self {
        use blobs::ErrorKind as Blob;
        let kind = match error.kind() {
            Blob::NotFound => ErrorKind::NoContainer,
            Blob::Ambiguous => ErrorKind::Ambiguous,
            Blob::Denied | Blob::Unauthenticated | Blob::ClockSkew | Blob::WrongRegion => ErrorKind::Denied,
            Blob::LeaseHeld | Blob::LeaseLost | Blob::Unavailable => ErrorKind::Unavailable,
            Blob::Throttled => ErrorKind::Throttled,
            Blob::Unsupported => ErrorKind::Unsupported,
            Blob::InvalidKey | Blob::Invalid => ErrorKind::Invalid,
            Blob::Corrupt | Blob::LimitExceeded => ErrorKind::Corrupt,
            _ => ErrorKind::Internal,
        };
        let mut new = Self::new(kind, op, target).because(error.message());
        new.0.next_step = error.step().map(str::to_owned);
        new.0.more.retry_after = error.retry_after();
        new.with_source(error)
    }
}

#[cfg(test)]
mod tests {
    use groundstate_blobs as blobs;

    use super::{Error, ErrorKind};
    use crate::Op;

    #[test]
    fn kinds_follow_what_a_caller_can_do_and_texts_keep_reason_and_next_step() {
        use blobs::ErrorKind as Blob;
        for (from, to) in [
            (Blob::NotFound, ErrorKind::NoContainer),
            (Blob::Ambiguous, ErrorKind::Ambiguous),
            (Blob::Unauthenticated, ErrorKind::Denied),
            (Blob::LeaseHeld, ErrorKind::Unavailable),
            (Blob::InvalidKey, ErrorKind::Invalid),
            (Blob::PreconditionFailed, ErrorKind::Internal),
        ] {
            let error = blobs::Error::new(from, blobs::Op::Write, "s3://b/k")
                .because("it is so")
                .next_step("do this");
            let error = Error::of_store(Op::Lock, "prod in s3://b", error);
            assert_eq!(error.kind(), to);
            assert_eq!(error.to_string(), "cannot lock prod in s3://b: it is so; do this");
            assert!(std::error::Error::source(&error).is_some());
        }
    }
}
