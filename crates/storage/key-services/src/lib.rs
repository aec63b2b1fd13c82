//! Data keys wrapped by key services: AWS KMS, Google Cloud KMS, Azure Key Vault, and the transit engines of OpenBao and Vault.
//!
//! ```
//! use groundstate_key_services::{DataKey, KeyService, Result, WrappedKey};
//!
//! /// Makes a key that encrypts a document, and what has to be stored beside the document to get it again.
//! async fn fresh(service: &dyn KeyService) -> Result<(DataKey, WrappedKey)> {
//!     service.generate(32).await
//! }
//!
//! /// Gets the key again.
//! async fn again(service: &dyn KeyService, stored: Vec<u8>) -> Result<DataKey> {
//!     service.unwrap(&WrappedKey::new(stored)).await
//! }
//! ```
//!
//! # What to know
//!
//! - `AwsKms`, `GcpKms`, `AzureKeyVault` and `Transit` implement [`KeyService`]. Their wrapped keys are those of the services' own
//!   clients, so other programs unwrap them, and the reverse.
//! - Nothing that is asked for here changes a service, so a lost reply is asked for again: a bounded number of times, in bounded time.
//! - An [`Error`] has a [`kind`](Error::kind) that says what to do: enable the key, give a right, wait.
//! - [`DataKey`]s are overwritten when they are dropped, and so are the requests that carry them. No error, log or `Debug` text
//!   has a key, a token or a body.
//!
//! # What is deliberately absent
//!
//! - Encryption of documents, and the texts in which documents store wrapped keys.
//! - Administration: no key is made, rotated or deleted.
//! - Clocks, timers, randomness and variables of the environment: they are handed in, the first three as [`KeyContext`].
//!
//! # Features
//!
//! All are off by default: `aws`, `gcp`, `azure`, `vault`. They need a tokio runtime around them; TLS is rustls with ring.

#[cfg(feature = "aws")]
mod aws;
#[cfg(feature = "azure")]
mod azure;
#[cfg(feature = "_cloud")]
mod cloud;
mod context;
mod error;
#[cfg(feature = "gcp")]
mod gcp;
mod key;
#[cfg(feature = "_wire")]
mod message;
mod op;
#[cfg(feature = "_wire")]
mod retry;
mod service;
#[cfg(feature = "vault")]
mod transit;

#[cfg(feature = "_cloud")]
pub use groundstate_blobs_cloud as blobs_cloud;
pub use groundstate_common as common;
#[cfg(feature = "vault")]
pub use groundstate_http_client as http_client;
pub use zeroize;

#[cfg(feature = "aws")]
pub use aws::AwsKms;
#[cfg(feature = "azure")]
pub use azure::AzureKeyVault;
pub use context::KeyContext;
pub use error::{BoxError, Error, ErrorKind, Result};
#[cfg(feature = "gcp")]
pub use gcp::GcpKms;
pub use key::{DataKey, WrappedKey};
pub use op::Op;
pub use service::KeyService;
#[cfg(feature = "vault")]
pub use transit::{Transit, TransitNames, TransitSettings};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
