//! Errors of buckets as the service has them.

use std::fmt;

use groundstate_common::one_line;
use groundstate_pulumi_backends::pulumi_diy::{self, LockConflict};
use groundstate_pulumi_service::{Error, ErrorKind, Op};

/// The error of an operation that the bucket ended, with its reason and next step.
pub(super) fn failed(op: Op, target: impl fmt::Display, error: pulumi_diy::Error) -> Error {
    use pulumi_diy::ErrorKind as Kind;
    let kind = match error.kind() {
        Kind::NotFound => ErrorKind::NotFound,
        Kind::Exists => ErrorKind::Exists,
        Kind::Locked => ErrorKind::Locked,
        Kind::LockLost => ErrorKind::LeaseLost,
        Kind::Changed => ErrorKind::Conflict,
        Kind::Corrupt | Kind::Broken | Kind::Unsupported => ErrorKind::Corrupt,
        Kind::Legacy => ErrorKind::NoBucket,
        Kind::Invalid => ErrorKind::Invalid,
        Kind::Denied | Kind::Unavailable | Kind::Ambiguous => ErrorKind::Unavailable,
        _ => ErrorKind::Internal,
    };
    let holders = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<LockConflict>());
    let reason = match holders {
        // What locks say is text of others.
        Some(conflict) => {
            let locks: Vec<String> = conflict.locks().iter().map(ToString::to_string).collect();
            format!("the stack is locked in its bucket by {}", locks.join(", "))
        }
        None => error.to_string(),
    };
    Error::new(kind, op, target).because(one_line(&reason)).with_source(error)
}

/// Whether what is damaged is in a bucket, where its users can repair it.
pub(crate) fn is_of_bucket(error: &Error) -> bool {
    pulumi_diy::Error::find(error).is_some()
}
