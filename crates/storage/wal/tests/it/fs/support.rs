//! Folders, journals in them, and random numbers.

use std::path::{Path, PathBuf};

use groundstate_conformance::block_on;
use groundstate_wal::fs::{FsJournal, FsJournalOptions};
use groundstate_wal::{Contents, Result, read_all};
use tempfile::TempDir;

/// A folder of its own for one journal.
pub(crate) struct Folder {
    temporary: TempDir,
    options: FsJournalOptions,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self::with(FsJournalOptions::default())
    }

    pub(crate) fn with(options: FsJournalOptions) -> Self {
        Self { temporary: tempfile::tempdir().unwrap(), options }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.temporary.path().join("state.journal")
    }

    pub(crate) fn journal(&self) -> FsJournal {
        FsJournal::with_options(self.path(), self.options.clone())
    }

    /// The names of its files, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        names(&self.path())
    }

    /// The last segment.
    pub(crate) fn last_segment(&self) -> PathBuf {
        let name = self.names().into_iter().rfind(|name| name.ends_with(".log"));
        self.path().join(name.expect("there is a segment"))
    }

    pub(crate) fn contents(&self) -> Result<Option<Contents>> {
        block_on(read_all(&self.journal()))
    }
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The number in a variable of the environment, or another.
pub(crate) fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().map_or(otherwise, |text| text.parse().unwrap())
}
