//! The harness of the store in files.

use std::sync::Arc;

use async_trait::async_trait;
use groundstate_common::SystemClock;
use groundstate_conformance::{Harness, Place, Workspaces};
use groundstate_statemgr::{Error, ErrorKind, Result, StateStore};
use groundstate_statemgr_fs::{FsOptions, FsStore, FsWorkspaces, Publish, WorkspaceName};
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

    async fn place(&self) -> Result<Arc<dyn Place>> {
        let folder = tempfile::tempdir().map_err(|error| failure("make", error))?;
        Ok(Arc::new(OneFile { folder, options: self.0.clone() }))
    }
}

fn failure(op: &'static str, error: std::io::Error) -> Error {
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
impl Place for OneFile {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(FsStore::with_options(self.path(), self.options.clone(), Arc::new(SystemClock))?))
    }

    async fn put_zero_bytes(&self) -> Result<bool> {
        std::fs::write(self.path(), b"").map_err(|error| failure("write to", error))?;
        Ok(true)
    }

    async fn workspaces(&self) -> Result<Option<Arc<dyn Workspaces>>> {
        let all = FsWorkspaces::new(self.folder.path(), Arc::new(SystemClock));
        Ok(Some(Arc::new(Named(all.options(self.options.clone())))))
    }
}

/// The workspaces of a working directory.
struct Named(FsWorkspaces);

fn named(name: &str) -> Result<WorkspaceName> {
    WorkspaceName::parse(name)
        .map_err(|error| Error::new(ErrorKind::Invalid, "open the workspace", name).with_source(error))
}

#[async_trait]
impl Workspaces for Named {
    async fn list(&self) -> Result<Vec<String>> {
        Ok(self.0.list().await?.iter().map(ToString::to_string).collect())
    }

    async fn open(&self, name: &str) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(self.0.store(&named(name)?)?))
    }

    async fn delete(&self, name: &str) -> Result<()> {
        self.0.delete(&named(name)?, true).await
    }
}
