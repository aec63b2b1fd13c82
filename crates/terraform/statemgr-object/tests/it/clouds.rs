//! The conformance suite on the layouts and locks of Google and Azure, over blobs in memory.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{BlobStore, Key, MemoryBlobs, PutOptions};
use groundstate_common::SystemClock;
use groundstate_conformance::{Address, Harness, TestStore, ThreadSleeper};
use groundstate_statemgr::{Backend, Result, StateStore, WorkspaceName};
use groundstate_statemgr_object::history::{Keeping, Retention};
use groundstate_statemgr_object::{AzureBackend, FolderLayout, GenerationLocks, ObjectBackend};

/// A backend over blobs in memory, and the key of its default state.
type Make = fn(MemoryBlobs) -> Result<(Arc<dyn Backend>, &'static str)>;

struct InMemory(&'static str, Make);

#[async_trait]
impl Harness for InMemory {
    fn name(&self) -> String {
        self.0.to_owned()
    }

    async fn store(&self) -> Result<Arc<dyn TestStore>> {
        let blobs = MemoryBlobs::new("states");
        let (backend, key) = (self.1)(blobs.clone())?;
        Ok(Arc::new(OnePlace { blobs, backend, key }))
    }
}

struct OnePlace {
    blobs: MemoryBlobs,
    backend: Arc<dyn Backend>,
    key: &'static str,
}

#[async_trait]
impl TestStore for OnePlace {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        self.backend.store(&WorkspaceName::default_name())
    }

    fn address(&self) -> Address {
        Address::Unreachable("its blobs are in the memory of this process".to_owned())
    }

    async fn put_zero_bytes(&self) -> Result<bool> {
        let key = Key::parse(self.key).expect("it is a key");
        Ok(self.blobs.put(&key, Bytes::new(), &PutOptions::default()).await.is_ok())
    }

    async fn workspaces(&self) -> Result<Option<Arc<dyn Backend>>> {
        Ok(Some(Arc::clone(&self.backend)))
    }
}

fn gcs(blobs: MemoryBlobs) -> Result<(Arc<dyn Backend>, &'static str)> {
    let locks = GenerationLocks::new("states", Arc::new(ThreadSleeper));
    let layout = Arc::new(FolderLayout::new("/network/prod/"));
    let backend = ObjectBackend::new(Arc::new(blobs), layout).equip(Arc::new(locks));
    Ok((Arc::new(backend), "network/prod/default.tfstate"))
}

fn azure(blobs: MemoryBlobs) -> Result<(Arc<dyn Backend>, &'static str)> {
    let backend = AzureBackend::new(Arc::new(blobs), "states", "prod.tfstate")?;
    Ok((Arc::new(backend), "prod.tfstate"))
}

fn azure_with_history(blobs: MemoryBlobs) -> Result<(Arc<dyn Backend>, &'static str)> {
    let keeping = Keeping::new(Retention::everything(), Arc::new(SystemClock));
    let backend = AzureBackend::new(Arc::new(blobs), "states", "prod.tfstate")?.keep_history(keeping);
    Ok((Arc::new(backend.snapshot(true)), "prod.tfstate"))
}

mod google {
    groundstate_conformance::suite!(super::InMemory("Google's layout and locks, in memory", super::gcs));
}

mod azure {
    groundstate_conformance::suite!(super::InMemory("Azure's layout and leases, in memory", super::azure));
}

mod azure_keeping {
    groundstate_conformance::suite!(
        super::InMemory("Azure's, with snapshots and a history", super::azure_with_history); calm, stops
    );
}
