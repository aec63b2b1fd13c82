//! The conformance suite, on each kind of blob store.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{BlobStore, MemoryBlobs, PutOptions};
use groundstate_blobs_fs::FileBlobs;
use groundstate_conformance::{Address, Harness, TestStore, ThreadSleeper};
use groundstate_statemgr::{Backend, Error, ErrorKind, Exclusion, Op, Result, StateStore, WorkspaceName};
use groundstate_statemgr_object::{FolderLayout, LockFiles, ObjectBackend, S3Layout};
use tempfile::TempDir;

struct Memory;

#[async_trait]
impl Harness for Memory {
    fn name(&self) -> String {
        "blobs in memory".to_owned()
    }

    async fn store(&self) -> Result<Arc<dyn TestStore>> {
        let layout = Arc::new(S3Layout::new("network/prod.tfstate")?);
        let locks = LockFiles::new("tests", Exclusion::Process, Arc::new(ThreadSleeper));
        let backend = ObjectBackend::new(Arc::new(MemoryBlobs::new("tests")), layout).equip(Arc::new(locks));
        Ok(Arc::new(Workspaces(backend, None)))
    }
}

/// Directories of our own, with Google's layout, whose names suit all systems.
struct Directories;

#[async_trait]
impl Harness for Directories {
    fn name(&self) -> String {
        "blobs in a directory".to_owned()
    }

    async fn store(&self) -> Result<Arc<dyn TestStore>> {
        let folder = tempfile::tempdir().expect("temporary directories can be made");
        Ok(Arc::new(Workspaces(in_directory(folder.path())?, Some(folder))))
    }

    async fn open_at(&self, address: &str) -> Result<Arc<dyn StateStore>> {
        in_directory(Path::new(address))?.store(&WorkspaceName::default_name())
    }
}

fn in_directory(folder: &Path) -> Result<ObjectBackend> {
    let blobs = FileBlobs::open(folder).map_err(|error| {
        Error::new(ErrorKind::Unavailable, Op::Other("open"), "a directory").with_source(error)
    })?;
    let locks = LockFiles::new("tests", Exclusion::Host, Arc::new(ThreadSleeper));
    let layout = Arc::new(FolderLayout::new("network"));
    Ok(ObjectBackend::new(Arc::new(blobs), layout).equip(Arc::new(locks)))
}

/// The clients of one backend, and the directory that goes with it.
struct Workspaces(ObjectBackend, Option<TempDir>);

#[async_trait]
impl TestStore for Workspaces {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        self.0.store(&WorkspaceName::default_name())
    }

    fn address(&self) -> Address {
        let folder = self.1.as_ref().map(|folder| folder.path().display().to_string());
        folder.map_or(Address::Unknown, Address::At)
    }

    async fn put_zero_bytes(&self) -> Result<bool> {
        let store = self.0.open(&WorkspaceName::default_name())?;
        Ok(store.blobs().put(store.key(), Bytes::new(), &PutOptions::default()).await.is_ok())
    }

    async fn workspaces(&self) -> Result<Option<Arc<dyn Backend>>> {
        Ok(Some(Arc::new(self.0.clone())))
    }
}

mod in_directories {
    groundstate_conformance::suite!(super::Directories);
}

mod in_memory {
    groundstate_conformance::suite!(super::Memory);
}
