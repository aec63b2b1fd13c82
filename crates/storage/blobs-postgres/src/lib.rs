//! Blobs in tables of PostgreSQL: one of this project's own, and one that is row by row as Pulumi's own backend keeps it.
//!
//! ```no_run
//! use groundstate_blobs_postgres::blobs::{BlobStore, Key, Precondition, PutOptions, Result};
//! use groundstate_blobs_postgres::{TableBlobs, TableSettings};
//!
//! async fn first_state() -> Result<()> {
//!     let url = "postgres://ci@db.example.com/states?schema=groundstate";
//!     let settings = TableSettings::parse(url, &|name| std::env::var(name).ok())?;
//!     let store = TableBlobs::open(&settings)?;
//!     store.create_table().await?;
//!     let once = PutOptions::expecting(Precondition::Absent);
//!     store.put(&Key::parse("states/a.json")?, "{}".into(), &once).await?;
//!     Ok(())
//! }
//! ```
//!
//! # What to know
//!
//! - Both implement [`BlobStore`](blobs::BlobStore), the contract of the crate `groundstate-blobs`, which is here as [`blobs`].
//! - [`TableBlobs`] is for programs that are free to choose. Its contents are bytes, with attributes; `docs/design/0025` says why a server
//!   needs no more of a database.
//! - [`PostgresBlobs`] is the table of a Pulumi backend: the columns `key`, `data` and `updated_at`; `data` is `{"data":"<base64>"}`.
//!   Other programs may write to it.
//! - [`TableSettings`] and [`PostgresSettings`] read a URL and the variables `PG*`, which a function looks up. What connections take is in
//!   [`postgres`].
//! - Operations need a runtime of tokio.
//!
//! # What is deliberately absent
//!
//! - Retries: wrap the store into [`Retry`](blobs::Retry), which finds out what happened when a connection is lost.
//! - Sessions: each operation is one statement, committed by itself, so a pooler such as PgBouncer may stand between.
//! - Prefixes of keys: [`PostgresSettings::key_prefix`] says which one the original puts before its keys, and adds none.

mod bounds;
mod connections;
mod content;
mod error;
mod settings;
mod statements;
mod store;
mod table;

pub use groundstate_blobs as blobs;
pub use groundstate_postgres as postgres;

pub use settings::PostgresSettings;
pub use store::PostgresBlobs;
pub use table::{TableBlobs, TableSettings};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
