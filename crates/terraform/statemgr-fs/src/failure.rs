//! What the file system says, as the kinds that callers act on.

use std::fmt;
use std::io;

use groundstate_statemgr::{Error, ErrorKind, Op};

/// The error of an operation that a call to the system ended.
pub(crate) fn failed(op: Op, target: impl fmt::Display, error: io::Error) -> Error {
    use io::ErrorKind as Io;
    let (kind, message) = match error.kind() {
        Io::NotFound => (ErrorKind::NotFound, None),
        Io::PermissionDenied => (ErrorKind::Denied, None),
        Io::ReadOnlyFilesystem => (ErrorKind::Denied, Some("the file system can only be read")),
        Io::StorageFull => (ErrorKind::Unavailable, Some("the disk is full, what was stored is whole")),
        Io::QuotaExceeded => (ErrorKind::Unavailable, Some("the quota is used up, what was stored is whole")),
        Io::FileTooLarge => {
            (ErrorKind::Unavailable, Some("files may not get that large here, what was stored is whole"))
        }
        Io::IsADirectory => (ErrorKind::Invalid, Some("it is a directory, name the file in it")),
        Io::NotADirectory => (ErrorKind::Invalid, Some("part of its path is not a directory")),
        Io::InvalidInput | Io::InvalidFilename => (ErrorKind::Invalid, None),
        Io::Unsupported => (ErrorKind::Unsupported, Some("the file system has no locks")),
        Io::InvalidData => (ErrorKind::Corrupt, None),
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
    use std::io;

    use groundstate_statemgr::{ErrorKind, Op};

    use super::failed;

    #[test]
    fn kinds_follow_what_a_caller_can_do() {
        for (from, to) in [
            (io::ErrorKind::StorageFull, ErrorKind::Unavailable),
            (io::ErrorKind::ReadOnlyFilesystem, ErrorKind::Denied),
            (io::ErrorKind::IsADirectory, ErrorKind::Invalid),
            (io::ErrorKind::InvalidData, ErrorKind::Corrupt),
            (io::ErrorKind::Other, ErrorKind::Unavailable),
        ] {
            let error = failed(Op::Write, "/a", io::Error::from(from));
            assert_eq!(error.kind(), to, "{from:?}");
            assert!(std::error::Error::source(&error).is_some());
        }
    }
}
