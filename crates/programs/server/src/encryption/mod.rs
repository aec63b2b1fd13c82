//! Encryption at rest: what a server stores, by data keys that a key of the server wraps.

mod envelope;
mod keyring;
mod store;

use std::sync::Arc;

use groundstate_blobs::{BlobStore, Context, Error as BlobError, ListOptions};
use groundstate_common::EntropyError;
use groundstate_pulumi_service::{BoxError, ServiceKey};
use serde::Deserialize;
use thiserror::Error;

use self::keyring::{DataKey, StoredKeyring, create, shown};
use self::store::Encrypted;
use crate::app::DOCUMENTS;
use crate::config::Config;
use crate::edge::{mark_encrypted, says_encrypted};
use crate::secrets_key::{SecretsKeyError, secrets_key};

pub(crate) use self::keyring::KEYRING;

/// Setting for the encryption of what is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum EncryptionMode {
    /// Encrypts a new store if a key is configured, and goes on with a store that is encrypted.
    #[default]
    Auto,
    /// Encrypts everything from now on.
    On,
    /// Encrypts no more, and reads what is encrypted.
    Off,
}

/// Errors of opening a store that is encrypted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EncryptionError {
    /// The store cannot be read or written.
    #[error("cannot use the keys of the store")]
    Store(#[source] BlobError),
    /// The key of the server cannot be used.
    #[error("cannot use the key of the server")]
    Key(#[from] SecretsKeyError),
    /// Encryption is asked for, and no key is configured.
    #[error("`store_encryption` is `on`, and the server has no key")]
    NoKey,
    /// The store is encrypted by a key that the server does not have.
    #[error("the store is encrypted by the key {name}, which this server lacks")]
    Lost {
        /// Name of the missing key.
        name: String,
    },
    /// The store is encrypted, and its keyring is missing.
    #[error("the store is encrypted, and its {KEYRING} is missing")]
    MissingKeyring,
    /// The keyring and its copy are damaged.
    #[error("{KEYRING} and its copy are damaged")]
    DamagedKeyring,
    /// A data key cannot be unwrapped.
    #[error("cannot unwrap the data keys of the store by the key {name}")]
    Unwrap {
        /// Name of the server's key.
        name: String,
        /// Cause.
        source: BoxError,
    },
    /// A data key cannot be wrapped.
    #[error("cannot wrap a data key of the store by the key {name}")]
    Wrap {
        /// Name of the server's key.
        name: String,
        /// Cause.
        source: BoxError,
    },
    /// There is no random generator.
    #[error("cannot make a data key")]
    Entropy(#[source] EntropyError),
}

/// A store as the server uses it: encrypted or not.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoreEncryption {
    /// The store, which encrypts and decrypts.
    pub store: Arc<dyn BlobStore>,
    /// Name of the key by which new data is encrypted; `None` if it is stored readable.
    pub key: Option<String>,
    /// Lines for the operator.
    pub notes: Vec<String>,
}

impl StoreEncryption {
    /// Opens the encryption of a store as a server does when it starts. Makes the keyring if encryption begins, and wraps the data keys anew
    /// if the key of the server is another one.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is encrypted and a key is missing or wrong, or if a key is asked for and there is none.
    pub async fn open(
        config: &Config,
        store: Arc<dyn BlobStore>,
        context: &Context,
    ) -> Result<Self, EncryptionError> {
        let service = match config.store.is_volatile() {
            true => None,
            false => secrets_key(config, context)?,
        };
        let mut stored = Self::stored(&store).await?;
        if stored.is_none() && Self::begins(config, &store, service.is_some()).await? {
            let key = service.as_ref().ok_or(EncryptionError::NoKey)?;
            create(&*store, &**key).await?;
            stored = StoredKeyring::read(&*store).await?;
        }
        let Some(stored) = stored else { return Ok(Self::readable(store, service)) };
        let key = known(&stored, service)?;
        let mut keys = stored.unwrap(&*key).await?;
        if stored.names().any(|name| name != key.name()) {
            stored.rewrap(&*store, &*key, &keys).await?;
            let stored = StoredKeyring::read(&*store).await?.ok_or(EncryptionError::MissingKeyring)?;
            keys = stored.unwrap(&*key).await?;
        }
        mark_encrypted(&*store).await.map_err(EncryptionError::Store)?;
        let mut opened = Self::encrypted(config, store, key, keys);
        if opened.key.is_none() {
            opened.notes.push("the store is encrypted, and new versions are stored readable, since `store_encryption` is `off`".to_owned());
        }
        Ok(opened)
    }

    /// Opens the encryption of a store for a command that looks at it or mends it. Makes no keys.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is encrypted and a key is missing or wrong.
    pub async fn open_used(
        config: &Config,
        store: Arc<dyn BlobStore>,
        context: &Context,
    ) -> Result<Self, EncryptionError> {
        let Some(stored) = Self::stored(&store).await? else { return Ok(Self::readable(store, None)) };
        let key = known(&stored, secrets_key(config, context)?)?;
        let keys = stored.unwrap(&*key).await?;
        Ok(Self::encrypted(config, store, key, keys))
    }

    /// The keyring of a store; an error if the store had one.
    async fn stored(store: &Arc<dyn BlobStore>) -> Result<Option<StoredKeyring>, EncryptionError> {
        let stored = StoredKeyring::read(&**store).await?;
        if stored.is_none() && says_encrypted(&**store).await.map_err(EncryptionError::Store)? {
            return Err(EncryptionError::MissingKeyring);
        }
        Ok(stored)
    }

    /// Returns `true` if a store that is not encrypted has to be from now on.
    async fn begins(
        config: &Config,
        store: &Arc<dyn BlobStore>,
        has_key: bool,
    ) -> Result<bool, EncryptionError> {
        let is_configured = config.secrets_key.is_some() || config.secrets_key_file.is_some();
        match config.encryption {
            EncryptionMode::Off => Ok(false),
            EncryptionMode::On => Ok(!config.store.is_volatile()),
            // A key that the operator did not ask for must not be what all states depend on.
            EncryptionMode::Auto if !has_key || !is_configured => Ok(false),
            EncryptionMode::Auto => {
                let page = store.list(DOCUMENTS, &ListOptions::default().limit(1)).await;
                let page = page.map_err(EncryptionError::Store)?;
                Ok(page.blobs.is_empty() && page.next.is_none())
            }
        }
    }

    /// A store that has a keyring, whose new blobs are encrypted unless the configuration says `off`.
    fn encrypted(
        config: &Config,
        store: Arc<dyn BlobStore>,
        key: Arc<dyn ServiceKey>,
        keys: Vec<DataKey>,
    ) -> Self {
        let is_on = config.encryption != EncryptionMode::Off;
        let name = is_on.then(|| shown(&key.name()));
        let store = Arc::new(Encrypted::new(store, Some(key), keys, is_on));
        Self { store, key: name, notes: Vec::new() }
    }

    /// A store that is stored readable. What another node encrypts meanwhile is read.
    fn readable(store: Arc<dyn BlobStore>, service: Option<Arc<dyn ServiceKey>>) -> Self {
        let store = Arc::new(Encrypted::new(store, service, Vec::new(), false));
        Self { store, key: None, notes: Vec::new() }
    }
}

/// The key of the server, if it unwraps what is stored.
fn known(
    stored: &StoredKeyring,
    service: Option<Arc<dyn ServiceKey>>,
) -> Result<Arc<dyn ServiceKey>, EncryptionError> {
    let lost = |name: &str| EncryptionError::Lost { name: shown(name) };
    let Some(key) = service else {
        return Err(lost(stored.names().next().unwrap_or_default()));
    };
    match stored.names().find(|name| !key.opens(name)) {
        Some(name) => Err(lost(name)),
        None => Ok(key),
    }
}
