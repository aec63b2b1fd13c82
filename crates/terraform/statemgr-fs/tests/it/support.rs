//! Places, stores and documents to test with.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use groundstate_common::{Clock, OsIds, SystemClock};
use groundstate_conformance::block_on;
use groundstate_statemgr::{Error, LockGrant, LockHolder, LockInfo, Result, StateStore, WriteOptions};
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

    /// One in memory, where the system has a folder for that.
    pub(crate) fn in_memory() -> Option<Self> {
        Some(Self { dir: tempfile::tempdir_in("/dev/shm").ok()? })
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The path of the state.
    pub(crate) fn state(&self) -> PathBuf {
        self.join("terraform.tfstate")
    }

    /// A client of the state.
    pub(crate) fn store(&self) -> Calls {
        Calls(self.store_with(FsOptions::new()))
    }

    pub(crate) fn store_with(&self, options: FsOptions) -> FsStore {
        open(&self.state(), options)
    }

    /// The names of what lies in the folder, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub(crate) fn open(path: &Path, options: FsOptions) -> FsStore {
    FsStore::with_options(path, options, Arc::new(SystemClock)).expect("the path names a file")
}

/// A lock document with an id of its own.
pub(crate) fn info(operation: &str) -> LockInfo {
    let mut info =
        LockInfo::new(&OsIds, SystemClock.now(), operation).expect("the system has random numbers");
    info.who = "tester@here".to_owned();
    info
}

/// A store whose calls wait for their outcome.
pub(crate) struct Calls(pub(crate) FsStore);

impl Calls {
    pub(crate) fn read(&self) -> Result<Option<Vec<u8>>> {
        Ok(block_on(self.0.read())?.map(|stored| stored.bytes))
    }

    pub(crate) fn write(&self, bytes: &[u8]) -> Result<()> {
        block_on(self.0.write(Bytes::copy_from_slice(bytes), &WriteOptions::any())).map(drop)
    }

    pub(crate) fn lock(&self) -> Result<LockGrant> {
        block_on(self.0.lock(&info("test")))
    }

    /// Takes the lock, however long that takes.
    pub(crate) fn lock_at_last(&self) -> LockGrant {
        loop {
            match self.lock() {
                Ok(grant) => return grant,
                Err(error) if error.retriable() => std::thread::sleep(std::time::Duration::from_millis(3)),
                Err(error) => panic!("{error}: {:?}", std::error::Error::source(&error)),
            }
        }
    }

    pub(crate) fn unlock(&self, grant: &LockGrant) -> Result<()> {
        block_on(self.0.unlock(&grant.id))
    }

    pub(crate) fn delete(&self) -> Result<()> {
        block_on(self.0.delete(&WriteOptions::any()))
    }

    pub(crate) fn holder(&self) -> Result<Option<LockHolder>> {
        block_on(self.0.lock_holder())
    }
}

/// An error with its cause, for messages of tests.
pub(crate) fn shown(error: &Error) -> String {
    let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    format!("{error}: {cause}")
}

/// A number from the environment, for campaigns that are larger than a test should be.
pub(crate) fn number(variable: &str, default: usize) -> usize {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} is not a number: {text}")),
        Err(_) => default,
    }
}
