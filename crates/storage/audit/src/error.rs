//! The error of audit logs: a coarse kind for callers to act on, and what they need to act.

use std::fmt;

use groundstate_blobs as blobs;

use crate::op::Op;

/// What audit logs return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

groundstate_common::failure! {
    /// Why an operation on an audit log did not happen.
    ///
    /// Callers act on the [`kind`](Self::kind); the text says which operation, at which place, and why. The cause, if there
    /// is one, is in [`source`](std::error::Error::source) and not in the text.
    pub struct Error { kind: ErrorKind, op: Op }
}

groundstate_common::worded! {
    /// What a caller can do about an error.
    #[derive(PartialOrd, Ord)]
    pub enum ErrorKind => summary {
        /// The store does not answer, or it is not known whether it stored an entry. Refuse what needs an entry, and try again
        /// later: the recorder goes on trying.
        Unavailable = "the store of the audit log is not available, try again later",
        /// Credentials or permissions do not suffice. Fix them.
        Denied = "permission was denied",
        /// What is stored is damaged or was changed. Verify the log.
        Corrupt = "what is stored is damaged, verify the audit log",
        /// The store lacks conditional writes. Use another.
        Unsupported = "the store has no conditional writes, which an audit log needs",
        /// The caller's arguments are invalid. Fix the call.
        Invalid = "the arguments are not valid",
        /// The recorder has ended. Open the log again.
        Closed = "the recorder of the audit log has ended",
        /// A defect. Report it.
        Internal = "there is a defect in the audit log",
    }
}

impl Error {
    /// The error of an operation that a request to the store ended.
    pub(crate) fn of_store(op: Op, target: impl fmt::Display, error: blobs::Error) -> Self {
        use blobs::ErrorKind as Blob;
        let kind = match error.kind() {
            Blob::Ambiguous | Blob::Throttled | Blob::Unavailable | Blob::PreconditionFailed => {
                ErrorKind::Unavailable
            }
            Blob::Denied | Blob::Unauthenticated => ErrorKind::Denied,
            Blob::Unsupported => ErrorKind::Unsupported,
            Blob::NotFound | Blob::WrongRegion | Blob::ClockSkew | Blob::InvalidKey | Blob::Invalid => {
                ErrorKind::Invalid
            }
            Blob::Corrupt => ErrorKind::Corrupt,
            _ => ErrorKind::Internal,
        };
        let reason = error.message().to_owned();
        Self::new(kind, op, target).because(reason).with_source(error)
    }

    /// The same error for another caller; the cause stays with its text.
    pub(crate) fn again(&self) -> Self {
        let Inner { kind, op, target, message, next_step, source, more: () } = &*self.0;
        let source: Option<BoxError> = source.as_ref().map(|source| source.to_string().into());
        let (target, message, next_step) = (target.clone(), message.clone(), next_step.clone());
        Self(Box::new(Inner { kind: *kind, op: *op, target, message, next_step, more: (), source }))
    }
}

#[cfg(test)]
mod tests {
    use groundstate_blobs as blobs;

    use super::{Error, ErrorKind};
    use crate::op::Op;

    #[test]
    fn what_a_blob_store_says_keeps_its_meaning_and_its_reason() {
        use blobs::ErrorKind as Blob;
        for (kind, expected) in [
            (Blob::Ambiguous, ErrorKind::Unavailable),
            (Blob::Denied, ErrorKind::Denied),
            (Blob::Unsupported, ErrorKind::Unsupported),
            (Blob::NotFound, ErrorKind::Invalid),
            (Blob::Corrupt, ErrorKind::Corrupt),
            (Blob::Internal, ErrorKind::Internal),
        ] {
            let error = blobs::Error::new(kind, blobs::Op::Write, "store").because("the reason");
            let error = Error::of_store(Op::Record, "log", error);
            assert_eq!(error.kind(), expected, "{kind:?}");
            assert_eq!(error.to_string(), "cannot record into log: the reason");
            let again = error.again();
            assert_eq!((again.kind(), again.to_string()), (expected, error.to_string()));
        }
    }
}
