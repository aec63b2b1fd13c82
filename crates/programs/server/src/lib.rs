//! The state server: Terraform's HTTP protocol, a JSON API, a page for browsers, history, locks, roles.
//!
//! ```
//! use std::sync::Arc;
//!
//! use groundstate_server::blobs::MemoryBlobs;
//! use groundstate_server::{App, Parts, router};
//!
//! let app = App::open(Parts::new(Arc::new(MemoryBlobs::new("states"))))?;
//! let _service = router(app);
//! # Ok::<(), groundstate_server::versioned::Error>(())
//! ```
//!
//! # Finding your way
//!
//! - [`App`] is what every request works on: the store, the policies, the limits. Clones share it.
//! - [`router`] makes the service of it; it needs no socket.
//! - [`Policies`] say what the server refuses, [`Limits`] how much a request may cost.
//! - [`Maintenance`] removes old versions, on one node of many.
//! - [`auth`] says who asks and what that principal may do.

mod api;
mod app;
pub mod auth;
mod body;
mod budget;
mod caller;
pub mod config;
mod content;
mod download;
pub mod edge;
mod encryption;
mod headers;
mod limits;
mod maintenance;
mod names;
mod page;
mod policy;
mod problem;
mod pulumi;
mod scan;
mod secrets_key;
mod store_check;
mod store_problem;
mod terraform;

pub use app::{AUDIT_PREFIX, App, Parts, router};
pub use caller::Origin;
pub use encryption::{EncryptionError, EncryptionMode, StoreEncryption};
pub use limits::Limits;
pub use maintenance::{Maintenance, MaintenanceError, MaintenanceOptions};
pub use names::{InvalidTarget, ProjectName, StateName, StatePath};
pub use policy::{Check, ForceUnlock, Policies};
pub use problem::{Problem, ProblemType};
pub use pulumi::PulumiBucket;
pub use secrets_key::SecretsKeyError;
pub use store_check::{ProblemReport, StoreCheck, StoreCheckError, StoreChecked, StoreProblem};

/// The audit log.
pub use groundstate_audit as audit;
/// The contract of the stores that states are kept in.
pub use groundstate_blobs as blobs;
/// Clocks and ids.
pub use groundstate_common as common;
/// The URLs of buckets of the Pulumi CLI.
pub use groundstate_pulumi_backends as pulumi_backends;
/// The Pulumi stacks.
pub use groundstate_pulumi_service as pulumi_service;
/// What states are kept as.
pub use groundstate_versioned as versioned;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
