//! Harnesses of the suite, on tokio.

use std::sync::Arc;

use async_trait::async_trait;
use groundstate_blobs::{BlobStore, Context, MemoryBlobs, Result};
use groundstate_common::{OsIds, Sleeper, SystemClock};
use groundstate_conformance::{BlobHarness, Container};
use tokio::runtime::Runtime;

/// The machine's time and randomness.
pub(crate) fn context() -> Context {
    Context::new(Arc::new(SystemClock), Arc::new(Timer), Arc::new(OsIds))
}

#[derive(Debug)]
struct Timer;

#[async_trait]
impl Sleeper for Timer {
    async fn sleep(&self, duration: std::time::Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// Opens a client of a container by a name that is used once.
pub(crate) type Open = Arc<dyn Fn(&str) -> Result<Arc<dyn BlobStore>> + Send + Sync>;

/// Containers that a function opens.
pub(crate) struct Harness {
    runtime: Runtime,
    open: Open,
}

impl Harness {
    pub(crate) fn new(open: Open) -> Self {
        Self { runtime: Runtime::new().expect("a runtime can be had"), open }
    }
}

#[async_trait]
impl BlobHarness for Harness {
    async fn container(&self) -> Result<Arc<dyn Container>> {
        let number = groundstate_common::IdSource::number(&OsIds).expect("the generator answers");
        let name = format!("groundstate-{number:x}");
        (self.open)(&name)?;
        Ok(Arc::new(Named { name, open: Arc::clone(&self.open) }))
    }

    fn block_on(&self, future: std::pin::Pin<Box<dyn Future<Output = ()> + Send + '_>>) {
        self.runtime.block_on(future);
    }
}

struct Named {
    name: String,
    open: Open,
}

#[async_trait]
impl Container for Named {
    async fn open(&self) -> Result<Arc<dyn BlobStore>> {
        (self.open)(&self.name)
    }
}

/// The container in memory, which is the same for all names.
pub(crate) fn memory() -> Harness {
    let blobs = MemoryBlobs::new("suite");
    Harness::new(Arc::new(move |_| Ok(Arc::new(blobs.clone()))))
}

/// A directory for each container.
#[cfg(feature = "local")]
pub(crate) fn files() -> Harness {
    let folder = tempfile::tempdir().expect("there is room for a directory");
    Harness::new(Arc::new(move |name| {
        Ok(Arc::new(groundstate_blobs::FileBlobs::create(folder.path().join(name))?))
    }))
}

/// A store of `object_store` in memory, one for each container.
#[cfg(feature = "object-store")]
pub(crate) fn foreign() -> Harness {
    let stores = std::sync::Mutex::new(std::collections::HashMap::new());
    Harness::new(Arc::new(move |name| {
        let mut stores = stores.lock().expect("no thread panics while it holds the lock");
        let store: &mut Arc<object_store::memory::InMemory> = stores.entry(name.to_owned()).or_default();
        Ok(Arc::new(groundstate_blobs::ForeignBlobs::new(Arc::clone(store) as _)))
    }))
}
