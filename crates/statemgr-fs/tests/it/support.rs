//! Places and stores to test with.

use std::path::PathBuf;
use std::sync::Arc;

use groundstate_common::SystemClock;
use groundstate_statemgr_fs::{FsOptions, FsStore};
use tempfile::TempDir;

/// A folder of its own, with the name of a state in it.
pub(crate) struct Folder {
    dir: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a folder for the test") }
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn store_with(&self, options: FsOptions) -> FsStore {
        self.store_at("terraform.tfstate", options)
    }

    pub(crate) fn store_at(&self, name: &str, options: FsOptions) -> FsStore {
        FsStore::with_options(self.join(name), options, Arc::new(SystemClock)).expect("the path names a file")
    }
}
