//! Back ends by name: from an address, a `backend` block or a working directory to the states in it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use groundstate_backends::{Context, Registry, Settings};
//! use groundstate_common::SystemClock;
//! use groundstate_statemgr::{Backend, StateStore, WorkspaceName};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let registry = Registry::standard();
//! let context = Context::new(Arc::new(SystemClock)).directory(folder.path());
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
//! - [`Registry`] knows which back ends there are. [`Registry::place`] opens what a user names, [`Registry::open`] what a
//!   `backend` block says ([`Settings`]).
//! - A [`Factory`] makes back ends of one type; a program adds its own with [`Registry::with`].
//! - [`WorkingDirectory`] reads what `init` and `workspace select` leave behind.
//! - [`Upkeep`] is for damage that the operations of a store cannot mend.
//!
//! # What is deliberately absent
//!
//! - The environment of the process: [`Variables`] are an argument.
//! - Formats of states, serials and lineages, which are `groundstate-statemgr`'s.
//!
//! # Features
//!
//! None.

mod error;
mod local;
mod query;
mod registry;
mod settings;
mod upkeep;
mod url;
mod workdir;

pub use error::BackendsError;
pub use local::{LocalFactory, local_path};
pub use registry::{Context, Factory, Opened, Place, Registry};
pub use settings::Settings;
pub use upkeep::{Damage, DamageKind, Upkeep};
pub use url::PlaceUrl;
pub use workdir::{Variables, WorkingDirectory};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
