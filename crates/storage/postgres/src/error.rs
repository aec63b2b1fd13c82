//! What failures of the settings, the server and the connection mean to callers.

use std::fmt;
use std::io;

use tokio_postgres::error::{DbError, Severity, SqlState};

use crate::op::Op;

/// What this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

groundstate_common::failure! {
    /// Why there is no connection, or why a statement failed.
    pub struct Error { kind: ErrorKind, op: Op, more: More }
}

#[derive(Debug, Default)]
struct More {
    state: Option<SqlState>,
}

groundstate_common::worded! {
    /// What a caller can do about an error.
    #[derive(PartialOrd, Ord)]
    pub enum ErrorKind => summary {
        /// There is no such database, schema or table. Create it.
        NotFound = "it does not exist",
        /// The role lacks a right, or a file of passwords is open to others.
        Denied = "permission was denied",
        /// The login is refused. Fix user or password.
        Unauthenticated = "the credentials are missing or not valid",
        /// Nothing has happened. Try again later.
        Unavailable = "the server is not available",
        /// The connection ended within a statement that may have changed something. Read before anything else.
        Ambiguous = "the answer was lost, so the operation may or may not have been carried out",
        /// A setting is wrong.
        Invalid = "the settings are not valid",
        /// A statement does not suit the server, or there is a defect.
        Internal = "the server does not accept the statement",
    }
}

impl Error {
    /// The server's code, if the server answered.
    pub fn state(&self) -> Option<&SqlState> {
        self.0.more.state.as_ref()
    }

    /// The cause alone, for errors that say the rest themselves.
    pub fn into_cause(mut self) -> Option<BoxError> {
        self.0.source.take()
    }

    /// The error for a statement at `target` that failed; `writes` if it may have changed something.
    pub fn of_statement(target: impl fmt::Display, writes: bool, error: tokio_postgres::Error) -> Self {
        let lost = if writes { ErrorKind::Ambiguous } else { ErrorKind::Unavailable };
        match error.as_db_error() {
            None => Self::new(lost, Op::Query, target).with_source(error),
            Some(refusal) => of_refusal(Op::Query, target, lost, refusal),
        }
    }

    /// The error for a connection that could not be opened, before a statement was sent.
    /// `is_guarded` says that a password goes only to servers that prove to know it.
    pub(crate) fn of_connection(
        target: impl fmt::Display,
        is_guarded: bool,
        error: tokio_postgres::Error,
    ) -> Self {
        if let Some(refusal) = error.as_db_error() {
            return of_refusal(Op::Connect, target, ErrorKind::Unavailable, refusal);
        }
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        let new = |kind| Self::new(kind, Op::Connect, target);
        let new = match error.to_string().as_str() {
            "error performing TLS handshake" if cause.contains("does not support TLS") => new(
                ErrorKind::Invalid,
            )
            .because("the server offers no TLS, which sslmode=require (the default) asks for")
            .next_step(
                "turn TLS on in the server, or add sslmode=disable to the URL where the network is trusted",
            ),
            "error performing TLS handshake" => new(ErrorKind::Invalid)
                .because("TLS with the server failed")
                .next_step("check sslmode and sslrootcert"),
            "authentication error" if is_guarded => new(ErrorKind::Unauthenticated)
                .because("your password is not sent to it, since only a directory names the server, and it does not prove by SCRAM over TLS that it knows the password")
                .next_step("name the server in the environment or in an address, or put a line for its host into the password file"),
            "invalid configuration" | "authentication error" => new(ErrorKind::Unauthenticated)
                .because("the server asks for another login")
                .next_step("set a password in PGPASSWORD or in the file that PGPASSFILE names"),
            _ => new(ErrorKind::Unavailable).because("the server cannot be reached"),
        };
        new.with_source(error)
    }
}

/// What the server's refusal means; `lost` is the kind where it may come after the statement was committed.
fn of_refusal(op: Op, target: impl fmt::Display, lost: ErrorKind, refusal: &DbError) -> Error {
    let new = |kind| Error::new(kind, op, target);
    let code = refusal.code();
    let mut error = match *code {
        SqlState::UNDEFINED_TABLE => new(ErrorKind::NotFound).because("there is no such table"),
        SqlState::INVALID_SCHEMA_NAME => new(ErrorKind::NotFound).because("there is no such schema"),
        SqlState::INSUFFICIENT_PRIVILEGE => new(ErrorKind::Denied).because("the role lacks a right"),
        SqlState::READ_ONLY_SQL_TRANSACTION => new(ErrorKind::Denied)
            .because("the server is read-only")
            .next_step("connect to the primary server"),
        // These may come when the commit has happened and its answer has not been sent.
        SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN => {
            new(lost).because("the server ended the connection")
        }
        SqlState::QUERY_CANCELED => new(lost).because("the server cancelled the statement"),
        SqlState::DISK_FULL => {
            new(ErrorKind::Unavailable).because("the server has no room left").next_step("make room")
        }
        SqlState::T_R_SERIALIZATION_FAILURE
        | SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::LOCK_NOT_AVAILABLE => {
            new(ErrorKind::Unavailable).because("the server gave way to another transaction")
        }
        _ => of_class(code.code(), new),
    };
    error.0.more.state = Some(code.clone());
    error.with_source(without_details(refusal))
}

/// By the first two characters of the code.
fn of_class(code: &str, new: impl FnOnce(ErrorKind) -> Error) -> Error {
    match code.get(..2) {
        Some("08" | "53" | "57" | "58") => new(ErrorKind::Unavailable).because("the server refuses for now"),
        Some("28") => new(ErrorKind::Unauthenticated)
            .because("the server refuses the login")
            .next_step("check user, password, and the rules of the server for this host"),
        Some("3D") => new(ErrorKind::NotFound).because("there is no such database").next_step("create it"),
        Some("54") => new(ErrorKind::Invalid).because("the value exceeds a limit of the server"),
        _ => new(ErrorKind::Internal),
    }
}

/// What the server says, without the details, which may show a row.
fn without_details(refusal: &DbError) -> io::Error {
    let message = groundstate_common::one_line(refusal.message());
    io::Error::other(format!("{message} (SQLSTATE {})", refusal.code().code()))
}

/// Whether the session has ended with this error, and with it what lived there.
pub fn ends_session(error: &tokio_postgres::Error) -> bool {
    let severity = error.as_db_error().and_then(DbError::parsed_severity);
    error.as_db_error().is_none() || matches!(severity, Some(Severity::Fatal | Severity::Panic))
}

/// Whether a statement of creation failed because a client that takes no lock has just created the same.
pub fn was_created_meanwhile(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| {
        let known = [
            SqlState::UNIQUE_VIOLATION,
            SqlState::DUPLICATE_SCHEMA,
            SqlState::DUPLICATE_TABLE,
            SqlState::DUPLICATE_OBJECT,
        ];
        known.contains(code) || *code == SqlState::INTERNAL_ERROR
    })
}
