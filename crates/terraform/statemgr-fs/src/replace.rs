//! Replacing a file by renaming a new one over it: for files that only this crate opens.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use groundstate_durable::{Taken, absent_is_none, parent, sync_folder};

use crate::file_lock::{FileLock, lock_own};
use crate::in_place::Stopped;
use crate::staged::Staged;
use crate::state_path::{StatePath, beside};

/// The name of a new file before it takes the place of the one at `path`.
fn new_name(path: &Path) -> PathBuf {
    beside(path, "groundstate-new")
}

/// Lets the new file take the name of the locked one, and the lock go over to it.
pub(crate) fn publish(place: &StatePath, file_lock: &mut FileLock, staged: Staged) -> Result<(), Stopped> {
    let file = prepare(place, file_lock.file(), staged).map_err(Stopped::Before)?;
    file_lock.swap(file);
    sync_folder(parent(&place.target())).map_err(Stopped::Within)
}

/// Makes the file durable and gives it the name. It is locked before, so that no other process locks it in between.
fn prepare(place: &StatePath, old: &File, staged: Staged) -> io::Result<File> {
    let draft = staged.name(new_name(&place.target()), old)?.draft;
    draft.file().sync_all()?;
    lock_own(draft.file())?;
    draft.rename(&place.target())
}

/// Copies all of `from` to `to`, which has its old content or the new one, whatever happens. Gives the copy.
pub(crate) fn copy(from: &File, to: &StatePath) -> io::Result<File> {
    publish_copy(stage_copy(from, to)?, from, to)
}

/// Makes a durable copy of `from` on the disk of `to`, where nothing changes yet.
///
/// What is not a regular file is refused: renaming would put a file in the place of `/dev/null` itself.
pub(crate) fn stage_copy(from: &File, to: &StatePath) -> io::Result<Staged> {
    replaceable(from, to)?;
    let mut staged = Staged::create(to.path(), false)?;
    staged.append_file(from)?;
    staged.sync()?;
    Ok(staged)
}

/// Gives the copy of `from` the name of `to`.
pub(crate) fn publish_copy(staged: Staged, from: &File, to: &StatePath) -> io::Result<File> {
    let before = replaceable(from, to)?;
    let named = staged.name_private(new_name(to.path()), from, before.as_ref())?;
    named.draft.publish(to.path(), Taken::Replace).map_err(|unpublished| unpublished.error)
}

/// What the copy of `from` takes the place of, if that may be.
///
/// Others may write in the folder too, so a link is not followed, and only a file of this user or of the owner of `from`
/// is replaced.
fn replaceable(from: &File, to: &StatePath) -> io::Result<Option<Metadata>> {
    let Some(before) = absent_is_none(fs::symlink_metadata(to.path()))? else { return Ok(None) };
    let refuse = |why: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{to}: {why}")));
    if before.is_symlink() {
        return refuse(
            "it is a symbolic link, which is not followed; remove it, or give the backup another path",
        );
    }
    if before.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !before.is_file() {
        return refuse("it is not a regular file");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let owners = [nix::unistd::geteuid().as_raw(), from.metadata()?.uid()];
        if !owners.contains(&before.uid()) {
            return refuse("it belongs to another user; remove it, or give the backup another path");
        }
    }
    Ok(Some(before))
}

/// Puts a few bytes into a file, all or none of them.
pub(crate) fn put(path: &Path, bytes: &[u8], model: &File) -> io::Result<()> {
    let mut staged = Staged::create(path, false)?;
    staged.append(bytes)?;
    staged.name(new_name(path), model)?.draft.rename(path).map(drop)
}

/// Puts a text into a file that everybody may read, all of it or nothing.
pub(crate) fn put_readable(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut staged = Staged::create(path, false)?;
    staged.append(bytes)?;
    let named = staged.name_readable(new_name(path))?;
    named.draft.publish(path, Taken::Replace).map(drop).map_err(|unpublished| unpublished.error)
}
