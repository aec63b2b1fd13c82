//! The lock document beside a state: `.NAME.lock.info`, which tells others who holds the lock.
//!
//! It locks nothing by itself. One that a dead process left is overwritten by the next holder.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use groundstate_durable::create_new;
use groundstate_statemgr::LockInfo;

use crate::files::{plainly, read_text};
use crate::process::Process;

/// A lock document and what its tag says.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// As the holder asked for it, without the tag.
    pub(crate) info: LockInfo,
    pub(crate) process: Option<Process>,
}

impl Document {
    /// Writes the document to all paths.
    pub(crate) fn write(&self, paths: &[PathBuf]) -> io::Result<()> {
        let mut info = self.info.clone();
        if let Some(process) = &self.process {
            info.info = process.tag(&info.info);
        }
        let json = info.to_json();
        paths.iter().try_for_each(|path| {
            let written = create(path).and_then(|mut file| file.write_all(json.as_bytes()));
            written.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
        })
    }

    /// The first document that can be read. Half of one, which is being written, is none.
    pub(crate) fn read(paths: &[PathBuf]) -> Option<Self> {
        let parse = |path: &PathBuf| LockInfo::parse(read_text(path).ok()??.as_bytes()).ok();
        let mut info = paths.iter().find_map(parse)?;
        let (text, process) = Process::untag(&info.info);
        info.info = text.to_owned();
        Some(Self { info, process })
    }

    /// Removes the documents, as far as they are there.
    pub(crate) fn remove(paths: &[PathBuf]) {
        for path in paths {
            // A document that stays behind is harmless, and there is nothing to be done about it here.
            drop(fs::remove_file(path));
        }
    }
}

/// A new file: a link put there is not followed, so that nothing else is overwritten.
fn create(path: &Path) -> io::Result<File> {
    drop(fs::remove_file(path));
    match create_new(path) {
        // In a folder that cannot be written, the document of another holder may still be.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !path.is_symlink() => {
            let mut options = OpenOptions::new();
            plainly(options.write(true).truncate(true));
            options.open(path)
        }
        other => other,
    }
}
