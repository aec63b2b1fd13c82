//! Record locks of fcntl(2), the kind that Terraform and OpenTofu take on Unix.
//!
//! On Linux they belong to the open file, not to the process: they exclude other clients of the same process, and
//! closing another handle of the file does not drop them.

use std::fs::File;
use std::io;

/// Another process's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Other {
    /// The process, if the lock belongs to one: Terraform's do, ours belong to an open file.
    pub(crate) pid: Option<u32>,
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod fcntl {
    use std::fs::File;
    use std::io;

    use nix::errno::Errno;
    use nix::fcntl::{FcntlArg, fcntl};
    use nix::libc;

    use super::Other;

    /// The whole file, from its beginning to infinity.
    fn whole(kind: i32) -> libc::flock {
        libc::flock { l_type: kind as _, l_whence: libc::SEEK_SET as _, l_start: 0, l_len: 0, l_pid: 0 }
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn set(lock: &libc::flock) -> FcntlArg<'_> {
        FcntlArg::F_OFD_SETLK(lock)
    }

    #[cfg(target_vendor = "apple")]
    fn set(lock: &libc::flock) -> FcntlArg<'_> {
        FcntlArg::F_SETLK(lock)
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn get(lock: &mut libc::flock) -> FcntlArg<'_> {
        FcntlArg::F_OFD_GETLK(lock)
    }

    #[cfg(target_vendor = "apple")]
    fn get(lock: &mut libc::flock) -> FcntlArg<'_> {
        FcntlArg::F_GETLK(lock)
    }

    pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
        match fcntl(file, set(&whole(libc::F_WRLCK as _))) {
            Ok(_) => Ok(true),
            Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn unlock(file: &File) -> io::Result<()> {
        fcntl(file, set(&whole(libc::F_UNLCK as _)))?;
        Ok(())
    }

    pub(crate) fn other(file: &File) -> io::Result<Option<Other>> {
        let mut lock = whole(libc::F_WRLCK as _);
        fcntl(file, get(&mut lock))?;
        let is_free = i32::from(lock.l_type) == i32::from(libc::F_UNLCK as i16);
        Ok((!is_free).then(|| Other { pid: u32::try_from(lock.l_pid).ok().filter(|pid| *pid > 0) }))
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
use fcntl as system;

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
mod system {
    use std::fs::File;
    use std::io;

    use super::Other;

    /// There is nothing to take here: the lock of fs2 is all there is, and on Windows it is Terraform's own.
    pub(crate) fn try_lock(_: &File) -> io::Result<bool> {
        Ok(true)
    }

    pub(crate) fn unlock(_: &File) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn other(_: &File) -> io::Result<Option<Other>> {
        Ok(None)
    }
}

/// Locks the whole file for writing; `false` when another process has it.
pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
    system::try_lock(file)
}

/// Gives the lock back.
pub(crate) fn unlock(file: &File) -> io::Result<()> {
    system::unlock(file)
}

/// Whose lock keeps this open file from being locked.
pub(crate) fn other(file: &File) -> io::Result<Option<Other>> {
    system::other(file)
}
