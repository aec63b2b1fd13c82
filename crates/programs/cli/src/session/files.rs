//! Files that belong to a state: copies of it, and new ones, which only their owner can read.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use groundstate_common::{IdSource, OsIds};
use groundstate_durable::{Draft, Taken, Unpublished, create_new, parent, special};
use tracing::debug;

use crate::input::paths;

/// Makes this the content of a file that no other process has open, such as a copy of a state.
///
/// Its owner alone may read it, whatever was there before. A link is not followed, and the file of another user is not
/// replaced.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => replaceable(&metadata)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    create(path, |out| out.write_all(bytes))
}

/// Makes an empty file that only its owner can read, where none is: another process that wants the name gets an error.
pub(crate) fn reserve(path: &Path) -> io::Result<()> {
    create_new(path).map(drop)
}

/// Whether a copy may take the place of this.
fn replaceable(metadata: &fs::Metadata) -> io::Result<()> {
    let refuse = |message| Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    if metadata.is_symlink() {
        return refuse("it is a symbolic link, which is not followed");
    }
    if !metadata.is_file() {
        return Err(special(metadata));
    }
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::uid(metadata) != nix::unistd::geteuid().as_raw() {
        return refuse("it belongs to another user");
    }
    Ok(())
}

/// Replaces a file that is no state by one of the same permissions, so that its name always has the old content or the new one.
/// A new file can be read by its owner only. Links are followed unless they are another user's.
pub(crate) fn replace_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = paths::follow(path)?;
    let permissions = match fs::metadata(&target) {
        Ok(metadata) if metadata.is_file() => Some(metadata.permissions()),
        Ok(metadata) => return Err(special(&metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    create_with(&target, permissions, |out| out.write_all(bytes))
}

/// Writes a new file by way of a temporary one beside it, which no other user can read.
pub(crate) fn create(target: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    create_with(target, None, write)
}

fn create_with(
    target: &Path,
    permissions: Option<fs::Permissions>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    debug!(place = target.display().to_string(), "writing a file");
    let id = OsIds.uuid().map_err(io::Error::other)?;
    let draft = parent(target).join(format!(".groundstate-{id}.tmp"));
    let draft = Draft::create(draft).map_err(without_path)?;
    let mut out = BufWriter::with_capacity(1 << 16, draft.file());
    write(&mut out)?;
    out.flush()?;
    drop(out);
    if let Some(permissions) = permissions {
        draft.file().set_permissions(permissions)?;
    }
    draft.publish(target, Taken::Replace).map(drop).map_err(told)
}

/// Why a file does not have its name for certain, with what became of it.
fn told(unpublished: Unpublished) -> io::Error {
    let Unpublished { error, may_be_named } = unpublished;
    match may_be_named {
        false => error,
        true => io::Error::new(
            error.kind(),
            format!("it may have the new content, which a crash of the machine may undo: {error}"),
        ),
    }
}

/// Devices and pipes cannot be replaced; they take the bytes as they come.
pub(crate) fn write_into(
    target: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(OpenOptions::new().write(true).open(target)?);
    write(&mut out)?;
    out.flush()
}

/// The usual errors without a path: the name of a temporary file helps no reader.
fn without_path(error: io::Error) -> io::Error {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem, StorageFull};
    match error.kind() {
        kind @ (NotFound | NotADirectory | PermissionDenied | ReadOnlyFilesystem | StorageFull) => {
            kind.into()
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use groundstate_durable::Unpublished;

    use super::told;

    #[test]
    fn a_name_that_may_have_been_given_is_told_as_one() {
        let error = || io::Error::from(io::ErrorKind::StorageFull);
        assert_eq!(told(error().into()).to_string(), error().to_string());
        let named = told(Unpublished { error: error(), may_be_named: true });
        assert_eq!(named.kind(), io::ErrorKind::StorageFull);
        assert!(named.to_string().starts_with("it may have the new content"), "{named}");
    }
}
