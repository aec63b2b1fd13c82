//! The small files of a directory, which a stranger may have made: what they are is looked at before they are read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use groundstate_durable::{Links, is_unsuitable, small_text};

use crate::error::BackendsError;

/// How large the file with the selected workspace may be.
pub(super) const SELECTION: u64 = 64 << 10;

/// How large settings and files of the configuration may be.
pub(super) const SETTINGS: u64 = 1 << 20;

/// Reads small files of one folder and of nothing else.
#[derive(Clone, Debug)]
pub(super) struct SmallFiles {
    /// The folder that links do not leave, without links in it.
    within: PathBuf,
}

impl SmallFiles {
    /// Files in this folder and below it; nothing is there if the folder is not.
    pub(super) fn within(folder: &Path) -> Result<Option<Self>, BackendsError> {
        match fs::canonicalize(folder) {
            Ok(within) => Ok(Some(Self { within })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(BackendsError::Read { path: folder.to_owned(), source }),
        }
    }

    /// The text of a regular file of at most `limit` bytes; nothing if there is none.
    ///
    /// # Errors
    ///
    /// [`BackendsError::Read`], and [`BackendsError::SmallFile`] for links that leave the folder and for all that is no regular
    /// file, too large, or no text. None of them has a part of the content.
    pub(super) fn text(&self, path: &Path, limit: u64) -> Result<Option<String>, BackendsError> {
        let wrong = |why: &str| BackendsError::SmallFile { path: path.to_owned(), why: why.to_owned() };
        let failed = |source| BackendsError::Read { path: path.to_owned(), source };
        match fs::symlink_metadata(path) {
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(failed(error)),
            Ok(_) => {}
        }
        let target = fs::canonicalize(path).map_err(|error| match is_absent(&error) {
            true => wrong("it is a link that leads nowhere"),
            false => failed(error),
        })?;
        if !target.starts_with(&self.within) {
            return Err(wrong("it is a link that leaves the directory"));
        }
        // What was looked at may have been replaced by a link since.
        match small_text(&target, limit, Links::Refuse) {
            Ok(text) => Ok(text),
            Err(error) if is_unsuitable(&error) => Err(wrong(&error.to_string())),
            Err(error) => Err(failed(error)),
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The folder that a configuration may link into: the checkout that the directory is part of, or the directory itself.
pub(super) fn checkout(directory: &Path) -> PathBuf {
    let Ok(directory) = fs::canonicalize(directory) else { return directory.to_owned() };
    let found = directory.ancestors().find(|folder| folder.join(".git").exists());
    found.unwrap_or(&directory).to_owned()
}
