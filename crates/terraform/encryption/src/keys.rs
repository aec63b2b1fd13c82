//! The keys of one method: which are asked for, in which order, and what came back.

use std::sync::Arc;

use crate::envelope::Metadata;
use crate::error::{BoxError, KeyError};
use crate::provider::{BlockId, KeyProvider, KeyRequest, KeyUse, ProvidedKey};
use crate::sensitive::Key;

/// Collects the key of a method: first those of chained providers, each for the next.
#[derive(Debug)]
pub(crate) struct KeyWalk {
    /// The provider that is asked last stands first.
    waiting: Vec<Arc<KeyProvider>>,
    pub(crate) key: Option<Key>,
    pub(crate) metadata: Metadata,
    pub(crate) is_weak: bool,
}

impl KeyWalk {
    pub(crate) fn new(provider: Option<&Arc<KeyProvider>>) -> Self {
        let mut waiting = Vec::new();
        let mut next = provider;
        while let Some(provider) = next {
            waiting.push(Arc::clone(provider));
            next = provider.upstream();
        }
        Self { waiting, key: None, metadata: Metadata::new(), is_weak: false }
    }

    /// What is asked next; nothing when the key is there, or none is needed. Decryption needs what the envelope stores.
    pub(crate) fn next(&self, stored: Option<&Metadata>) -> Option<Result<KeyRequest, KeyError>> {
        let provider = self.waiting.last()?;
        let key_use = match stored {
            None => KeyUse::Encrypt,
            Some(stored) => match stored.get(&provider.metadata_key) {
                Some(metadata) => KeyUse::Decrypt(metadata.clone()),
                None => return Some(Err(KeyError::NoMetadata { key: provider.metadata_key.clone() })),
            },
        };
        Some(Ok(KeyRequest { provider: Arc::clone(provider), key_use, upstream: self.key.clone() }))
    }

    /// The provider that is asked now.
    pub(crate) fn asked(&self) -> Option<&BlockId> {
        self.waiting.last().map(|provider| &provider.id)
    }

    /// Takes an answer.
    pub(crate) fn provide(&mut self, provided: ProvidedKey, encrypts: bool) -> Result<(), BoxError> {
        let Some(provider) = self.waiting.pop() else { return Ok(()) };
        if encrypts {
            let metadata = provided.metadata.ok_or(KeyError::Unrecoverable)?;
            self.metadata.insert(provider.metadata_key.clone(), metadata);
        }
        self.is_weak |= provided.is_weak;
        self.key = Some(provided.key);
        Ok(())
    }
}
