//! What blob stores say, as the kinds that callers of states act on.

use std::fmt;

use groundstate_blobs as blobs;
use groundstate_statemgr::{Error, ErrorKind, Op};

/// The error of an operation that a blob store ended; reason and next step go into the text.
pub(crate) fn failed(op: Op, target: impl fmt::Display, error: blobs::Error) -> Error {
    use blobs::ErrorKind as Blob;
    let kind = match error.kind() {
        Blob::NotFound => ErrorKind::NotFound,
        Blob::PreconditionFailed => ErrorKind::Conflict,
        Blob::LeaseHeld => ErrorKind::Locked,
        Blob::LeaseLost => ErrorKind::LockLost,
        Blob::Ambiguous => ErrorKind::Ambiguous,
        Blob::Denied | Blob::Unauthenticated | Blob::ClockSkew => ErrorKind::Denied,
        Blob::Throttled | Blob::Unavailable => ErrorKind::Unavailable,
        Blob::Unsupported => ErrorKind::Unsupported,
        Blob::InvalidKey | Blob::Invalid | Blob::WrongRegion => ErrorKind::Invalid,
        // What is stored is not what it may be.
        Blob::Corrupt | Blob::LimitExceeded => ErrorKind::Corrupt,
        _ => ErrorKind::Internal,
    };
    Error::new(kind, op, target).because(error.reason()).with_source(error)
}

/// What is left by an operation on a lock whose outcome is unknown, and how to free it.
pub(crate) fn left_behind(error: Error, lock: impl fmt::Display, id: impl fmt::Display) -> Error {
    let message = format!(
        "{}; {lock} may be left behind, look at it and unlock it by force under the id {id}",
        error.reason()
    );
    Error::new(error.kind(), error.op(), error.target()).because(message).with_source(error)
}

#[cfg(test)]
mod tests {
    use groundstate_blobs as blobs;
    use groundstate_statemgr::{ErrorKind, Op};

    use super::{failed, left_behind};

    #[test]
    fn kinds_follow_what_a_caller_can_do_and_texts_name_the_next_step() {
        use blobs::ErrorKind as Blob;
        let rows = [
            (Blob::NotFound, ErrorKind::NotFound),
            (Blob::PreconditionFailed, ErrorKind::Conflict),
            (Blob::Ambiguous, ErrorKind::Ambiguous),
            (Blob::Unauthenticated, ErrorKind::Denied),
            (Blob::WrongRegion, ErrorKind::Invalid),
            (Blob::Throttled, ErrorKind::Unavailable),
            (Blob::Internal, ErrorKind::Internal),
        ];
        for (from, to) in rows {
            let error = blobs::Error::new(from, blobs::Op::Write, "s3://b/k")
                .because("it is so")
                .next_step("do this");
            let error = failed(Op::Write, "s3://b/k", error);
            assert_eq!(error.kind(), to, "{from:?}");
            assert_eq!(error.to_string(), "cannot write s3://b/k: it is so; do this");
            assert!(std::error::Error::source(&error).is_some());
        }
    }

    #[test]
    fn what_is_left_is_said_once() {
        let error = failed(
            Op::Lock,
            "s3://b/k",
            blobs::Error::new(blobs::ErrorKind::Ambiguous, blobs::Op::Write, "x").because("cut"),
        );
        assert_eq!(
            left_behind(error, "s3://b/k.tflock", "1").to_string(),
            "cannot lock s3://b/k: cut; s3://b/k.tflock may be left behind, look at it and unlock it by force under the id 1",
        );
    }
}
