//! The error of this crate: a coarse kind for callers to act on, the place, the reason and the next step.

use std::fmt;

use groundstate_blobs as blobs;

use crate::Op;

/// What this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

groundstate_common::failure! {
    /// Why an operation on a backend or a stack did not happen.
    ///
    /// Callers act on the [`kind`](Self::kind); the text says which operation, at which place, why, and what to do next. The
    /// cause, if there is one, is in [`source`](std::error::Error::source) and not in the text.
    pub struct Error { kind: ErrorKind, op: Op }
}

groundstate_common::worded! {
    /// What a caller can do about an error.
    #[derive(PartialOrd, Ord)]
    pub enum ErrorKind => summary {
        /// The stack, the bucket or the entry does not exist. Name another, or create it.
        NotFound = "it does not exist",
        /// It exists already. Choose another name.
        Exists = "it exists already",
        /// Another process holds the lock of the stack. Wait, or cancel that process.
        Locked = "another process has locked it",
        /// The lock that this process held was removed or taken over. Stop writing, and lock again.
        LockLost = "the lock is no longer held",
        /// Another process changed what was read before. Read again, do the work again.
        Changed = "another process has changed it since it was read",
        /// What is stored cannot be understood. Restore a copy.
        Corrupt = "what is stored is damaged",
        /// The state would be broken. Repair it, or store it without the check.
        Broken = "the state is not valid",
        /// The bucket is laid out as before Pulumi 3.61, and the caller did not allow that. Upgrade it.
        Legacy = "its layout is that of Pulumi before 3.61",
        /// A newer Pulumi wrote it, or the store lacks what is needed.
        Unsupported = "this version cannot use it",
        /// The caller's arguments or settings are invalid. Fix them.
        Invalid = "the arguments are not valid",
        /// Credentials or permissions do not suffice. Fix them.
        Denied = "permission was denied",
        /// The store does not answer, or has no room, and nothing has happened. Try again later.
        Unavailable = "the store is not available, try again later",
        /// The answer got lost: it may have happened or not. Read before anything else.
        Ambiguous = "the operation may or may not have been carried out; read again what is stored",
        /// A defect of the store. Report it.
        Internal = "there is a defect in the store",
    }
}

impl Error {
    /// The error of an operation that a request to the store ended. The store's reason and next step are kept.
    pub fn from_store(op: Op, target: impl fmt::Display, error: blobs::Error) -> Self {
        use blobs::ErrorKind as Blob;
        let kind = match error.kind() {
            Blob::NotFound => ErrorKind::NotFound,
            Blob::PreconditionFailed => ErrorKind::Changed,
            Blob::LeaseHeld => ErrorKind::Locked,
            Blob::LeaseLost => ErrorKind::LockLost,
            Blob::Ambiguous => ErrorKind::Ambiguous,
            Blob::Denied | Blob::Unauthenticated => ErrorKind::Denied,
            Blob::Throttled | Blob::Unavailable => ErrorKind::Unavailable,
            Blob::Unsupported => ErrorKind::Unsupported,
            Blob::WrongRegion | Blob::ClockSkew | Blob::InvalidKey | Blob::Invalid | Blob::LimitExceeded => {
                ErrorKind::Invalid
            }
            Blob::Corrupt => ErrorKind::Corrupt,
            _ => ErrorKind::Internal,
        };
        let (reason, step) = (error.message().to_owned(), error.step().map(str::to_owned));
        let mut failure = Self::new(kind, op, target).because(reason).with_source(error);
        failure.0.next_step = step;
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_store_says_keeps_its_meaning_its_reason_and_its_next_step() {
        use blobs::ErrorKind as Blob;
        for (kind, expected) in [
            (Blob::NotFound, ErrorKind::NotFound),
            (Blob::PreconditionFailed, ErrorKind::Changed),
            (Blob::LeaseHeld, ErrorKind::Locked),
            (Blob::LeaseLost, ErrorKind::LockLost),
            (Blob::Ambiguous, ErrorKind::Ambiguous),
            (Blob::Unauthenticated, ErrorKind::Denied),
            (Blob::Throttled, ErrorKind::Unavailable),
            (Blob::ClockSkew, ErrorKind::Invalid),
            (Blob::Corrupt, ErrorKind::Corrupt),
            (Blob::Internal, ErrorKind::Internal),
        ] {
            let error =
                blobs::Error::new(kind, blobs::Op::Write, "b").because("the reason").next_step("do it");
            let failure = Error::from_store(Op::Save, "memory:b/k", error);
            assert_eq!(failure.kind(), expected, "{kind:?}");
            assert_eq!(failure.to_string(), "cannot save memory:b/k: the reason; do it");
        }
    }
}
