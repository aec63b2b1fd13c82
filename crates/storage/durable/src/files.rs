//! Small steps on files and folders that all stores on disks share.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

/// Creates a file that must not exist, readable by its owner alone, for reading and writing.
///
/// # Errors
///
/// Those of the system; `AlreadyExists` for any name that is taken, be it by a link that leads nowhere.
pub fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Removes a file that may not be there.
///
/// # Errors
///
/// Those of the system, but for its absence.
pub fn remove(path: &Path) -> io::Result<()> {
    absent_is_none(fs::remove_file(path)).map(drop)
}

/// Makes the names in a folder durable.
///
/// # Errors
///
/// Those of the system.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // Windows has no call for this; its file systems journal names by themselves.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// The folder a file is in; the working directory for a name alone.
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The outcome, with none for `NotFound`.
///
/// # Errors
///
/// Any other error of `outcome`.
pub fn absent_is_none<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether `path` is a name of `file`.
///
/// # Errors
///
/// Those of the system.
pub fn is_named(path: &Path, file: &File) -> io::Result<bool> {
    match absent_is_none(fs::metadata(path))? {
        Some(meta) => Ok(same(&meta, &file.metadata()?)),
        None => Ok(false),
    }
}

#[cfg(unix)]
fn same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Elsewhere open files keep their names.
#[cfg(not(unix))]
fn same(_: &Metadata, _: &Metadata) -> bool {
    true
}
