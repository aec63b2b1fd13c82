//! Connections to PostgreSQL as its other clients make them.
//!
//! ```no_run
//! use groundstate_postgres::{Result, Session, Settings};
//!
//! async fn server_process() -> Result<i32> {
//!     let variable = |name: &str| std::env::var(name).ok();
//!     let settings = Settings::parse("postgres://ci@db.example.com/states", &[], &variable)?;
//!     let session = Session::connect(&settings).await?;
//!     Ok(session.backend())
//! }
//! ```
//!
//! # What to know
//!
//! - [`Settings`] reads a URL or `keyword=value` pairs, and the variables `PG*`, which a function looks up. Words, defaults and modes of
//!   TLS mean what they mean to `lib/pq`, the driver of Terraform, OpenTofu and Pulumi.
//! - [`Pool`] hands out connections for single statements; a [`Session`] is one connection for one caller, who needs what lives in it,
//!   such as advisory locks.
//! - [`Error`] says what a failure means to a caller, without passwords and without the details of the server, which may show a row.
//! - Everything that connects needs a runtime of tokio. The client library is here as [`tokio_postgres`].
//!
//! # What is deliberately absent
//!
//! - Tables and statements, which are those of the stores above.
//! - Retries: a connection that is lost is an error, and whether the statement happened is [`ErrorKind::Ambiguous`].
//! - Service files, Kerberos and lists of hosts. What names one is refused instead of connecting elsewhere.

mod error;
mod op;
mod parse;
mod passfile;
mod pool;
mod session;
mod settings;
mod tls;

pub use tokio_postgres;

pub use error::{Error, ErrorKind, Result, ends_session, was_created_meanwhile};
pub use op::Op;
pub use pool::{Pool, Pooled};
pub use session::Session;
pub use settings::Settings;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
