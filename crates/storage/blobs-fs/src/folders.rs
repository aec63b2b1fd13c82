//! Folders on the way to a file, and whether a crash of the machine may still lose them.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use groundstate_durable::{parent, sync_folder};

/// How many folders are remembered; an upload has one of its own.
const REMEMBERED: usize = 4096;

/// What tells a folder from one that was made later under its name.
type Identity = (u64, u64, std::time::SystemTime);

/// The folders below a directory whose names are known to be durable, so that they are not synced at each write.
#[derive(Debug)]
pub(crate) struct DurableFolders {
    root: PathBuf,
    known: Mutex<HashMap<PathBuf, Identity>>,
}

impl DurableFolders {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root, known: Mutex::default() }
    }

    /// Makes the name of a folder durable, and those of all above it up to the directory. Another process may have made them, and
    /// may have ended before it synced them.
    ///
    /// The folder has a file, so neither it nor those above it are removed meanwhile.
    pub(crate) fn sync_names(&self, folder: &Path) -> io::Result<()> {
        for folder in folder.ancestors().take_while(|folder| *folder != self.root) {
            let identity = identity(&fs::metadata(folder)?);
            // A folder that was durable once kept those above it from being removed.
            if identity.is_some() && self.known().get(folder).copied() == identity {
                return Ok(());
            }
            sync_folder(folder.parent().unwrap_or(&self.root))?;
            if let Some(identity) = identity {
                let mut known = self.known();
                if known.len() >= REMEMBERED {
                    known.clear();
                }
                known.insert(folder.to_owned(), identity);
            }
        }
        Ok(())
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Identity>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Creates a folder with all above it, and makes the new names durable.
pub(crate) fn create_durably(folder: &Path) -> io::Result<()> {
    // Above the first name of a relative path is the working directory, which the path has no name for.
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let missing: Vec<&Path> = folder.ancestors().take_while(is_missing).collect();
    fs::create_dir_all(folder)?;
    missing.iter().rev().map(|folder| parent(folder)).try_for_each(sync_folder)
}

#[cfg(unix)]
pub(crate) fn identity(meta: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    // The number alone comes again.
    Some((meta.dev(), meta.ino(), meta.created().ok()?))
}

/// Elsewhere there is nothing to sync.
#[cfg(not(unix))]
pub(crate) fn identity(_: &Metadata) -> Option<Identity> {
    None
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::create_durably;

    #[test]
    fn folders_are_made_by_absolute_paths_and_below_the_working_directory() {
        let place = tempfile::tempdir_in(".").unwrap();
        let name = Path::new(place.path().file_name().unwrap());
        fs::remove_dir(name).unwrap();
        for folder in [name.to_owned(), name.join("a/b"), place.path().join("c")] {
            create_durably(&folder).unwrap();
            create_durably(&folder).unwrap();
            assert!(folder.is_dir(), "{}", folder.display());
        }
    }
}
