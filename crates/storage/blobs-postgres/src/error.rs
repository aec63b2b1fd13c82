//! What failures of the server and the connection mean to callers.

use std::error::Error as _;
use std::io;

use deadpool_postgres::PoolError;
use groundstate_blobs::{Error, ErrorKind, Op};
use tokio_postgres::error::SqlState;

/// The error for a statement that failed; `writes` if it may have changed something.
pub(crate) fn of_statement(op: Op, place: &str, writes: bool, error: tokio_postgres::Error) -> Error {
    let new = |kind| Error::new(kind, op, place);
    let lost = if writes { ErrorKind::Ambiguous } else { ErrorKind::Unavailable };
    let Some(refusal) = error.as_db_error() else {
        return new(lost).with_source(error);
    };
    let code = refusal.code();
    let new = match *code {
        SqlState::UNDEFINED_TABLE => new(ErrorKind::NotFound)
            .because("there is no such table")
            .next_step("create it by opening the backend for writing, or check `table` and `search_path`"),
        SqlState::INSUFFICIENT_PRIVILEGE => new(ErrorKind::Denied)
            .because("the role lacks a right")
            .next_step("grant SELECT, INSERT, UPDATE and DELETE on the table, and CREATE on its schema if it is missing"),
        SqlState::READ_ONLY_SQL_TRANSACTION => {
            new(ErrorKind::Denied).because("the server is read-only").next_step("connect to the primary server")
        }
        // These may come when the commit has happened and its answer has not been sent.
        SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN => {
            new(lost).because("the server ended the connection")
        }
        SqlState::QUERY_CANCELED => new(lost).because("the server cancelled the statement"),
        SqlState::DISK_FULL => {
            new(ErrorKind::Unavailable).because("the server has no room left").next_step("make room")
        }
        SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => {
            new(ErrorKind::Unavailable).because("the server gave way to another transaction")
        }
        _ => return of_class(op, place, refusal),
    };
    new.with_source(without_details(refusal))
}

/// By the first two characters of the code.
fn of_class(op: Op, place: &str, refusal: &tokio_postgres::error::DbError) -> Error {
    let new = |kind| Error::new(kind, op, place);
    let new = match refusal.code().code().get(..2) {
        Some("08" | "53" | "57" | "58") => new(ErrorKind::Unavailable).because("the server refuses for now"),
        Some("28") => new(ErrorKind::Unauthenticated)
            .because("the server refuses the login")
            .next_step("check user, password, and the rules of the server for this host"),
        Some("3D") => new(ErrorKind::NotFound).because("there is no such database").next_step("create it"),
        Some("54") => new(ErrorKind::Invalid).because("the value exceeds a limit of the server"),
        Some("42" | "22") => new(ErrorKind::Internal)
            .because("the server does not accept the statement")
            .next_step("check that the table has the columns key, data and updated_at"),
        _ => new(ErrorKind::Internal),
    };
    new.with_source(without_details(refusal))
}

/// What the server says, without the details, which may show a row.
fn without_details(refusal: &tokio_postgres::error::DbError) -> io::Error {
    io::Error::other(format!("{} (SQLSTATE {})", refusal.message(), refusal.code().code()))
}

/// The error for a connection that could not be opened, before anything was sent.
pub(crate) fn of_connection(op: Op, place: &str, error: PoolError) -> Error {
    let error = match error {
        PoolError::Backend(error) => error,
        other => {
            let error =
                Error::new(ErrorKind::Unavailable, op, place).because("no connection became free in time");
            return error.with_source(other);
        }
    };
    if error.as_db_error().is_some() {
        return of_statement(op, place, false, error);
    }
    let cause = error.source().map(ToString::to_string).unwrap_or_default();
    let new = |kind| Error::new(kind, op, place);
    let new = match error.to_string().as_str() {
        "error performing TLS handshake" if cause.contains("does not support TLS") => new(ErrorKind::Invalid)
            .because("the server offers no TLS, which sslmode=require (the default) asks for")
            .next_step(
                "turn TLS on in the server, or add sslmode=disable to the URL where the network is trusted",
            ),
        "error performing TLS handshake" => new(ErrorKind::Invalid)
            .because("TLS with the server failed")
            .next_step("check sslmode and sslrootcert"),
        "invalid configuration" | "authentication error" => new(ErrorKind::Unauthenticated)
            .because("the server asks for another login")
            .next_step("set a password in PGPASSWORD or in the file that PGPASSFILE names"),
        _ => new(ErrorKind::Unavailable).because("the server cannot be reached"),
    };
    new.with_source(error)
}
