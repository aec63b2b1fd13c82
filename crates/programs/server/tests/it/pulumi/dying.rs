//! Nodes that die between two requests to their stores.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_server::blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, GetOptions, Key, Leases,
    ListOptions, Page, PutOptions, Result,
};

/// Polls a future so often, and drops it: a process that dies. Tells whether it was at its end.
pub(super) async fn dies_after<T>(polls: usize, future: impl Future<Output = T>) -> bool {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    (0..polls).any(|_| future.as_mut().poll(&mut context).is_ready())
}

/// Is pending once, and wakes at once: also futures that others poll go on.
async fn turn() {
    let mut was_pending = false;
    std::future::poll_fn(|context| match std::mem::replace(&mut was_pending, true) {
        true => std::task::Poll::Ready(()),
        false => {
            context.waker().wake_by_ref();
            std::task::Poll::Pending
        }
    })
    .await;
}

/// A store whose requests take a turn each.
#[derive(Debug)]
pub(super) struct Slow(pub(super) Arc<dyn BlobStore>);

impl fmt::Display for Slow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[async_trait]
impl BlobStore for Slow {
    fn capabilities(&self) -> BlobCapabilities {
        self.0.capabilities()
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        turn().await;
        self.0.get(key, options).await
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        turn().await;
        self.0.head(key).await
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        turn().await;
        self.0.put(key, bytes, options).await
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        turn().await;
        self.0.delete(key, options).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        turn().await;
        self.0.list(prefix, options).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        None
    }
}
