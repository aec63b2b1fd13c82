//! Small steps on files that several parts share.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use groundstate_durable::{absent_is_none, create_new, parent, remove};

/// Creates the folder of `path` with those above it, readable for all as far as the mask lets them be.
pub(crate) fn create_parent(path: &Path) -> io::Result<()> {
    create_folder(parent(path))
}

/// Creates a folder with those above it.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o755);
    builder.create(path)
}

/// Creates a file without a name in a folder, which is gone when it is closed.
pub(crate) fn create_nameless(folder: &Path) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(0o600).custom_flags(nix::libc::O_TMPFILE);
        match options.open(folder) {
            // What systems say that do not know such files.
            Err(error)
                if [nix::libc::EOPNOTSUPP, nix::libc::EISDIR].map(Some).contains(&error.raw_os_error()) => {}
            outcome => return outcome,
        }
    }
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = folder.join(format!(".groundstate-new.{}.{number}", std::process::id()));
    remove(&path)?;
    let file = create_new(&path)?;
    // Windows keeps the name until the file is closed, and cannot have two of them.
    remove(&path)?;
    Ok(file)
}

/// Gives a file without a name one that must be free.
#[cfg(target_os = "linux")]
pub(crate) fn link(file: &File, path: &Path) -> io::Result<()> {
    use nix::fcntl::{AT_FDCWD, AtFlags};
    use std::os::fd::AsRawFd;
    let nameless = format!("/proc/self/fd/{}", file.as_raw_fd());
    nix::unistd::linkat(AT_FDCWD, &*nameless, AT_FDCWD, path, AtFlags::AT_SYMLINK_FOLLOW)?;
    Ok(())
}

/// There is no call for it here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Gives `file` the permissions of `model`, and its owner as far as that is allowed.
pub(crate) fn copy_access(model: &File, file: &File) -> io::Result<()> {
    copy_owner(model, file)?;
    file.set_permissions(model.metadata()?.permissions())
}

/// Gives `file` the owner of `model` as far as that is allowed, who alone may read it; not even that if `before`, whose
/// place it takes, is narrower.
pub(crate) fn make_private(model: &File, file: &File, before: Option<&Metadata>) -> io::Result<()> {
    copy_owner(model, file)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = before.map_or(0o600, |before| before.permissions().mode() & 0o600);
        file.set_permissions(PermissionsExt::from_mode(mode))?;
    }
    #[cfg(not(unix))]
    let _ = before;
    Ok(())
}

fn copy_owner(model: &File, file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        let meta = model.metadata()?;
        use std::os::unix::fs::{MetadataExt, fchown};
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (meta.uid(), meta.gid()) {
            // Only the superuser may give files away. For others the copy is their own, with the same permissions.
            drop(
                fchown(file, Some(meta.uid()), Some(meta.gid()))
                    .or_else(|_| fchown(file, None, Some(meta.gid()))),
            );
        }
    }
    #[cfg(not(unix))]
    let _ = (model, file);
    Ok(())
}

/// Lets everybody read the file, and its owner write it.
pub(crate) fn make_readable(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

/// The file at `path`; none if it does not exist, an error if it is something else than a file.
pub(crate) fn open(path: &Path) -> io::Result<Option<File>> {
    if !exists(path)? {
        return Ok(None);
    }
    let mut options = OpenOptions::new();
    plainly(options.read(true));
    absent_is_none(options.open(path))
}

/// Has `options` follow no link at the end of a path, and wait for no other side of a pipe: where links lead is known
/// before, and what else comes there was put there meanwhile.
pub(crate) fn plainly(options: &mut OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK);
    #[cfg(not(unix))]
    let _ = options;
}

/// Whether there is a file, which is an error for anything else: devices and pipes cannot be replaced, and opening one
/// may wait forever.
pub(crate) fn exists(path: &Path) -> io::Result<bool> {
    match absent_is_none(fs::metadata(path))? {
        Some(meta) if meta.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Some(meta) if !meta.is_file() => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
        }
        found => Ok(found.is_some()),
    }
}

/// A small text, if it is there. What is larger than any of them has a reason to be is cut.
pub(crate) fn read_text(path: &Path) -> io::Result<Option<String>> {
    let Some(file) = open(path)? else { return Ok(None) };
    Ok(Some(String::from_utf8_lossy(&read_at(&file, 0, 64 * 1024)?).into_owned()))
}

/// Up to `len` bytes from `offset`.
pub(crate) fn read_at(mut file: &File, offset: u64, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    file.seek(SeekFrom::Start(offset))?;
    file.take(len as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes at `offset`, all or an error.
pub(crate) fn write_at(mut file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

/// Copies what `from` has after `from_offset` to `to`, without going through memory where the system can.
pub(crate) fn copy_at(mut from: &File, from_offset: u64, mut to: &File, to_offset: u64) -> io::Result<u64> {
    from.seek(SeekFrom::Start(from_offset))?;
    to.seek(SeekFrom::Start(to_offset))?;
    io::copy(&mut from, &mut to)
}

/// Copies `len` bytes, in the same way.
pub(crate) fn copy_range(
    mut from: &File,
    from_offset: u64,
    mut to: &File,
    to_offset: u64,
    len: u64,
) -> io::Result<()> {
    from.seek(SeekFrom::Start(from_offset))?;
    to.seek(SeekFrom::Start(to_offset))?;
    match io::copy(&mut from.take(len), &mut to)? {
        copied if copied == len => Ok(()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Reserves room up to `len`, so that a full disk is noticed before anything is overwritten.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn reserve(file: &File, len: u64) -> io::Result<()> {
    use nix::errno::Errno;
    use nix::fcntl::{FallocateFlags, fallocate};
    let have = file.metadata()?.len();
    let range = (i64::try_from(have), i64::try_from(len.saturating_sub(have)));
    let (Ok(have), Ok(more)) = range else { return Err(io::ErrorKind::FileTooLarge.into()) };
    if more == 0 {
        return Ok(());
    }
    match fallocate(file, FallocateFlags::FALLOC_FL_KEEP_SIZE, have, more) {
        // Where room cannot be reserved, a full disk is noticed later, and the journal has the state.
        Ok(()) | Err(Errno::EOPNOTSUPP | Errno::ENOSYS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Room cannot be reserved here; a full disk is noticed later, and the journal has the state.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn reserve(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}
