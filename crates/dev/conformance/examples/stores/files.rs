//! The harness of the store in files.

use std::sync::Arc;

use async_trait::async_trait;
use groundstate_common::SystemClock;
use groundstate_conformance::{Address, Harness, TestStore};
use groundstate_statemgr::{Backend, Error, ErrorKind, Op, Result, StateStore};
use groundstate_statemgr_fs::{FsOptions, FsStore, FsWorkspaces, Publish};
use tempfile::TempDir;

/// Makes places in temporary folders.
pub(crate) struct FileHarness(FsOptions);

impl FileHarness {
    /// States are overwritten behind a journal.
    pub(crate) fn in_place() -> Self {
        Self(FsOptions::new())
    }

    /// New states are renamed over old ones.
    pub(crate) fn by_renaming() -> Self {
        Self(FsOptions::new().publish(Publish::Rename))
    }
}

#[async_trait]
impl Harness for FileHarness {
    fn name(&self) -> String {
        match self.0.publish {
            Publish::Rename => "files, by renaming",
            _ => "files, in place",
        }
        .to_owned()
    }

    async fn store(&self) -> Result<Arc<dyn TestStore>> {
        let folder = tempfile::tempdir().map_err(|error| failure(Op::Other("make"), error))?;
        Ok(Arc::new(OneFile { folder, options: self.0.clone() }))
    }

    async fn open_at(&self, address: &str) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(FsStore::with_options(address, self.0.clone(), Arc::new(SystemClock))?))
    }
}

fn failure(op: Op, error: std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, op, "the temporary folder").with_source(error)
}

struct OneFile {
    folder: TempDir,
    options: FsOptions,
}

impl OneFile {
    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("terraform.tfstate")
    }
}

#[async_trait]
impl TestStore for OneFile {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(FsStore::with_options(self.path(), self.options.clone(), Arc::new(SystemClock))?))
    }

    fn address(&self) -> Address {
        Address::At(self.path().display().to_string())
    }

    async fn put_zero_bytes(&self) -> Result<bool> {
        std::fs::write(self.path(), b"").map_err(|error| failure(Op::Other("write to"), error))?;
        Ok(true)
    }

    async fn workspaces(&self) -> Result<Option<Arc<dyn Backend>>> {
        let all = FsWorkspaces::new(self.folder.path(), Arc::new(SystemClock));
        Ok(Some(Arc::new(all.options(self.options.clone()))))
    }
}
