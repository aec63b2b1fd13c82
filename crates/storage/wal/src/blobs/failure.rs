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
