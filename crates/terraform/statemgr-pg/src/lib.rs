//! State in PostgreSQL, with the tables and advisory locks of Terraform's and OpenTofu's own backend `pg`.
//!
//! ```no_run
//! use groundstate_statemgr_pg::statemgr::{Backend, StateStore, WorkspaceName};
//! use groundstate_statemgr_pg::{PgBackend, PgSettings};
//!
//! # async fn example() -> Result<(), groundstate_statemgr_pg::statemgr::Error> {
//! let settings = PgSettings::new("postgres://ci@db.example.com/terraform", &|name| std::env::var(name).ok())?;
//! let backend = PgBackend::open(&settings.schema_name("network")?)?;
//! for name in backend.list().await? {
//!     println!("{name}: {} bytes", backend.store(&name)?.read().await?.map_or(0, |stored| stored.bytes.len()));
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Finding your way
//!
//! - [`PgSettings`] has the options of a `backend "pg"` block; [`PgBackend`] is a client of the table, [`PgStore`] of one row.
//! - A lock is one session with advisory locks of the keys that Terraform and OpenTofu take, so both exclude each other and us. The
//!   session is never shared and never opened again: when it ends, the lock is lost, and writes under it are refused.
//! - Every write names what it replaces, and is one transaction on the session of the lock, in which the lock is looked for.
//! - The table `groundstate_locks` beside that of the states says who holds a lock. The table of states has the originals' columns only.
//!
//! # What is deliberately absent
//!
//! - Breaking locks by their age, and claims of having done so: a lock is released by ending its session, or not at all.
//! - Poolers that give each transaction another session: locks cannot live there, and a lock that is lost there is noticed.
//! - Serials and lineages, which are the manager's. The environment, which a function looks up.

mod backend;
mod config;
mod database;
mod failure;
mod holder;
mod keys;
mod locking;
mod schema;
mod statements;
mod store;
mod writing;

pub use backend::PgBackend;
pub use config::PgSettings;
pub use store::PgStore;

/// The contract of stores, and the manager.
pub use groundstate_statemgr as statemgr;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
