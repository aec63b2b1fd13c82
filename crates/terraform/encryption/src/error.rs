//! Why something could not be encrypted or decrypted.

use std::fmt;

use groundstate_common::{EntropyError, with_causes};
use thiserror::Error;

use crate::envelope::EnvelopeError;
use crate::provider::BlockId;

/// A cause of any type.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why there is no key.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The envelope has nothing of this provider.
    #[error("the envelope has no metadata `{}`", .key.escape_default())]
    NoMetadata {
        /// The metadata key.
        key: String,
    },
    /// The stored metadata cannot be used.
    #[error("the stored metadata are damaged: {why}")]
    Metadata {
        /// What is wrong with them.
        why: &'static str,
    },
    /// The stored metadata have a member that no known release writes.
    #[error("the stored metadata have a member `{}`: a later release wrote them, open the state with that", .member.escape_default())]
    Later {
        /// The member that is not known.
        member: String,
    },
    /// The stored metadata ask for more work than any honest writer would.
    #[error(
        "the stored metadata ask for {found} iterations, more than the {} that are allowed",
        crate::pbkdf2::MAX_ITERATIONS
    )]
    Iterations {
        /// How many iterations the metadata ask for.
        found: u64,
    },
    /// The stored metadata ask for a key that no method takes.
    #[error(
        "the stored metadata ask for a key of {found} bytes, more than the {} that are allowed",
        crate::pbkdf2::MAX_KEY_LENGTH
    )]
    KeyLength {
        /// How many bytes.
        found: u64,
    },
    /// The provider that is chained gives too short a key.
    #[error("the chained key has {found} bytes, and has to have {} at least", crate::pbkdf2::MIN_PASSPHRASE)]
    ShortChain {
        /// How many bytes.
        found: usize,
    },
    /// The provider that is chained was not asked.
    #[error("the key of {provider} is needed first")]
    NoChain {
        /// The provider to ask first.
        provider: String,
    },
    /// The key has no metadata to get it back with.
    #[error("the key comes without metadata, so nothing that it encrypts could be decrypted")]
    Unrecoverable,
    /// There is nothing that gets keys of this type.
    #[error("key providers of the type `{}` are not available here", .kind.escape_default())]
    Unsupported {
        /// The type.
        kind: String,
    },
    /// The source of randomness does not answer.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
}

/// Why a method failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MethodError {
    /// AES has keys of three lengths.
    #[error("AES-GCM takes keys of 16, 24 or 32 bytes, and this one has {found}; set `key_length = 32`")]
    KeyLength {
        /// How many bytes it has.
        found: usize,
    },
    /// There is no room for nonce and tag.
    #[error("the encrypted content has {found} bytes, and 28 are the least")]
    TooShort {
        /// How many bytes it has.
        found: usize,
    },
    /// Another key or other `aad` encrypted it, or it was changed.
    #[error("message authentication failed: another key or other `aad` encrypted it, or it was changed")]
    Authentication,
    /// The plaintext is longer than AES-GCM takes.
    #[error("the content is too long for AES-GCM, which takes 64 GiB")]
    TooLong,
    /// The source of randomness does not answer.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
}

/// Why one method of a chain could not decrypt.
#[derive(Debug)]
pub struct MethodFailure {
    pub(crate) method: BlockId,
    pub(crate) provider: Option<BlockId>,
    pub(crate) source: BoxError,
}

impl MethodFailure {
    /// The method.
    pub fn method(&self) -> &BlockId {
        &self.method
    }

    /// The key provider that failed; nothing if the method itself did.
    pub fn provider(&self) -> Option<&BlockId> {
        self.provider.as_ref()
    }
}

impl fmt::Display for MethodFailure {
    /// On one line with its causes, since several of them stand in one message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.provider {
            Some(provider) => write!(f, "{} with {provider}", self.method)?,
            None => write!(f, "{}", self.method)?,
        }
        write!(f, ": {}", with_causes(&*self.source))
    }
}

impl std::error::Error for MethodFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // `Display` has it.
        None
    }
}

/// Why a state or a plan could not be decrypted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The text is neither an envelope nor plaintext.
    #[error(transparent)]
    Envelope(#[from] EnvelopeError),
    /// The text is JSON, and neither a state nor an envelope.
    #[error("this is neither a state nor an encrypted one: it has no `terraform_version`")]
    NotState,
    /// A plan begins with `PK`.
    #[error("this is neither a plan nor an encrypted one")]
    NotPlan,
    /// It is in the clear, and the chain has no method that allows it.
    #[error(
        "encountered unencrypted payload without unencrypted method configured: it is stored in the clear; \
         to encrypt it at the next write, add a `fallback` with a method of the type `unencrypted`"
    )]
    Unencrypted,
    /// A later release wrote it.
    #[error("the envelope has the version `{}`, and only v0 is known: a later release wrote it, open it with that", .found.escape_default())]
    Version {
        /// The version.
        found: String,
    },
    /// No method opens it.
    #[error("decryption failed for all provided methods: {}", list(.failures))]
    Failed {
        /// Why, for each method, primary first.
        failures: Vec<MethodFailure>,
    },
    /// Every method of the chain leaves states in the clear.
    #[error("it is encrypted, and the configuration has no method that decrypts")]
    NoMethod,
    /// The serial outside was changed.
    #[error(
        "invalid state metadata, serial field mismatch: {outside} outside, {inside} inside; the envelope was changed, take the state from a backup"
    )]
    Serial {
        /// The one that is not encrypted.
        outside: String,
        /// The one that is.
        inside: String,
    },
    /// The lineage outside was changed.
    #[error(
        "invalid state metadata, lineage field mismatch; the envelope was changed, take the state from a backup"
    )]
    Lineage,
}

/// Why a state or a plan could not be encrypted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SealError {
    /// There is no key.
    #[error("no key from {provider}")]
    Key {
        /// The provider.
        provider: BlockId,
        /// What it says.
        source: BoxError,
    },
    /// The method failed.
    #[error("{method} cannot encrypt")]
    Method {
        /// The method.
        method: BlockId,
        /// What the method said.
        source: BoxError,
    },
}

fn list(failures: &[MethodFailure]) -> String {
    let texts: Vec<String> = failures.iter().map(ToString::to_string).collect();
    texts.join("; ")
}
