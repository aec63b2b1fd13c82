//! State stores that encrypt.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_encryption::{BlockId, Chain, EnvelopeLayout, OpenError, Status};
use groundstate_statemgr::{
    Error, ErrorKind, Op, Result, StateStore, Stored, Version, WriteOptions, forward_locking,
};

use crate::keyring::KeyRing;

/// How states of one place are encrypted, and with which keys.
#[derive(Clone, Debug)]
pub struct Encryption {
    chain: Arc<Chain>,
    keys: Arc<KeyRing>,
    layout: EnvelopeLayout,
}

impl Encryption {
    /// By this chain, with keys from here.
    pub fn new(chain: Chain, keys: Arc<KeyRing>) -> Self {
        Self { chain: Arc::new(chain), keys, layout: EnvelopeLayout::Compact }
    }

    /// With the line breaks of the place: the backend `local` indents.
    #[must_use]
    pub fn layout(mut self, layout: EnvelopeLayout) -> Self {
        self.layout = layout;
        self
    }

    /// The methods.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The keys.
    pub fn keys(&self) -> &Arc<KeyRing> {
        &self.keys
    }

    /// The line breaks of envelopes.
    pub fn envelope_layout(&self) -> EnvelopeLayout {
        self.layout
    }
}

/// What the last read of an [`EncryptedStore`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOutcome {
    /// Whether the next write changes how the state is encrypted.
    pub status: Status,
    /// The method that decrypted it; nothing if it was in the clear.
    pub method: Option<BlockId>,
    /// A passphrase is hashed fewer times than OpenTofu allows for new keys.
    pub is_weak: bool,
}

/// A store around another one: it decrypts what is read, and encrypts what is written.
///
/// Versions, conditions, locks, leases and backups are those of the inner store, and are about the bytes that are stored. What
/// is in the clear is read only if the chain has the method `unencrypted`, and plaintext is stored only if that is its
/// primary. Encrypting comes before the inner store is asked to write, so what cannot be encrypted changes nothing.
pub struct EncryptedStore<S = Arc<dyn StateStore>> {
    store: S,
    encryption: Encryption,
    last: Mutex<Option<ReadOutcome>>,
}

impl<S: StateStore> EncryptedStore<S> {
    /// Around `store`.
    pub fn new(store: S, encryption: Encryption) -> Self {
        Self { store, encryption, last: Mutex::default() }
    }

    /// What the last read found; nothing before the first one, and where nothing is stored.
    pub fn last_read(&self) -> Option<ReadOutcome> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn remember(&self, outcome: Option<ReadOutcome>) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = outcome;
    }
}

impl<S: fmt::Display> fmt::Display for EncryptedStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl<S: fmt::Debug> fmt::Debug for EncryptedStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncryptedStore")
            .field("store", &self.store)
            .field("encryption", &self.encryption)
            .finish_non_exhaustive()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: StateStore> StateStore for EncryptedStore<S> {
    forward_locking!(store);

    async fn read(&self) -> Result<Option<Stored>> {
        let Some(stored) = self.store.read().await? else {
            self.remember(None);
            return Ok(None);
        };
        let opened = self.encryption.keys.open(&self.encryption.chain, &stored.bytes).await;
        let opened = opened.map_err(|error| {
            let kind = kind(&error);
            Error::new(kind, Op::Other("decrypt"), self).because(error.to_string())
        })?;
        let (status, method, is_weak) = (opened.status, opened.method, opened.is_weak);
        self.remember(Some(ReadOutcome { status, method, is_weak }));
        let plaintext = opened.plaintext.into_bytes();
        Ok(Some(Stored::new(plaintext, stored.version).written_at(stored.modified)))
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        if bytes.is_empty() {
            return self.store.write(bytes, options).await;
        }
        let Encryption { chain, keys, layout } = &self.encryption;
        let sealed = keys.seal(chain, &bytes, *layout).await.map_err(|error| {
            let error = Error::new(ErrorKind::Denied, Op::Other("encrypt"), self).with_source(error);
            error.because("nothing is written")
        })?;
        self.store.write(sealed.into(), options).await
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        self.store.delete(options).await
    }
}

/// What a caller can do: get the keys, or a backup.
fn kind(error: &OpenError) -> ErrorKind {
    match error {
        OpenError::Failed { .. } | OpenError::NoMethod | OpenError::Unencrypted => ErrorKind::Denied,
        OpenError::Version { .. } => ErrorKind::Unsupported,
        _ => ErrorKind::Corrupt,
    }
}
