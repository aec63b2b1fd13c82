//! The conformance suite, on each kind of blob store.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{BlobStore, MemoryBlobs, PutOptions};
use groundstate_conformance::{Harness, Place, ThreadSleeper};
use groundstate_statemgr::{Backend, Exclusion, Result, StateStore, WorkspaceName};
use groundstate_statemgr_object::{LockFiles, ObjectBackend, S3Layout};

struct Memory;

#[async_trait]
impl Harness for Memory {
    fn name(&self) -> String {
        "blobs in memory".to_owned()
    }

    async fn place(&self) -> Result<Arc<dyn Place>> {
        let layout = Arc::new(S3Layout::new("network/prod.tfstate")?);
        let locks = LockFiles::new("tests", Exclusion::Process, Arc::new(ThreadSleeper));
        let backend = ObjectBackend::new(Arc::new(MemoryBlobs::new("tests")), layout).equip(Arc::new(locks));
        Ok(Arc::new(Workspaces(backend)))
    }
}

/// The clients of one back end.
struct Workspaces(ObjectBackend);

#[async_trait]
impl Place for Workspaces {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        self.0.store(&WorkspaceName::default_name())
    }

    async fn put_zero_bytes(&self) -> Result<bool> {
        let store = self.0.open(&WorkspaceName::default_name())?;
        Ok(store.blobs().put(store.key(), Bytes::new(), &PutOptions::default()).await.is_ok())
    }

    async fn workspaces(&self) -> Result<Option<Arc<dyn Backend>>> {
        Ok(Some(Arc::new(self.0.clone())))
    }
}

mod in_memory {
    groundstate_conformance::suite!(super::Memory);
}
