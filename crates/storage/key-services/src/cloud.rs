//! Errors of credentials and connections, as errors of keys.

use groundstate_blobs::ErrorKind as BlobErrorKind;

use crate::error::{Error, ErrorKind};
use crate::op::Op;

/// An error of what sends requests to a cloud.
pub(crate) fn failed(op: Op, place: &dyn std::fmt::Display, error: groundstate_blobs::Error) -> Error {
    let kind = match error.kind() {
        BlobErrorKind::Denied => ErrorKind::Denied,
        BlobErrorKind::Unauthenticated => ErrorKind::Unauthenticated,
        BlobErrorKind::ClockSkew => ErrorKind::ClockSkew,
        BlobErrorKind::Throttled => ErrorKind::Throttled,
        // Nothing is changed, so a lost answer is one that can be asked for again.
        BlobErrorKind::Unavailable | BlobErrorKind::Ambiguous => ErrorKind::Unavailable,
        BlobErrorKind::Unsupported => ErrorKind::Unsupported,
        BlobErrorKind::Invalid | BlobErrorKind::WrongRegion | BlobErrorKind::NotFound => ErrorKind::Invalid,
        BlobErrorKind::Corrupt | BlobErrorKind::LimitExceeded => ErrorKind::Corrupt,
        _ => ErrorKind::Internal,
    };
    let wait = error.retry_after();
    let outer = Error::new(kind, op, place).because(error.message()).with_retry_after(wait);
    let outer = match error.step().map(str::to_owned) {
        Some(step) => outer.next_step(step),
        None => outer,
    };
    outer.with_source(error)
}

/// The same for settings, whose text names the option.
pub(crate) fn refused(error: groundstate_blobs::Error) -> Error {
    let (place, op) = (error.target().to_owned(), Op::Use);
    failed(op, &place, error)
}
