//! Blobs in a table of PostgreSQL, row by row as Pulumi's own backend keeps them.
//!
//! ```no_run
//! use groundstate_blobs_postgres::blobs::{BlobStore, Key, Precondition, PutOptions, Result};
//! use groundstate_blobs_postgres::{PostgresBlobs, PostgresSettings};
//!
//! async fn first_state() -> Result<()> {
//!     let url = "postgres://ci@db.example.com/states?table=team_state";
//!     let settings = PostgresSettings::from_url(url, &|name| std::env::var(name).ok())?;
//!     let store = PostgresBlobs::open(&settings)?;
//!     store.create_table().await?;
//!     let once = PutOptions::expecting(Precondition::Absent);
//!     store.put(&Key::parse("states/a.json")?, "{}".into(), &once).await?;
//!     Ok(())
//! }
//! ```
//!
//! # What to know
//!
//! - [`PostgresBlobs`] implements [`BlobStore`](blobs::BlobStore), the contract of the crate `groundstate-blobs`, which is here as
//!   [`blobs`].
//! - The table has the columns `key`, `data` and `updated_at`; `data` is `{"data":"<base64>"}`. Other programs may write to it.
//! - [`PostgresSettings`] reads a URL and the variables `PG*`, which a function looks up.
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

pub use groundstate_blobs as blobs;
pub use groundstate_postgres as postgres;

pub use settings::PostgresSettings;
pub use store::PostgresBlobs;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
