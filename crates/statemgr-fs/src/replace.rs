//! Replacing a file by renaming a new one over it: for files that only this crate opens.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::files::{copy_at, create_parent, sync_parent};
use crate::in_place::Stopped;
use crate::journal::Staged;
use crate::latch::{Latch, lock_own};
use crate::place::{Place, beside};

/// The name of a new file before it takes the place of another.
pub(crate) fn new_name(place: &Place) -> PathBuf {
    beside(&place.target(), "groundstate-new")
}

/// Lets the staged file take the name of the locked one, and the lock go over to it.
pub(crate) fn publish(place: &Place, latch: &mut Latch, staged: &mut Staged) -> Result<(), Stopped> {
    let file = prepare(place, staged).map_err(Stopped::Before)?;
    staged.keep();
    latch.swap(file);
    sync_parent(&place.target()).map_err(Stopped::Within)
}

/// Makes the file durable and gives it the name. It is locked before, so that nobody locks it in between.
fn prepare(place: &Place, staged: &Staged) -> io::Result<File> {
    staged.file().sync_all()?;
    lock_own(staged.file())?;
    let file = staged.file().try_clone()?;
    fs::rename(staged.path(), place.target())?;
    Ok(file)
}

/// Copies all of `from` to `to`, which has its old content or the new one, whatever happens.
pub(crate) fn copy(from: &File, to: &Place) -> io::Result<()> {
    create_parent(&to.target())?;
    let mut staged = Staged::create(new_name(to), 0, from)?;
    copy_at(from, 0, staged.file(), 0)?;
    staged.file().sync_all()?;
    fs::rename(staged.path(), to.target())?;
    staged.keep();
    sync_parent(&to.target())
}

/// Puts a few bytes into a file, all or none of them.
pub(crate) fn put(path: &Path, bytes: &[u8], model: &File) -> io::Result<()> {
    let mut staged = Staged::create(beside(path, "groundstate-new"), 0, model)?;
    staged.append(bytes)?;
    fs::rename(staged.path(), path)?;
    staged.keep();
    Ok(())
}
