//! State and plan encryption of OpenTofu: envelopes, keys from passphrases, fallback chains, configuration.
//!
//! ```
//! use groundstate_encryption::common::{Entropy, EntropyError};
//! use groundstate_encryption::{Configuration, EnvelopeLayout, PassphraseKeys, Scope, Status, Target};
//!
//! # #[derive(Debug)]
//! # struct Random;
//! # impl Entropy for Random {
//! #     fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> { bytes.fill(1); Ok(()) }
//! # }
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
//! let mut keys = PassphraseKeys::new(Random);
//! let state = br#"{"version":4,"terraform_version":"1.12.6","serial":7,"lineage":"l","outputs":{},"resources":[]}"#;
//! let stored = chain.seal(state, EnvelopeLayout::Compact, &mut keys, &Random)?;
//! assert!(stored.starts_with(br#"{"serial":7,"lineage":"l","meta":{"key_provider.pbkdf2.main":""#));
//!
//! let opened = chain.open(&stored, &mut keys)?;
//! assert_eq!(opened.plaintext.expose(), state);
//! assert_eq!(opened.status, Status::Satisfied);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Finding your way
//!
//! - [`Configuration`] reads `TF_ENCRYPTION` and, through [`Sources`], the `encryption` blocks of a directory. It evaluates
//!   literals, and the variables and locals of a [`Scope`]; what it does not evaluate is an error where it is needed.
//! - A [`Chain`] is what one [`Target`] says: a primary method that encrypts, and fallbacks that decrypt.
//! - [`Opening`] and [`Sealing`] decrypt and encrypt step by step. A [`Step`] asks for a key ([`KeyRequest`]) or a run of a program
//!   ([`ProgramRequest`]), and the caller answers, whenever it has waited for a key service. [`Chain::open`] and [`Chain::seal`]
//!   do all steps with a [`KeySource`] that does not wait.
//! - [`Envelope`] shows what is readable without a key. Nothing vouches for it.
//! - [`external`] is the protocol of programs that give keys or encrypt.
//!
//! # What is deliberately absent
//!
//! - Key services and programs: their keys are the caller's to get. Keys of `pbkdf2` are derived here.
//! - Files, the environment, a clock, and randomness of its own.
//! - Evaluation of functions, conditions and operators in expressions.
//!
//! # Secrets
//!
//! Plaintext, keys and passphrases are zeroed when they are dropped, and nothing shows them. The text of a configuration is the
//! caller's, and what its parser copies is freed without being zeroed.

mod base64;
mod chain;
mod config;
mod envelope;
mod error;
pub mod external;
mod keys;
mod method;
mod opening;
mod pbkdf2;
mod provider;
mod sealing;
mod sensitive;

pub use chain::{Chain, KeySource, PassphraseKeys, Target};
pub use config::{
    Configuration, ConfigurationError, Options, Place, Scope, SourceFile, Sources, Value, read_variables,
};
pub use envelope::{Envelope, EnvelopeError, EnvelopeLayout, Metadata};
pub use error::{BoxError, KeyError, MethodError, MethodFailure, OpenError, SealError};
pub use method::{Method, ProgramRequest};
pub use opening::{Opened, Opening, Status, Step};
pub use provider::{BlockId, KeyProvider, KeyRequest, KeyUse, ProvidedKey};
pub use sealing::Sealing;
pub use sensitive::{Key, Plaintext};

/// Where randomness comes from.
pub use groundstate_common as common;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
