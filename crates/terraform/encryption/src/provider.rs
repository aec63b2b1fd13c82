//! Key providers, and what is asked of them.

use std::fmt;
use std::sync::Arc;

use groundstate_common::Entropy;

use crate::config::Options;
use crate::error::KeyError;
use crate::pbkdf2::{MIN_PASSPHRASE, Pbkdf2Metadata, Pbkdf2Options, Secret};
use crate::sensitive::Key;

/// The type and the name of a key provider or a method, such as `key_provider.pbkdf2.main`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId {
    /// `key_provider` or `method`.
    pub(crate) block: &'static str,
    pub(crate) kind: String,
    pub(crate) name: String,
}

impl BlockId {
    /// The type, such as `pbkdf2`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The second label of its block.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for BlockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.block, self.kind, self.name)
    }
}

/// A key provider of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyProvider {
    pub(crate) id: BlockId,
    pub(crate) metadata_key: String,
    pub(crate) setup: Setup,
}

/// What is done to get a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Setup {
    Pbkdf2(Pbkdf2Options),
    /// The caller knows the type and its options.
    Other(Options),
}

impl KeyProvider {
    /// Type and name.
    pub fn id(&self) -> &BlockId {
        &self.id
    }

    /// The name of its metadata in envelopes: its address, or what `encrypted_metadata_alias` says.
    pub fn metadata_key(&self) -> &str {
        &self.metadata_key
    }

    /// The options, unless this crate derives the key itself.
    pub fn options(&self) -> Option<&Options> {
        match &self.setup {
            Setup::Pbkdf2(_) => None,
            Setup::Other(options) => Some(options),
        }
    }

    /// The provider whose key stands in the place of the passphrase.
    pub(crate) fn upstream(&self) -> Option<&Arc<Self>> {
        match &self.setup {
            Setup::Pbkdf2(Pbkdf2Options { secret: Secret::Chain(upstream), .. }) => Some(upstream),
            _ => None,
        }
    }
}

/// What a key is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyUse {
    /// Encrypting: a new key, and metadata to get it back with.
    Encrypt,
    /// Decrypting: the key to which these metadata lead, a JSON text.
    Decrypt(Vec<u8>),
}

/// A key that is needed to go on.
///
/// Requests are equal if they lead to the same key, so that answers can be kept by them.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyRequest {
    pub(crate) provider: Arc<KeyProvider>,
    pub(crate) key_use: KeyUse,
    pub(crate) upstream: Option<Key>,
}

impl KeyRequest {
    /// The provider that is asked.
    pub fn provider(&self) -> &KeyProvider {
        &self.provider
    }

    /// What the key is for.
    pub fn key_use(&self) -> &KeyUse {
        &self.key_use
    }

    /// Derives the key of a `pbkdf2` provider; nothing for other types, whose keys are the caller's to get.
    ///
    /// It takes a noticeable part of a second, so keep the answer.
    ///
    /// # Errors
    ///
    /// When the metadata are damaged or would take too long, when the key of the chain is too short, or when the source of
    /// randomness does not answer.
    pub fn derive(&self, entropy: &dyn Entropy) -> Option<Result<ProvidedKey, KeyError>> {
        let Setup::Pbkdf2(options) = &self.provider.setup else { return None };
        Some(self.derive_from(options, entropy))
    }

    fn derive_from(&self, options: &Pbkdf2Options, entropy: &dyn Entropy) -> Result<ProvidedKey, KeyError> {
        let passphrase = match (&options.secret, &self.upstream) {
            (Secret::Passphrase(passphrase), _) => passphrase,
            (Secret::Chain(_), Some(key)) if key.expose().len() >= MIN_PASSPHRASE => key,
            (Secret::Chain(_), Some(key)) => return Err(KeyError::ShortChain { found: key.expose().len() }),
            (Secret::Chain(upstream), None) => {
                return Err(KeyError::NoChain { provider: upstream.id.to_string() });
            }
        };
        Ok(match &self.key_use {
            KeyUse::Encrypt => {
                let metadata = Pbkdf2Metadata::generate(options, entropy)?;
                ProvidedKey::with_metadata(metadata.derive(passphrase.expose()), metadata.to_json())
            }
            KeyUse::Decrypt(stored) => {
                let metadata = Pbkdf2Metadata::parse(stored)?;
                ProvidedKey::new(metadata.derive(passphrase.expose())).weak(metadata.is_weak())
            }
        })
    }
}

impl fmt::Debug for KeyRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.key_use {
            KeyUse::Encrypt => "encrypt",
            KeyUse::Decrypt(_) => "decrypt",
        };
        f.debug_struct("KeyRequest").field("provider", &self.provider.id).field("use", &what).finish()
    }
}

/// The answer to a [`KeyRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvidedKey {
    pub(crate) key: Key,
    pub(crate) metadata: Option<Vec<u8>>,
    pub(crate) is_weak: bool,
}

impl ProvidedKey {
    /// The key for decrypting.
    pub fn new(key: Key) -> Self {
        Self { key, metadata: None, is_weak: false }
    }

    /// A new key for encrypting, and the JSON text by which it is found again.
    pub fn with_metadata(key: Key, metadata: Vec<u8>) -> Self {
        Self { metadata: Some(metadata), ..Self::new(key) }
    }

    /// The key.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The JSON text by which a new key is found again.
    pub fn metadata(&self) -> Option<&[u8]> {
        self.metadata.as_deref()
    }

    fn weak(self, is_weak: bool) -> Self {
        Self { is_weak, ..self }
    }
}
