//! A part of a store: the keys that begin with a prefix, without it.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use crate::blob::{Blob, BlobMeta, Page};
use crate::capabilities::BlobCapabilities;
use crate::error::Result;
use crate::key::Key;
use crate::lease::Leases;
use crate::options::{DeleteOptions, GetOptions, ListOptions, PutOptions};
use crate::store::BlobStore;
use crate::version::BlobVersion;

/// A store whose keys all begin with a text in the store below it. Leases of that store are not passed on.
///
/// ```
/// use std::sync::Arc;
/// use groundstate_blobs::{BlobStore, GetOptions, Key, MemoryBlobs, Prefixed, PutOptions};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> groundstate_blobs::Result<()> {
/// let whole: Arc<dyn BlobStore> = Arc::new(MemoryBlobs::new("bucket"));
/// let part = Prefixed::wrap(Arc::clone(&whole), "team-a/".to_owned());
/// part.put(&Key::parse("a.json")?, "{}".into(), &PutOptions::default()).await?;
/// assert!(whole.get(&Key::parse("team-a/a.json")?, &GetOptions::default()).await?.is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Prefixed {
    store: Arc<dyn BlobStore>,
    prefix: String,
}

impl Prefixed {
    /// The store itself where the prefix is empty.
    pub fn wrap(store: Arc<dyn BlobStore>, prefix: String) -> Arc<dyn BlobStore> {
        if prefix.is_empty() { store } else { Arc::new(Self { store, prefix }) }
    }

    fn key(&self, key: &Key) -> Result<Key> {
        Key::parse(&format!("{}{key}", self.prefix))
    }

    fn short(&self, name: String) -> String {
        name.strip_prefix(&self.prefix).map(str::to_owned).unwrap_or(name)
    }
}

#[async_trait]
impl BlobStore for Prefixed {
    fn capabilities(&self) -> BlobCapabilities {
        let mut can = self.store.capabilities();
        can.leases = false;
        can
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        self.store.get(&self.key(key)?, options).await
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        self.store.head(&self.key(key)?).await
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        self.store.put(&self.key(key)?, bytes, options).await
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        self.store.delete(&self.key(key)?, options).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        let mut page = self.store.list(&format!("{}{prefix}", self.prefix), options).await?;
        for blob in &mut page.blobs {
            blob.name = self.short(std::mem::take(&mut blob.name));
        }
        for folder in &mut page.prefixes {
            *folder = self.short(std::mem::take(folder));
        }
        Ok(page)
    }

    fn leases(&self) -> Option<&dyn Leases> {
        None
    }
}

impl fmt::Display for Prefixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.store, self.prefix.trim_end_matches('/'))
    }
}
