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

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind as Io};

    use super::failed;
    use crate::{ErrorKind, Op};

    #[test]
    fn what_the_system_says_becomes_what_callers_can_do() {
        let full = "the disk is full, what was stored is whole";
        let quota = "the quota is used up, what was stored is whole";
        let no_folder = "it is not a folder, or part of its path is none";
        for (said, kind, reason) in [
            (Io::PermissionDenied, ErrorKind::Denied, "permission was denied"),
            (Io::ReadOnlyFilesystem, ErrorKind::Denied, "the file system can only be read"),
            (Io::StorageFull, ErrorKind::Unavailable, full),
            (Io::QuotaExceeded, ErrorKind::Unavailable, quota),
            (Io::NotADirectory, ErrorKind::Invalid, no_folder),
            (Io::InvalidFilename, ErrorKind::Invalid, "the arguments are not valid"),
            (Io::InvalidInput, ErrorKind::Invalid, "the arguments are not valid"),
            (Io::Interrupted, ErrorKind::Unavailable, "its place is not available, try again later"),
        ] {
            let error = failed(Op::Append, "j", Error::new(said, "cause"));
            assert_eq!((error.kind(), error.to_string()), (kind, format!("cannot append to j: {reason}")));
            assert_eq!(std::error::Error::source(&error).map(ToString::to_string).as_deref(), Some("cause"));
        }
    }
}
