//! Modes of the directory that a server keeps its store in.

use std::path::Path;

use super::open::OpenError;

/// Makes a directory that only its owner can look into, and says whether it did.
pub(super) fn make_private(path: &Path) -> std::io::Result<bool> {
    if path.is_dir() {
        return Ok(false);
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent)?;
    }
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        // Another process was quicker.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && path.is_dir() => Ok(true),
        other => other.map(|()| true),
    }
}

/// Closes a directory that was made beforehand to other users of the machine, who could read states in it. Returns a line for the operator.
///
/// # Errors
///
/// Returns an error if others can write to it, so that what is in it may be theirs, or if its mode cannot be changed.
#[cfg(unix)]
pub(super) fn close_to_others(path: &Path) -> Result<Option<String>, OpenError> {
    use std::os::unix::fs::PermissionsExt;
    const OTHERS: u32 = 0o007;
    const OTHERS_WRITE: u32 = 0o002;
    const OWNER: u32 = 0o700;
    let Ok(found) = std::fs::metadata(path) else { return Ok(None) };
    let mode = found.permissions().mode() & 0o7777;
    if mode & OTHERS == 0 {
        return Ok(None);
    }
    let open = |source| OpenError::Open { path: path.to_owned(), mode, source };
    if mode & OTHERS_WRITE != 0 {
        return Err(open(None));
    }
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode & OWNER))
        .map_err(|error| open(Some(error)))?;
    Ok(Some(format!(
        "closed {} to other users of this machine: its mode was {mode:03o} and is {:03o}",
        path.display(),
        mode & OWNER
    )))
}

#[cfg(not(unix))]
pub(super) fn close_to_others(_: &Path) -> Result<Option<String>, OpenError> {
    Ok(None)
}
