//! The state server: Terraform's HTTP protocol, a JSON API, history, locks, roles.
//!
//! ```
//! use std::sync::Arc;
//!
//! use groundstate_server::blobs::MemoryBlobs;
//! use groundstate_server::{App, Parts, router};
//!
//! let app = App::new(Parts::new(Arc::new(MemoryBlobs::new("states"))));
//! let _service = router(app);
//! ```
//!
//! # Finding your way
//!
//! - [`App`] is what every request works on: the store, the policies, the limits. Clones share it.
//! - [`router`] makes the service of it; it needs no socket.
//! - [`Policies`] say what the server refuses, [`Limits`] how much a request may cost.
//! - [`auth`] says who asks and what that principal may do.

pub mod app;
pub mod auth;
pub mod config;
pub mod edge;
mod limits;
mod names;
mod policy;
mod problem;

pub use app::{App, Parts, router};
pub use limits::Limits;
pub use names::{InvalidTarget, ProjectName, StateName, StatePath};
pub use policy::{Check, ForceUnlock, Policies};
pub use problem::{Problem, ProblemType};

/// The contract of the stores that states are kept in.
pub use groundstate_blobs as blobs;
/// Clocks and ids.
pub use groundstate_common as common;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
