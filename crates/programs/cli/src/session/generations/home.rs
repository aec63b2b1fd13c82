//! The directory of this user in which groundstate keeps what belongs to states elsewhere.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Returns the directory, which may not exist yet: `GROUNDSTATE_STATE_DIR`, or the place for such data in the user's home.
/// Returns `None` if the environment names no home.
pub(crate) fn state_home() -> Option<PathBuf> {
    of(|name| std::env::var_os(name))
}

fn of(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // A relative path would be another one in each directory.
    let path = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    path("GROUNDSTATE_STATE_DIR")
        .or_else(|| path("XDG_STATE_HOME").map(|home| home.join("groundstate")))
        .or_else(|| path("LOCALAPPDATA").filter(|_| cfg!(windows)).map(|home| home.join("groundstate")))
        .or_else(|| path("HOME").map(|home| home.join(".local/state/groundstate")))
}

/// Creates a directory that only its owner can enter, with its parents.
///
/// # Errors
///
/// Returns an error if there is something else, a symbolic link among it, or the directory of another user: the owner of the
/// directory could read or replace what is put there.
pub(crate) fn private_directory(path: &Path, owner: Option<&fs::Metadata>) -> io::Result<()> {
    if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty() && !above.is_dir()) {
        private_directory(above, owner)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Ok(()) => give(path, owner),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check(path, owner),
        Err(error) => Err(error),
    }
}

fn check(path: &Path, owner: Option<&fs::Metadata>) -> io::Result<()> {
    let refuse = |why: &str| {
        let message = format!("{}: {why}", path.display());
        Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
    };
    let found = fs::symlink_metadata(path)?;
    if found.is_symlink() {
        return refuse("it is a symbolic link, which is not followed");
    }
    if !found.is_dir() {
        return refuse("it is not a directory");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let me = nix::unistd::geteuid().as_raw();
        if found.uid() != me && owner.is_none_or(|owner| owner.uid() != found.uid()) {
            return refuse("it belongs to another user");
        }
        if found.mode() & 0o077 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
        }
    }
    #[cfg(not(unix))]
    let _ = owner;
    Ok(())
}

/// Gives a new directory to the owner of the state, where an administrator made it.
#[cfg(unix)]
fn give(path: &Path, owner: Option<&fs::Metadata>) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, chown};
    let me = nix::unistd::geteuid();
    match owner {
        Some(owner) if me.is_root() && owner.uid() != me.as_raw() => {
            chown(path, Some(owner.uid()), Some(owner.gid()))
        }
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn give(_: &Path, _: Option<&fs::Metadata>) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    use super::{of, private_directory};

    #[test]
    fn the_own_variable_comes_before_that_of_the_desktop_and_the_home() {
        let found = |set: &[(&str, &str)]| {
            let value = |name: &str| set.iter().find(|(other, _)| *other == name);
            of(|name| value(name).map(|(_, value)| OsString::from(value)))
        };
        let (own, desktop, home) =
            (("GROUNDSTATE_STATE_DIR", "/own"), ("XDG_STATE_HOME", "/xdg"), ("HOME", "/h"));
        assert_eq!(found(&[own, desktop, home]), Some(PathBuf::from("/own")));
        assert_eq!(found(&[("GROUNDSTATE_STATE_DIR", "own"), desktop]), Some("/xdg/groundstate".into()));
        assert_eq!(found(&[home]), Some("/h/.local/state/groundstate".into()));
        assert_eq!(found(&[]), None);
    }

    #[cfg(unix)]
    #[test]
    fn the_directory_is_its_owners_alone_and_no_link() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b");
        private_directory(&path, None).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&dir.path().join("a"))), (0o700, 0o700));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        private_directory(&path, None).unwrap();
        assert_eq!(mode(&path), 0o700);
        symlink(&path, dir.path().join("link")).unwrap();
        assert!(private_directory(&dir.path().join("link"), None).is_err());
    }
}
