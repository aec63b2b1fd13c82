//! What blob stores say, as the errors of journals.

use std::fmt;

use crate::{Error, ErrorKind, Op};
use groundstate_blobs as blobs;

/// The error of an operation that a request ended.
pub(crate) fn failed(op: Op, target: impl fmt::Display, error: blobs::Error) -> Error {
    use blobs::ErrorKind as Blob;
    let kind = match error.kind() {
        Blob::Ambiguous => ErrorKind::Ambiguous,
        Blob::Denied | Blob::Unauthenticated => ErrorKind::Denied,
        Blob::Throttled | Blob::Unavailable => ErrorKind::Unavailable,
        Blob::NotFound
        | Blob::WrongRegion
        | Blob::ClockSkew
        | Blob::Unsupported
        | Blob::InvalidKey
        | Blob::Invalid => ErrorKind::Invalid,
        Blob::Corrupt => ErrorKind::Corrupt,
        _ => ErrorKind::Internal,
    };
    let reason = error.message().to_owned();
    Error::new(kind, op, target).because(reason).with_source(error)
}

#[cfg(test)]
mod tests {
    use groundstate_blobs as blobs;

    use super::failed;
    use crate::{ErrorKind, Op};

    #[test]
    fn what_a_blob_store_says_keeps_its_meaning_and_its_reason() {
        use blobs::ErrorKind as Blob;
        for (kind, expected) in [
            (Blob::Ambiguous, ErrorKind::Ambiguous),
            (Blob::Denied, ErrorKind::Denied),
            (Blob::Unauthenticated, ErrorKind::Denied),
            (Blob::Throttled, ErrorKind::Unavailable),
            (Blob::Unavailable, ErrorKind::Unavailable),
            (Blob::NotFound, ErrorKind::Invalid),
            (Blob::Corrupt, ErrorKind::Corrupt),
            (Blob::Internal, ErrorKind::Internal),
        ] {
            let error = blobs::Error::new(kind, blobs::Op::Write, "store").because("the reason");
            let failed = failed(Op::Append, "journal", error);
            assert_eq!(failed.kind(), expected, "{kind:?}");
            assert!(failed.to_string().contains("the reason"), "{failed}");
        }
    }
}
