//! A container that counts requests and does wrong what it is told to.

use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use groundstate_blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, Error, ErrorKind, GetOptions,
    Key, Leases, ListOptions, MemoryBlobs, Op, Page, PutOptions, Result,
};

/// What happens to the next write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is refused.
    Refuse,
    /// It happens, and the answer gets lost.
    LoseAnswer,
    /// It does not happen, and the caller cannot know.
    LoseRequest,
    /// It happens, and no answer ever comes.
    NeverAnswer,
}

#[derive(Clone, Debug)]
pub(crate) struct FaultyBlobs {
    pub(crate) blobs: Arc<MemoryBlobs>,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    faults: Vec<Fault>,
    calls: Vec<&'static str>,
}

impl FaultyBlobs {
    pub(crate) fn new() -> Self {
        Self { blobs: Arc::new(MemoryBlobs::new("bucket")), shared: Arc::default() }
    }

    /// What happens to the next writes, first to last.
    pub(crate) fn plan(&self, faults: &[Fault]) {
        self.shared.lock().unwrap().faults = faults.iter().rev().copied().collect();
    }

    /// The requests since the last time.
    pub(crate) fn calls(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.shared.lock().unwrap().calls)
    }

    fn record(&self, call: &'static str) {
        self.shared.lock().unwrap().calls.push(call);
    }
}

impl fmt::Display for FaultyBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.blobs.fmt(f)
    }
}

#[async_trait]
impl BlobStore for FaultyBlobs {
    fn capabilities(&self) -> BlobCapabilities {
        self.blobs.capabilities()
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        self.record("get");
        self.blobs.get(key, options).await
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        self.record("head");
        self.blobs.head(key).await
    }

    async fn put(&self, key: &Key, bytes: bytes::Bytes, options: &PutOptions) -> Result<BlobVersion> {
        self.record("put");
        let fault = self.shared.lock().unwrap().faults.pop();
        match fault {
            None => self.blobs.put(key, bytes, options).await,
            Some(Fault::Refuse) => Err(Error::new(ErrorKind::Unavailable, Op::Write, key.as_str())),
            Some(Fault::LoseRequest) => Err(Error::new(ErrorKind::Ambiguous, Op::Write, key.as_str())),
            Some(Fault::LoseAnswer) => {
                self.blobs.put(key, bytes, options).await?;
                Err(Error::new(ErrorKind::Ambiguous, Op::Write, key.as_str()))
            }
            Some(Fault::NeverAnswer) => {
                self.blobs.put(key, bytes, options).await?;
                std::future::pending().await
            }
        }
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        self.record("delete");
        self.blobs.delete(key, options).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        self.record("list");
        self.blobs.list(prefix, options).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        self.blobs.leases()
    }
}
