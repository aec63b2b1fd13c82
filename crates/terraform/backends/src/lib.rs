//! Backends by name: from an address, a `backend` block or a working directory to the states in it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use groundstate_backends::{Context, Registry, Settings};
//! use groundstate_backends::common::{FixedClock, OsIds, Timestamp};
//! use groundstate_backends::statemgr::{Backend, StateStore, WorkspaceName};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let registry = Registry::standard();
//! // A program has the system's clock, and what its runtime sleeps with.
//! let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
//! let context = Context::new(clock.clone(), clock, Arc::new(OsIds)).directory(folder.path());
//! let settings = Settings::new("local").with("path", "prod.tfstate");
//! let opened = registry.open(&settings, &context)?;
//! assert_eq!(opened.backend.list().await?, [WorkspaceName::default_name()]);
//! assert!(opened.backend.store(&WorkspaceName::default_name())?.read().await?.is_none());
//! # Ok(())
//! # }
//! ```
//!
//! # Finding your way
//!
//! - [`Registry`] knows which backends there are. [`Registry::place`] opens what a user names, [`Registry::open`] what a
//!   `backend` block says ([`Settings`]).
//! - A [`Factory`] makes backends of one type; a program adds its own with [`Registry::with`].
//! - [`WorkingDirectory`] reads what `init` and `workspace select` leave behind, and compares it with the configuration.
//! - [`Outputs`] reads outputs of large states without the rest.
//! - [`LockMaintenance`] is for what only some backends have beside their states: digests, and second locks.
//!
//! # What is deliberately absent
//!
//! - The environment of the process: [`Variables`] are an argument.
//! - Formats of states, serials and lineages, which are `groundstate-statemgr`'s.
//!
//! # Features
//!
//! One for each service, all off by default: `s3`, `gcs`, `azurerm`, `http`, `pg`. `os`: `common` has the clock and the
//! randomness of the system.

#[cfg(feature = "azurerm")]
mod azurerm;
#[cfg(any(feature = "azurerm", feature = "gcs", feature = "s3"))]
mod cloud;
mod error;
#[cfg(feature = "gcs")]
mod gcs;
#[cfg(feature = "http")]
mod http;
mod local;
mod maintenance;
mod outputs;
#[cfg(feature = "pg")]
mod pg;
mod query;
mod registry;
#[cfg(feature = "s3")]
mod s3;
mod settings;
mod url;
mod workdir;

#[cfg(feature = "azurerm")]
pub use azurerm::AzureFactory;
pub use error::BackendsError;
#[cfg(feature = "gcs")]
pub use gcs::GcsFactory;
#[cfg(feature = "http")]
pub use http::HttpFactory;
pub use local::{LocalFactory, local_path};
pub use maintenance::{DigestRepair, FoundLock, LockMaintenance, LockMove};
pub use outputs::Outputs;
#[cfg(feature = "pg")]
pub use pg::PgFactory;
pub use registry::{Context, Factory, Location, Opened, Registry, doubtful};
#[cfg(feature = "s3")]
pub use s3::S3Factory;
pub use settings::Settings;
pub use url::PlaceUrl;
pub use workdir::{
    ConfigurationFile, ConfigurationFiles, Disagreement, Purpose, Variables, WorkingDirectory,
};

/// Clocks, ids and what waits.
pub use groundstate_common as common;
/// The evaluation of variables and locals.
pub use groundstate_encryption as encryption;
/// The contract of stores, and the manager.
pub use groundstate_statemgr as statemgr;
/// The models of states.
pub use groundstate_states as states;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
