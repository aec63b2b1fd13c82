//! An object store that is far away: in memory, with a time that each request takes.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, GetOptions, Key, Leases,
    ListOptions, MemoryBlobs, Page, PutOptions, Result,
};

#[derive(Debug)]
pub(super) struct Distant {
    pub(super) blobs: MemoryBlobs,
    pub(super) latency: Duration,
}

impl fmt::Display for Distant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.blobs.fmt(f)
    }
}

#[async_trait]
impl BlobStore for Distant {
    fn capabilities(&self) -> BlobCapabilities {
        self.blobs.capabilities()
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        tokio::time::sleep(self.latency).await;
        self.blobs.get(key, options).await
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        tokio::time::sleep(self.latency).await;
        self.blobs.head(key).await
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        tokio::time::sleep(self.latency).await;
        self.blobs.put(key, bytes, options).await
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        tokio::time::sleep(self.latency).await;
        self.blobs.delete(key, options).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        tokio::time::sleep(self.latency).await;
        self.blobs.list(prefix, options).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        self.blobs.leases()
    }
}
