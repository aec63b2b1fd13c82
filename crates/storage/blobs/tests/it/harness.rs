//! Harnesses of the suite, on tokio.

use std::sync::Arc;

use async_trait::async_trait;
use groundstate_blobs::{BlobStore, Result};
use groundstate_common::OsIds;
use groundstate_conformance::{BlobHarness, Container};
use tokio::runtime::Runtime;

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
