//! Secrets of deployments: crypters, the passphrase manager, providers by type, batches that keep unchanged ciphertexts.
//!
//! A deployment says in `secrets_providers` which manager keeps its secrets. A [`Provider`] opens a [`Manager`] from that
//! object ([`SecretsProviders`]), and the manager encrypts and decrypts values:
//!
//! ```
//! use std::sync::Arc;
//! use groundstate_pulumi_secrets::passphrase::GivenPassphrase;
//! use groundstate_pulumi_secrets::{Ciphertext, DefaultProvider, Entropy, EntropyError, Provider, SecretsProviders};
//!
//! # #[derive(Debug)]
//! # struct Random;
//! # impl Entropy for Random {
//! #     fn fill(&self, _: &mut [u8]) -> Result<(), EntropyError> { Err(EntropyError::new("none")) }
//! # }
//! let providers = SecretsProviders::parse(
//!     r#"{"type":"passphrase","state":{"salt":"v1:fozI5u6B030=:v1:F+6ZduKKd8G0/V7L:PGMFeIzwobWRKmEAzUdaQHqC5mMRIQ=="}}"#,
//! )?;
//! // Programs read the environment, and pass on what they found. `Random` asks the operating system (feature `os`).
//! let source = GivenPassphrase::new().with_variable(Some("password"));
//! let manager = DefaultProvider::new(Arc::new(source), Arc::new(Random)).of_type(&providers)?;
//!
//! assert_eq!(manager.lock_reason(), None);
//! let check = manager.decrypter().decrypt(&Ciphertext::new("v1:F+6ZduKKd8G0/V7L:PGMFeIzwobWRKmEAzUdaQHqC5mMRIQ=="))?;
//! assert_eq!(check.expose(), "pulumi");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Many secrets
//!
//! [`Manager::begin_decrypt`] and [`Manager::begin_encrypt`] take all secrets of a deployment, each with a [`SecretId`]. A
//! secret whose value did not change gets the ciphertext back that it had, byte for byte, so that writing a deployment
//! changes what has changed and nothing else. [`CachePolicy`] has other ways.
//!
//! # Asynchronous key services
//!
//! Nothing here waits. A service that has to be waited for is asked outside, for whole batches: its answers go into a
//! [`CachedCrypter`] before decoding, and into [`SecretCache`] before encoding. A service that keeps one data key is
//! asked for that key, and a [`SymmetricCrypter`] does the rest: [`cloud`] has the managers of Pulumi that do so.
//! [`DefaultProvider::with_provider`] adds any other under its type.
//!
//! # What is deliberately absent
//!
//! - The environment, files, terminals: [`passphrase::PassphraseSource`] is how programs pass on what they find there.
//! - Randomness: [`Entropy`] is passed in. The feature `os` has the operating system's.
//! - Property values and their JSON: a secret is a text here.
//! - Calls of key services. Without them their types are refused by name, and their state is kept.
//!
//! # Features
//!
//! - `os` (off by default): `OsEntropy`, the random generator of the operating system.

mod base64;
mod batch;
mod cache;
pub mod cloud;
mod crypter;
mod error;
mod inspect;
mod manager;
pub mod passphrase;
mod provider;
mod sensitive;
mod simple;
mod state;
mod symmetric;

pub use self::base64::decode as decode_base64;
pub use batch::{BATCH, BatchError, DecryptBatch, EncryptBatch};
pub use cache::{CachedCrypter, SecretCache, SecretId};
pub use crypter::{Crypter, Decrypter, Encrypter, each};
pub use error::{BoxError, CryptError, Operation, Part};
pub use inspect::{inspect_ciphertext, inspect_provider};
pub use manager::{CachePolicy, Manager};
pub use provider::{Base64Provider, BlindingProvider, DefaultProvider, Provider, ProviderError};
pub use sensitive::{Ciphertext, Key, Passphrase, Plaintext, REDACTED};
pub use simple::{Base64Crypter, BlindingCrypter, ErrorCrypter, NoSecretsCrypter, NopCrypter};
pub use state::{SecretsProviders, SecretsProvidersError};
pub use symmetric::SymmetricCrypter;

// Where randomness comes from.
#[cfg(feature = "os")]
pub use groundstate_common::OsEntropy;
pub use groundstate_common::{Entropy, EntropyError};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
