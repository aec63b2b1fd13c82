//! What failures of the server mean for blobs.

use std::fmt;

use groundstate_blobs::{Error, ErrorKind, Op};
use groundstate_postgres as postgres;
use groundstate_postgres::tokio_postgres;
use groundstate_postgres::tokio_postgres::error::SqlState;

/// The error for a statement on a table with these columns that failed; `writes` if it may have changed something.
pub(crate) fn of_statement(
    op: Op,
    place: &str,
    writes: bool,
    columns: &str,
    error: tokio_postgres::Error,
) -> Error {
    let error = postgres::Error::of_statement(place, writes, error);
    let step = match error.state() {
        Some(&SqlState::UNDEFINED_TABLE) => Some(
            "create it by opening the backend for writing, or check `table` and `search_path`".to_owned(),
        ),
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => Some(
            "grant SELECT, INSERT, UPDATE and DELETE on the table, and CREATE on its schema if it is missing"
                .to_owned(),
        ),
        Some(state) if matches!(state.code().get(..2), Some("42" | "22")) => {
            Some(format!("check that the table has the columns {columns}"))
        }
        _ => None,
    };
    let of_table = failed(op, place, error);
    match step {
        Some(step) => of_table.next_step(step),
        None => of_table,
    }
}

/// The error of an operation that has no connection.
pub(crate) fn failed(op: Op, place: impl fmt::Display, error: postgres::Error) -> Error {
    let kind = match error.kind() {
        postgres::ErrorKind::NotFound => ErrorKind::NotFound,
        postgres::ErrorKind::Denied => ErrorKind::Denied,
        postgres::ErrorKind::Unauthenticated => ErrorKind::Unauthenticated,
        postgres::ErrorKind::Unavailable => ErrorKind::Unavailable,
        postgres::ErrorKind::Ambiguous => ErrorKind::Ambiguous,
        postgres::ErrorKind::Invalid => ErrorKind::Invalid,
        _ => ErrorKind::Internal,
    };
    let mut new = Error::new(kind, op, place).because(error.message());
    if let Some(step) = error.step() {
        new = new.next_step(step);
    }
    match error.into_cause() {
        Some(cause) => new.with_source(cause),
        None => new,
    }
}

/// The error for a setting, which names it.
pub(crate) fn of_settings(error: postgres::Error) -> Error {
    let target = error.target().to_owned();
    failed(Op::Use, target, error)
}
