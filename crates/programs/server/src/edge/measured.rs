//! A store whose operations are timed.

use std::fmt;
use std::future::Future;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, GetOptions, Key, Leases,
    ListOptions, Page, PutOptions, Result,
};
use tokio::time::Instant;

use super::metrics::Metrics;

/// A store whose operations are timed. Leases of the store are not passed on.
#[derive(Clone, Debug)]
pub struct Measured<S> {
    store: S,
    metrics: Metrics,
}

impl<S> Measured<S> {
    /// Times the operations of a store.
    pub fn new(store: S, metrics: Metrics) -> Self {
        Self { store, metrics }
    }

    async fn timed<T>(
        &self,
        operation: &'static str,
        work: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        let start = Instant::now();
        let result = work.await;
        // What the caller counts on, such as a condition that does not hold, is an answer of the store.
        let is_ok = result.as_ref().err().is_none_or(|error| !error.kind().is_transient());
        self.metrics.store(operation, is_ok, start.elapsed());
        result
    }
}

impl<S: fmt::Display> fmt::Display for Measured<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: BlobStore> BlobStore for Measured<S> {
    fn capabilities(&self) -> BlobCapabilities {
        let mut can = self.store.capabilities();
        can.leases = false;
        can
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        self.timed("get", self.store.get(key, options)).await
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        self.timed("head", self.store.head(key)).await
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        self.timed("put", self.store.put(key, bytes, options)).await
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        self.timed("delete", self.store.delete(key, options)).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        self.timed("list", self.store.list(prefix, options)).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        None
    }
}
