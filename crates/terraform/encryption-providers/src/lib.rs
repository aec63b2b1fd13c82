//! Keys of encrypted states from passphrases, programs and services, and state stores that encrypt.
//!
//! ```
//! use std::sync::Arc;
//! use groundstate_encryption_providers::common::{Entropy, EntropyError};
//! use groundstate_encryption_providers::encryption::{Configuration, Scope, Target};
//! use groundstate_encryption_providers::statemgr::{SharedMemory, StateStore, WriteOptions};
//! use groundstate_encryption_providers::{EncryptedStore, Encryption, KeyRing};
//!
//! # #[derive(Debug)]
//! # struct Random;
//! # impl Entropy for Random {
//! #     fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> { bytes.fill(1); Ok(()) }
//! # }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # futures_lite(async {
//! let text = r#"
//!   key_provider "pbkdf2" "main" {
//!     passphrase = "correct-horse-battery"
//!     iterations = 200000
//!   }
//!   method "aes_gcm" "main" {
//!     keys = key_provider.pbkdf2.main
//!   }
//!   state {
//!     method = method.aes_gcm.main
//!   }
//! "#;
//! let configuration = Configuration::parse("TF_ENCRYPTION", text, &Scope::new())?.expect("it is not blank");
//! let chain = configuration.chain(&Target::State)?.expect("there is a state block");
//!
//! // Programs take the random generator of the operating system, `common::OsEntropy`.
//! let keys = Arc::new(KeyRing::new(Arc::new(Random)));
//! let place = SharedMemory::new("prod");
//! let store = EncryptedStore::new(place.open(), Encryption::new(chain, keys));
//! let state = r#"{"version":4,"terraform_version":"1.12.6","serial":1,"lineage":"l"}"#;
//! store.write(state.into(), &WriteOptions::any()).await?;
//!
//! assert_eq!(store.read().await?.expect("it was written").bytes, state.as_bytes());
//! let stored = place.open().read().await?.expect("it was written").bytes;
//! assert!(stored.starts_with(br#"{"serial":1,"lineage":"l","meta":{"key_provider.pbkdf2.main":"#));
//! # Ok(())
//! # })
//! # }
//! # fn futures_lite<T>(future: impl Future<Output = T>) -> T {
//! #     let mut future = std::pin::pin!(future);
//! #     let mut context = std::task::Context::from_waker(std::task::Waker::noop());
//! #     loop {
//! #         if let std::task::Poll::Ready(done) = future.as_mut().poll(&mut context) { return done; }
//! #         std::thread::yield_now();
//! #     }
//! # }
//! ```
//!
//! # Finding your way
//!
//! - [`KeyRing`] gets the keys that `groundstate-encryption` asks for, and keeps them while it lives. A [`KeyService`] adds types of key
//!   providers, [`Programs`] those of the type `external`.
//! - `KeyServices` gets keys of the types `aws_kms`, `gcp_kms`, `azure_vault` and `openbao`, behind the features of this crate.
//! - [`EncryptedStore`] puts an [`Encryption`] around any state store. It keeps the contract of stores.
//!
//! # What is deliberately absent
//!
//! - Programs run only if [`KeyRing::programs`] allows it: a configuration from a directory may be a stranger's.
//! - The environment and files: configurations are the caller's to read.
//!
//! # Features
//!
//! All are off by default: `aws` (`aws_kms`), `gcp` (`gcp_kms`), `azure` (`azure_vault`) and `vault` (`openbao`).
//!
//! # Runtime
//!
//! Programs and services need tokio with its timer and I/O. Keys of passphrases are derived on threads of their own, and need no runtime.

mod keyring;
mod program;
#[cfg(feature = "_service")]
mod service;
mod store;

pub use keyring::{KeyRing, KeyService};
pub use program::Programs;
#[cfg(feature = "_service")]
pub use service::KeyServices;
pub use store::{EncryptedStore, Encryption, ReadOutcome};

/// Where randomness comes from.
pub use groundstate_common as common;
/// Envelopes, chains, configuration.
pub use groundstate_encryption as encryption;
/// What key services need of a program, and why they refuse.
#[cfg(feature = "_service")]
pub use groundstate_key_services as key_services;
/// The contract of stores.
pub use groundstate_statemgr as statemgr;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
