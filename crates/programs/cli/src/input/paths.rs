//! What a path on the command line leads to: a regular file, an open descriptor of this process, or what is refused.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use groundstate_durable::{Links, open_regular};
use tracing::debug;

/// Links that are followed before the path counts as a circle.
const MAX_LINKS: usize = 40;

/// What is no file and still takes output, by the name that everybody knows.
const NOWHERE: &str = "/dev/null";

/// The path behind symbolic links.
///
/// # Errors
///
/// When a link belongs neither to this user, nor to root, nor to the owner of the folder it lies in: then another user
/// of a shared folder would choose the file that is written. The kernel has the same rule for `/tmp`.
pub(crate) fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let Ok(next) = fs::read_link(&target) else { return Ok(target) };
        if !is_trusted(&target)? {
            let message = format!("{} is a symbolic link of another user", target.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        target = target.parent().unwrap_or(Path::new("")).join(next);
    }
    Err(io::Error::other("too many symbolic links"))
}

#[cfg(unix)]
fn is_trusted(link: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let owner = fs::symlink_metadata(link)?.uid();
    let folder = link.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(owner == 0 || owner == nix::unistd::geteuid().as_raw() || owner == fs::metadata(folder)?.uid())
}

#[cfg(not(unix))]
fn is_trusted(_: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Returns `true` if both paths lead to one file that exists, by links of any kind.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    let is_same = |one: PathBuf, other: PathBuf| one == other || is_linked(&one, &other);
    fs::canonicalize(one).is_ok_and(|one| fs::canonicalize(other).is_ok_and(|other| is_same(one, other)))
}

#[cfg(unix)]
fn is_linked(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |path: &Path| fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    id(one).is_some_and(|one| id(other) == Some(one))
}

#[cfg(not(unix))]
fn is_linked(_: &Path, _: &Path) -> bool {
    false
}

/// Whether the path names an open descriptor of this process, as `/dev/stdout` and `/dev/fd/63` do.
pub(crate) fn is_descriptor(path: &Path) -> bool {
    let own = PathBuf::from(format!("/proc/{}/fd", std::process::id()));
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let Some(folder) = path.parent().and_then(|folder| fs::canonicalize(folder).ok()) else {
            return false;
        };
        // Where there is no `/proc`, descriptors lie in `/dev/fd` itself.
        if folder == own || folder == Path::new("/dev/fd") {
            return true;
        }
        match fs::read_link(&path) {
            Ok(next) => path = folder.join(next),
            Err(_) => return false,
        }
    }
    false
}

/// Whether output may go there although it is not a regular file.
pub(crate) fn takes_output(path: &Path) -> bool {
    path == Path::new(NOWHERE) || is_descriptor(path)
}

/// Opens a file for reading, and nothing that may have no end or no other side: pipes with a name, devices and sockets
/// are refused before they are opened.
pub(crate) fn open(path: &Path) -> io::Result<(File, Metadata)> {
    debug!(place = path.display().to_string(), "opening a file to read");
    if !fs::metadata(path)?.is_file() && is_descriptor(path) {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        return Ok((file, metadata));
    }
    open_regular(path, Links::Follow)
}

/// The same, read to its end.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut open(path)?.0, &mut bytes)?;
    Ok(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{MetadataExt, chown, lchown, symlink};
    use std::path::Path;
    use std::{fs, io};

    use super::{follow, is_descriptor};

    #[test]
    fn descriptors_are_told_from_pipes_with_a_name() {
        use std::os::fd::AsRawFd;
        let (reader, _writer) = io::pipe().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        symlink("/dev/stdin", &link).unwrap();
        for path in
            [format!("/dev/fd/{}", reader.as_raw_fd()), "/dev/stdout".to_owned(), link.display().to_string()]
        {
            assert!(is_descriptor(Path::new(&path)), "{path}");
        }
        for path in ["/dev/null", "/dev/fd", "/proc/1/fd/0", "", "x"] {
            assert!(!is_descriptor(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn a_link_of_another_user_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::write(&real, "").unwrap();
        symlink("real", &link).unwrap();
        assert_eq!(follow(&link).unwrap(), real);
        if lchown(&link, Some(1234), None).is_err() {
            return println!("not run: only an administrator can give files away");
        }
        let error = follow(&link).unwrap_err();
        assert!(error.to_string().ends_with("link is a symbolic link of another user"), "{error}");
        // Who owns the folder can put a file there as well.
        chown(dir.path(), Some(1234), None).unwrap();
        assert_eq!(follow(&link).unwrap(), real);
        assert_eq!(fs::symlink_metadata(&link).unwrap().uid(), 1234);
    }
}
