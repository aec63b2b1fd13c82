//! What failures of the server mean for states.

use std::fmt;

use groundstate_postgres as postgres;
use groundstate_postgres::tokio_postgres;
use groundstate_postgres::tokio_postgres::error::SqlState;
use groundstate_statemgr::{Error, ErrorKind, Op};

/// The error of an operation that the server or the connection ended; reason and next step go into the text.
pub(crate) fn failed(op: Op, target: impl fmt::Display, error: postgres::Error) -> Error {
    let kind = match error.kind() {
        postgres::ErrorKind::NotFound => ErrorKind::NotFound,
        postgres::ErrorKind::Denied | postgres::ErrorKind::Unauthenticated => ErrorKind::Denied,
        postgres::ErrorKind::Unavailable => ErrorKind::Unavailable,
        postgres::ErrorKind::Ambiguous => ErrorKind::Ambiguous,
        postgres::ErrorKind::Invalid => ErrorKind::Invalid,
        _ => ErrorKind::Internal,
    };
    let new = Error::new(kind, op, target).because(error.reason());
    match error.into_cause() {
        Some(cause) => new.with_source(cause),
        None => new,
    }
}

/// The error for a statement that failed; `commits` if it may have made a change last.
pub(crate) fn of_statement(
    op: Op,
    target: impl fmt::Display,
    commits: bool,
    error: tokio_postgres::Error,
) -> Error {
    let target = target.to_string();
    failed(op, &target, postgres::Error::of_statement(&target, commits, error))
}

/// Whether a statement failed because there is no such table or schema.
pub(crate) fn lacks_table(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME].contains(code))
}
