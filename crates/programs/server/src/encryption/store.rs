//! A store that encrypts what it is given, and decrypts what it finds.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, Error, ErrorKind, GetOptions,
    Key, Leases, ListOptions, Op, Page, PutOptions, Result,
};
use groundstate_pulumi_service::ServiceKey;

use super::envelope::{self, KeyId};
use super::keyring::{DataKey, StoredKeyring};
use crate::AUDIT_PREFIX;

/// Prefixes that stay readable: the mark and the keyring, entries of the audit log, which are verified without a key, and tokens, which are stored as
/// digests. No value of a state is in them.
const READABLE: [&str; 3] = ["groundstate/", AUDIT_PREFIX, "auth/tokens/"];

/// A store whose blobs are encrypted, except for the readable ones of earlier times.
#[derive(Clone)]
pub(super) struct Encrypted {
    store: Arc<dyn BlobStore>,
    service: Option<Arc<dyn ServiceKey>>,
    ring: Arc<RwLock<Arc<Vec<DataKey>>>>,
    /// `true` if new blobs are encrypted.
    is_on: bool,
}

impl Encrypted {
    pub(super) fn new(
        store: Arc<dyn BlobStore>,
        service: Option<Arc<dyn ServiceKey>>,
        keys: Vec<DataKey>,
        is_on: bool,
    ) -> Self {
        Self { store, service, ring: Arc::new(RwLock::new(Arc::new(keys))), is_on }
    }

    fn ring(&self) -> Arc<Vec<DataKey>> {
        Arc::clone(&self.ring.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the keyring again: another node may have begun to encrypt, or have added a key.
    async fn reload(&self, op: Op, key: &Key) -> Result<Arc<Vec<DataKey>>> {
        let failed = |why: String| {
            let error = Error::new(ErrorKind::Denied, op, format!("{}/{key}", self.store));
            error.because(format!("it is encrypted, and {why}"))
        };
        let stored = StoredKeyring::read(&*self.store).await.map_err(|error| failed(error.to_string()))?;
        let Some(stored) = stored else { return Ok(Arc::default()) };
        let Some(service) = &self.service else {
            let step =
                "give the server the key of the store as `pulumi.secrets_key_file` or `pulumi.secrets_key`";
            return Err(failed("there is no key of the server".to_owned()).next_step(step));
        };
        let unwrapped = stored.unwrap(&**service).await;
        let keys = Arc::new(unwrapped.map_err(|error| failed(error.to_string()).with_source(error))?);
        *self.ring.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&keys);
        Ok(keys)
    }

    /// Decrypts a blob that was read whole. Returns `None` if none of the keys opens it under its name.
    async fn plain(&self, op: Op, key: &Key, bytes: Bytes) -> Result<Option<Bytes>> {
        let Some(id) = envelope::key_id(&bytes) else { return Ok(None) };
        let of = |keys: &[DataKey], id: &KeyId| keys.iter().position(|data| data.id == *id);
        let mut ring = self.ring();
        if of(&ring, &id).is_none() {
            ring = self.reload(op, key).await?;
        }
        let data = of(&ring, &id).and_then(|at| ring.get(at));
        Ok(data.and_then(|data| envelope::open(&data.key, key.as_str(), bytes)))
    }

    /// A blob that was read whole, decrypted, and cut to what was asked for. Returns `None` if it cannot be decrypted.
    async fn opened(&self, op: Op, key: &Key, blob: Blob, options: &GetOptions) -> Result<Option<Blob>> {
        let mut meta = blob.meta;
        let whole = match envelope::is_sealed(&blob.bytes) {
            true => self.plain(op, key, blob.bytes).await?,
            false => Some(blob.bytes),
        };
        let Some(whole) = whole else { return Ok(None) };
        meta.size = whole.len() as u64;
        let Some(range) = &options.range else { return Ok(Some(Blob::whole(whole, meta))) };
        let at = |place: u64| usize::try_from(place).unwrap_or(usize::MAX).min(whole.len());
        let (start, end) = (at(range.start), at(range.end).max(at(range.start)));
        Ok(Some(Blob::part(whole.slice(start..end), start as u64, meta)))
    }

    /// Encrypts a blob, unless it stays readable.
    fn sealed(&self, key: &Key, bytes: Bytes) -> Result<Bytes> {
        let failed = |kind| Error::new(kind, Op::Write, format!("{}/{key}", self.store));
        if is_readable(key) || !self.is_on {
            return Ok(bytes);
        }
        let ring = self.ring();
        let data = ring.last().ok_or_else(|| failed(ErrorKind::Internal).because("there is no data key"))?;
        let entropy = self.service.as_ref().map(|service| service.entropy());
        let entropy = entropy.ok_or_else(|| failed(ErrorKind::Internal).because("there is no key"))?;
        let sealed = envelope::seal(&data.key, &data.id, key.as_str(), &bytes, entropy);
        sealed.map(Bytes::from).map_err(|error| failed(ErrorKind::Internal).with_source(error))
    }
}

fn is_readable(key: &Key) -> bool {
    READABLE.iter().any(|prefix| key.as_str().starts_with(prefix))
}

impl fmt::Display for Encrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl fmt::Debug for Encrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encrypted")
            .field("store", &self.store)
            .field("is_on", &self.is_on)
            .finish_non_exhaustive()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl BlobStore for Encrypted {
    fn capabilities(&self) -> BlobCapabilities {
        self.store.capabilities()
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        let is_part = options.range.is_some();
        // A store without keys has nothing encrypted as a rule, and a part of something readable is enough.
        if is_readable(key) || (is_part && self.ring().is_empty()) {
            let found = self.store.get(key, options).await?;
            let is_from_start = options.range.as_ref().is_none_or(|range| range.start == 0 && range.end >= 4);
            let is_plain = |blob: &Blob| is_from_start && !envelope::is_sealed(&blob.bytes);
            if is_readable(key) || found.as_ref().is_none_or(is_plain) {
                return Ok(found);
            }
        }
        let mut whole = options.clone();
        whole.range = None;
        let Some(blob) = self.store.get(key, &whole).await? else { return Ok(None) };
        if let Some(opened) = self.opened(Op::Read, key, blob, options).await? {
            return Ok(Some(opened));
        }
        // Everything that is stored has a checksum, so readers report an envelope as damage, and a repair keeps it as it is.
        tracing::warn!(store = %self.store, %key, "an encrypted blob is damaged, or lies in the place of another");
        self.store.get(key, options).await
    }

    /// The size is that of what is stored: a little more than that of the content.
    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        self.store.head(key).await
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        let error = match self.store.put(key, self.sealed(key, bytes)?, options).await {
            Ok(version) => return Ok(version),
            Err(error) => error,
        };
        match error.found().cloned() {
            // A retry knows its own write by the content.
            Some(found) if !is_readable(key) => {
                let whole = GetOptions::default();
                let opened = self.opened(Op::Write, key, found, &whole).await.ok().flatten();
                Err(error.with_found(opened))
            }
            _ => Err(error),
        }
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        self.store.delete(key, options).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        self.store.list(prefix, options).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        self.store.leases()
    }
}
