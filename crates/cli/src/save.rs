//! Replaces a file all at once: readers see the old content or the new one, never a part.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Links that are followed before the path counts as a circle.
const MAX_LINKS: usize = 40;

/// Writes `path` by way of a temporary file beside it.
///
/// Content and directory are synced before this returns. Symbolic links are followed, so that the file they lead to
/// is replaced. An existing file keeps its permissions, and its owner as far as the system allows; a new one can be
/// read by its owner only.
pub(crate) fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let existing = match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Some(metadata),
        // Links to pipes, such as `/dev/stdout`, lead to no path.
        Ok(_) => return write_into(path, write),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let target = follow(path)?;
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    // A file that may not be written is not replaced behind its owner's back either.
    if existing.is_some() {
        drop(OpenOptions::new().write(true).open(&target)?);
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".groundstate-").suffix(".tmp");
    let mut temporary = builder.tempfile_in(directory).map_err(without_path)?;
    let mut out = BufWriter::with_capacity(1 << 16, temporary.as_file_mut());
    write(&mut out)?;
    out.flush()?;
    drop(out);
    if let Some(metadata) = existing {
        keep_owner(temporary.as_file(), &metadata);
        temporary.as_file().set_permissions(metadata.permissions())?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(&target).map_err(|error| error.error)?;
    sync_directory(directory)
}

/// Devices and pipes cannot be replaced; they take the bytes as they come.
fn write_into(target: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(OpenOptions::new().write(true).open(target)?);
    write(&mut out)?;
    out.flush()
}

/// The usual errors without a path: the name of a temporary file means nothing to anybody.
fn without_path(error: io::Error) -> io::Error {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem, StorageFull};
    match error.kind() {
        kind @ (NotFound | NotADirectory | PermissionDenied | ReadOnlyFilesystem | StorageFull) => {
            kind.into()
        }
        _ => error,
    }
}

/// Gives a file to the owner and group of another. Only an administrator may, and for all others they are mostly the
/// same already, so a refusal is no error.
#[cfg(unix)]
fn keep_owner(file: &File, metadata: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    if fchown(file, Some(metadata.uid()), Some(metadata.gid())).is_err() {
        drop(fchown(file, None, Some(metadata.gid())));
    }
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &fs::Metadata) {}

fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

#[cfg(unix)]
fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

#[cfg(not(unix))]
fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io;

    use super::replace;

    fn content(path: &std::path::Path) -> String {
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn writes_a_new_file_for_its_owner_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new.tfstate");
        replace(&path, |out| out.write_all(b"one")).unwrap();
        assert_eq!(content(&path), "one");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[cfg(unix)]
    #[test]
    fn keeps_the_permissions_of_the_file_it_replaces() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("old.tfstate");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        replace(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(content(&path), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn leaves_the_old_file_and_nothing_else_when_writing_fails() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("old.tfstate");
        fs::write(&path, "old").unwrap();
        let failed = replace(&path, |out| {
            out.write_all(b"half of the new")?;
            Err(io::Error::other("disk full"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "disk full");
        assert_eq!(content(&path), "old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn replaces_what_a_link_leads_to() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("real.tfstate");
        let link = dir.path().join("link.tfstate");
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink("real.tfstate", &link).unwrap();
        replace(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(content(&real), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[cfg(unix)]
    #[test]
    fn keeps_the_owner_of_the_file_it_replaces() {
        use std::os::unix::fs::{MetadataExt, chown};
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("old.tfstate");
        fs::write(&path, "old").unwrap();
        // Only an administrator can give a file away; for others the owner is the same before and after.
        drop(chown(&path, Some(1234), Some(1234)));
        let owner = |path: &std::path::Path| fs::metadata(path).map(|file| (file.uid(), file.gid())).unwrap();
        let before = owner(&path);
        replace(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(owner(&path), before);
    }

    #[cfg(unix)]
    #[test]
    fn writes_through_links_that_lead_to_a_pipe() {
        use std::os::fd::AsRawFd;
        let (mut reader, writer) = io::pipe().unwrap();
        let path = format!("/dev/fd/{}", writer.as_raw_fd());
        replace(std::path::Path::new(&path), |out| out.write_all(b"new")).unwrap();
        drop(writer);
        let mut text = String::new();
        io::Read::read_to_string(&mut reader, &mut text).unwrap();
        assert_eq!(text, "new");
    }

    #[test]
    fn names_no_temporary_file_in_errors() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("missing").join("new.tfstate");
        let error = replace(&path, |out| out.write_all(b"new")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!error.to_string().contains("groundstate"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn refuses_links_that_lead_in_a_circle() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        std::os::unix::fs::symlink(&b, &a).unwrap();
        std::os::unix::fs::symlink(&a, &b).unwrap();
        assert!(replace(&a, |out| out.write_all(b"x")).is_err());
    }
}
