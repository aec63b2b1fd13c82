//! The lock on a state file: a record lock, which Terraform respects, and fs2's, which everybody else does.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use groundstate_durable::{create_new, is_named};

use crate::files::{self, create_parent};
use crate::record::{self, Other};
use crate::state_path::StatePath;

/// How often to try when others make, replace or remove the file at the same time.
const ATTEMPTS: usize = 64;

/// A locked state file. Dropping it unlocks.
#[derive(Debug)]
pub(crate) struct FileLock {
    file: File,
    target: PathBuf,
    /// The file did not exist before.
    created: bool,
}

/// What came of trying to lock.
#[derive(Debug)]
pub(crate) enum Attempt {
    Locked(FileLock),
    /// Another process has it.
    Busy(Other),
}

impl FileLock {
    /// Locks the state file without waiting, and creates it, empty, if it is not there.
    pub(crate) fn attempt(place: &StatePath) -> io::Result<Attempt> {
        // A program that publishes by renaming may replace the file between opening and locking.
        for _ in 0..ATTEMPTS {
            let target = place.target();
            let (file, created) = open(&target)?;
            if !flock(&file)? {
                return Ok(Attempt::Busy(record::other(&file)?.unwrap_or(Other { pid: None })));
            }
            let file_lock = Self { file, target, created };
            if !record::try_lock(&file_lock.file).map_err(no_locks)? {
                let other = record::other(&file_lock.file)?;
                return Ok(Attempt::Busy(other.unwrap_or(Other { pid: None })));
            }
            if file_lock.is_in_place()? {
                return Ok(Attempt::Locked(file_lock));
            }
        }
        Err(restless())
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    pub(crate) fn created(&self) -> bool {
        self.created
    }

    /// From now on the file counts as one that was not there before.
    pub(crate) fn forget_origin(&mut self) {
        self.created = true;
    }

    /// Whether the place still has the file that is locked.
    pub(crate) fn is_in_place(&self) -> io::Result<bool> {
        is_named(&self.target, &self.file)
    }

    /// Goes on with another file, which must be locked already and is about to take this one's name.
    pub(crate) fn swap(&mut self, file: File) {
        unlock(&std::mem::replace(&mut self.file, file));
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        unlock(&self.file);
    }
}

/// Locks a file that no other process can have locked.
pub(crate) fn lock_own(file: &File) -> io::Result<()> {
    if flock(file)? && record::try_lock(file).map_err(no_locks)? {
        return Ok(());
    }
    Err(io::Error::other("another process has locked a file that was just made"))
}

/// Who has locked this file, which may be open for reading only.
pub(crate) fn holder(file: &File) -> io::Result<Option<Other>> {
    if let Some(other) = record::other(file)? {
        return Ok(Some(other));
    }
    if !has_own_flock(file) {
        return Ok(None);
    }
    match fs2::FileExt::try_lock_shared(file) {
        Ok(()) => {
            fs2::FileExt::unlock(file)?;
            Ok(None)
        }
        Err(error) if is_contention(&error) => Ok(Some(Other { pid: None })),
        Err(error) => Err(no_locks(error)),
    }
}

fn unlock(file: &File) {
    // Said expressly, since a process that is just being started may have inherited the open file. If it fails, closing
    // the file does the same.
    drop(record::unlock(file));
    drop(fs2::FileExt::unlock(file));
}

fn flock(file: &File) -> io::Result<bool> {
    if !has_own_flock(file) {
        return Ok(true);
    }
    match fs2::FileExt::try_lock_exclusive(file) {
        Ok(()) => Ok(true),
        Err(error) if is_contention(&error) => Ok(false),
        Err(error) => Err(no_locks(error)),
    }
}

fn is_contention(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
        || error.raw_os_error() == fs2::lock_contended_error().raw_os_error()
}

/// Whether flock(2) is a lock of its own here. NFS and SMB make a record lock of it, which would meet ours.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn has_own_flock(file: &File) -> bool {
    use nix::sys::statfs::{FsType, NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, fstatfs};
    // The numbers of cifs and smb2, which have no names there.
    let shared = [NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, FsType(0xff53_4d42), FsType(0xfe53_4d42)];
    fstatfs(file).map_or(true, |stat| !shared.contains(&stat.filesystem_type()))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn has_own_flock(_: &File) -> bool {
    true
}

/// Missing locks are an obstacle that waiting does not remove.
fn no_locks(error: io::Error) -> io::Error {
    #[cfg(unix)]
    {
        use nix::errno::Errno;
        let missing = [Errno::ENOLCK, Errno::EOPNOTSUPP, Errno::ENOSYS];
        if missing.iter().any(|errno| error.raw_os_error() == Some(*errno as i32)) {
            return io::Error::new(io::ErrorKind::Unsupported, error);
        }
    }
    error
}

/// The file for reading and writing, and whether it had to be made.
fn open(target: &Path) -> io::Result<(File, bool)> {
    // Others may make the file or remove it between two looks.
    for _ in 0..ATTEMPTS {
        let outcome = if files::exists(target)? {
            let mut options = OpenOptions::new();
            files::plainly(options.read(true).write(true));
            options.open(target).map(|file| (file, false))
        } else {
            create_parent(target)?;
            create_new(target).map(|file| (file, true))
        };
        match outcome.as_ref().map_err(io::Error::kind) {
            Err(io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) => {}
            _ => return outcome,
        }
    }
    Err(restless())
}

fn restless() -> io::Error {
    io::Error::other("other programs make, replace or remove the file again and again")
}
