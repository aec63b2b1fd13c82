//! State at any server of Terraform's HTTP protocol: the client of the backend `http`.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use groundstate_statemgr_http::common::{FixedClock, SequenceIds, Timestamp};
//! use groundstate_statemgr_http::statemgr::{LockInfo, StateStore, WriteOptions};
//! use groundstate_statemgr_http::{HttpBackend, HttpConfig};
//!
//! # async fn f() -> Result<(), Box<dyn std::error::Error>> {
//! let mut config = HttpConfig::locked("https://state.example.com/network/prod");
//! config.username = Some("ci".to_owned());
//! config.password = std::env::var("TF_HTTP_PASSWORD").ok();
//! // A program has the system's clock and randomness, and what its runtime sleeps with.
//! let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
//! let ids = Arc::new(SequenceIds::new());
//! let state = HttpBackend::open(&config, clock.clone(), clock, ids.clone())?.state();
//! let grant = state.lock(&LockInfo::new(&*ids, Timestamp::UNIX_EPOCH, "example")?).await?;
//! state.write(r#"{"version":4}"#.into(), &WriteOptions::any()).await?;
//! state.unlock(&grant.id).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # What to know
//!
//! - [`HttpBackend`] opens a state by an [`HttpConfig`], which has the options of Terraform and OpenTofu under their names, and
//!   [`HttpStore`] is a client of it.
//! - The requests are Terraform's: GET, POST with `?ID=`, LOCK and UNLOCK with the document of the lock, `Content-MD5`, Basic authentication
//!   with the first request; other verbs and addresses by options.
//! - What each status means is one table. A request that the server does not answer is repeated after 1 and 2 seconds, or as it asks; a lock that is
//!   refused in this client's own name is its own; a write is repeated only once what is stored has been looked at.
//! - Who holds the lock is found out by asking for it: a refusal names the holder, and what is granted is released at once.
//! - Servers that link to their `version-history` have a history; what the list has to look like is that of `groundstate-server`.
//! - [`holder_in`] reads the holder out of a refusal.
//!
//! # What is deliberately absent
//!
//! - Workspaces: the protocol has none.
//! - Conditions of writes, unless [`HttpConfig::conditional_write`] says that the server honours them.
//! - Clocks, timers, randomness and variables of the environment: they are handed in.
//!
//! # Features
//!
//! - `os`: `common` has the clock and the randomness of the system, `statemgr` a timer of tokio.

mod address;
mod backend;
mod config;
mod exchange;
mod failure;
mod history;
mod lock_body;
mod locking;
mod reading;
mod status;
mod store;
mod writing;

pub use backend::HttpBackend;
pub use config::{HttpConfig, OptionError};
pub use lock_body::holder_in;
pub use store::HttpStore;

/// Clocks, ids and what waits.
pub use groundstate_common as common;
/// Addresses and limits.
pub use groundstate_http_client as http_client;
/// The contract of stores, and the manager.
pub use groundstate_statemgr as statemgr;

/// Compiles the examples of the README.
#[cfg(all(doctest, feature = "os"))]
#[doc = include_str!("../README.md")]
mod readme {}
