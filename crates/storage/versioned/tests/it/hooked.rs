//! Blobs in memory where something happens right behind the first list.

use std::fmt;
use std::pin::Pin;
use std::sync::Mutex;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_versioned::blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, GetOptions, Key, Leases,
    ListOptions, MemoryBlobs, Page, PutOptions, Result,
};

type Hook = Pin<Box<dyn Future<Output = ()> + Send>>;

pub(crate) struct Hooked {
    blobs: MemoryBlobs,
    hook: Mutex<Option<Hook>>,
}

impl Hooked {
    pub(crate) fn new(blobs: MemoryBlobs, hook: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { blobs, hook: Mutex::new(Some(Box::pin(hook))) }
    }
}

impl fmt::Display for Hooked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.blobs.fmt(f)
    }
}

impl fmt::Debug for Hooked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.blobs.fmt(f)
    }
}

#[async_trait]
impl BlobStore for Hooked {
    fn capabilities(&self) -> BlobCapabilities {
        self.blobs.capabilities()
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        self.blobs.get(key, options).await
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        self.blobs.head(key).await
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        self.blobs.put(key, bytes, options).await
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        self.blobs.delete(key, options).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        let page = self.blobs.list(prefix, options).await;
        let hook = self.hook.lock().unwrap().take();
        if let Some(hook) = hook {
            hook.await;
        }
        page
    }

    fn leases(&self) -> Option<&dyn Leases> {
        None
    }
}
