//! What journals say, as the errors of managers.

use std::fmt;

use groundstate_statemgr::{Error, ErrorKind, Op};
use groundstate_wal as journal;

/// The error of a manager whose journal failed.
pub(crate) fn failed(op: Op, target: impl fmt::Display, error: journal::Error) -> Error {
    use journal::ErrorKind as Journal;
    let (kind, message) = match error.kind() {
        Journal::Fenced => (ErrorKind::LockLost, "another process journals the changes of this state now"),
        Journal::Locked => (ErrorKind::Locked, "another process journals the changes of this state"),
        Journal::Corrupt => {
            (ErrorKind::Corrupt, "the journal of an interrupted run is damaged, bring it back or discard it")
        }
        Journal::Denied => (ErrorKind::Denied, "permission to the journal beside it was denied"),
        Journal::Unavailable => {
            (ErrorKind::Unavailable, "the journal beside it is not available, try again later")
        }
        Journal::Ambiguous | Journal::Closed => {
            (ErrorKind::Ambiguous, "it is not known whether the journal has the change, try again")
        }
        _ => (ErrorKind::Internal, "there is a defect in the journal beside it"),
    };
    Error::new(kind, op, target).because(message).with_source(error)
}
