//! Small steps on files and folders that several parts share.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use groundstate_durable::{Draft, Taken, Unpublished, parent, sync_folder};

/// Creates the folder of a journal with those above it. Only its owner may look into it.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(parent(path))?;
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Ok(()) => sync_folder(parent(path)),
        // Where that is no folder, reading it says so.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Gives a file with this content its name, so that the name is never seen without all of the content. Gives it open, to be
/// written on.
pub(crate) fn publish(
    folder: &Path,
    draft: &str,
    name: &str,
    content: &[u8],
    taken: Taken,
) -> Result<File, Unpublished> {
    let draft = Draft::create(folder.join(draft))?;
    draft.file().write_all(content)?;
    draft.publish(&folder.join(name), taken)
}
