//! The state of Terraform or OpenTofu by its address: outputs, resources, the whole state, and changes under the lock.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A file, a directory with a configuration, or an address such as `s3://states/network.tfstate?region=eu-central-1`.
//! let state = groundstate_client::open("tests/fixtures/shop.tfstate").await?;
//! let region: String = state.outputs().await?.get("region")?;
//! assert_eq!(region, "eu-west-1");
//! assert_eq!(state.resources().await?[0].to_string(), "terraform_data.old");
//! # Ok(())
//! # }
//! ```
//!
//! # Finding your way
//!
//! - [`open`] finds the state; [`Client`] reads and changes it. [`Options`] says more: the workspace, the directory that relative
//!   paths begin at, the variables that count as environment, a registry with a backend of your own.
//! - [`Outputs`] gives values as types of the program.
//! - [`Client::change`] hands out an [`Editor`](edit::Editor) on what is stored, under the lock.
//! - [`blocking`] is the same without async.
//! - [`backends`], [`edit`] with [`edit::statefile`] and [`edit::states`], and [`statemgr`] are the crates whose types stand here.
//!
//! # What is deliberately absent
//!
//! - Pulumi stacks, which have other models.
//! - Retries and credentials of its own: backends have those of the originals.
//! - A cache: each call reads what is stored now.
//!
//! # Features
//!
//! One for each service, all off by default: `s3`, `gcs`, `azurerm`, `http`, `pg`.

pub mod blocking;
mod client;
mod error;
mod options;
mod outputs;

pub use client::{Client, open};
pub use error::Error;
pub use options::Options;
pub use outputs::Outputs;

/// Addresses, `backend` blocks and registries.
pub use groundstate_backends as backends;
/// Edits, with the models and formats of states.
pub use groundstate_state_edit as edit;
/// Stores, locks and the manager.
pub use groundstate_statemgr as statemgr;

/// Compiles and runs the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
