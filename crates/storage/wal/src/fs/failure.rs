//! What the file system says, as the kinds that callers act on.

use std::fmt;
use std::io;

use crate::{Error, ErrorKind, Op};

/// The error of an operation that a call to the system ended, and that changed nothing.
pub(crate) fn failed(op: Op, target: impl fmt::Display, error: io::Error) -> Error {
    use io::ErrorKind as Io;
    let (kind, message) = match error.kind() {
        Io::PermissionDenied => (ErrorKind::Denied, None),
        Io::ReadOnlyFilesystem => (ErrorKind::Denied, Some("the file system can only be read")),
        Io::StorageFull => (ErrorKind::Unavailable, Some("the disk is full, what was stored is whole")),
        Io::QuotaExceeded => (ErrorKind::Unavailable, Some("the quota is used up, what was stored is whole")),
        Io::NotADirectory => (ErrorKind::Invalid, Some("it is not a folder, or part of its path is none")),
        Io::InvalidInput | Io::InvalidFilename => (ErrorKind::Invalid, None),
        _ => (ErrorKind::Unavailable, None),
    };
    let failed = Error::new(kind, op, target).with_source(error);
    match message {
        Some(message) => failed.because(message),
        None => failed,
    }
}
