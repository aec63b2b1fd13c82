//! Replaces a file all at once: readers see the old content or the new one, never a part.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use groundstate_durable::special;
use groundstate_statemgr::{ErrorKind, Expect, WriteOptions};

use crate::input::family::is_packed;
use crate::input::head::Head;
use crate::input::locate::is_standard;
use crate::input::location::StateLocation;
use crate::input::packed;
use crate::input::paths;
use crate::report::error::chain;
use crate::report::error::{Failure, Kind, Result};
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::session::backup::backup_of_output;
use crate::session::files::{create, write_into};
use crate::session::locked::unlocked;
use crate::session::managed_state::ManagedState;
use crate::session::precious;
use crate::session::state_error::how_to_free;

/// Writes `path`, so that the content is the old or the new one at any time, and synced before this returns.
///
/// What exists may be a state that others have open and locked, so it is written as states are: under the lock, in
/// place, behind a journal. If it has to hold `expected` still and does not, it is left alone. Symbolic links are
/// followed unless they are another user's. An existing file keeps its permissions and its owner; a new one can be read
/// by its owner only. Pipes with a name, devices and sockets are refused; an open descriptor such as `/dev/stdout` takes
/// the bytes.
///
/// Only a state takes the place of a state, and that is kept as a backup. No plan and no journal is replaced.
pub(crate) fn replace(
    path: &Path,
    expected: Option<&[u8]>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    put(path, expected, Content::State, write)
}

/// The content of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    State,
    /// Something that is made from states.
    Drawing,
}

fn put(
    path: &Path,
    expected: Option<&[u8]>,
    content: Content,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let written = match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {
            paths::follow(path).map_err(|error| Failure::unwritable(path, &error))?;
            let mut bytes = Vec::new();
            write(&mut bytes).map_err(|error| Failure::unwritable(path, &error))?;
            return overwrite(path, expected, content, bytes);
        }
        // Links to open pipes, such as `/dev/stdout`, lead to no path.
        Ok(_) if paths::takes_output(path) => write_into(path, write),
        Ok(metadata) => Err(special(&metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            paths::follow(path).and_then(|target| create(&target, write))
        }
        Err(error) => Err(error),
    };
    written.map_err(|error| Failure::unwritable(path, &error))
}

/// Writes a drawing into a file, or prints it. What a drawing takes from a state is escaped where it is drawn.
pub(crate) fn write_drawing(text: &str, is_json: bool, path: Option<&Path>) -> Result<()> {
    let Some(path) = path.filter(|path| !is_standard(path)) else {
        let mut out = Output::stdout();
        match is_json {
            true => out.json(text.trim_end())?,
            false => out.write_all(text.as_bytes())?,
        }
        return Ok(out.finish()?);
    };
    put(path, None, Content::Drawing, |out| out.write_all(text.as_bytes()))
}

/// Writes a JSON document into a file, or prints it: exactly these bytes.
pub(crate) fn write_document(bytes: &[u8], path: Option<&Path>) -> Result<()> {
    let Some(path) = path.filter(|path| !is_standard(path)) else {
        let mut out = Output::stdout();
        out.document(bytes)?;
        return Ok(out.finish()?);
    };
    replace(path, None, |out| out.write_all(bytes))
}

/// Overwrites a file that exists.
fn overwrite(path: &Path, expected: Option<&[u8]>, content: Content, bytes: Vec<u8>) -> Result<()> {
    let found = StateLocation::at(path)?;
    let keep = replaces_state(&found, content, &bytes)?.then(|| backup_of_output(&found));
    let opened = ManagedState::open_raw(found, keep, false)?;
    unlocked(&opened, async |manager| {
        let store = manager.store();
        let stored = store.read().await?;
        if !is_encrypted(&bytes) && stored.as_ref().is_some_and(|stored| is_encrypted(&stored.bytes)) {
            return Err(over_encrypted(&opened.name).into());
        }
        let mut options = WriteOptions::any();
        if let Some(expected) = expected {
            let stored = stored.filter(|stored| stored.bytes == expected).ok_or_else(|| {
                let message = format!("another process has changed {} meanwhile", opened.name);
                Failure::new(Kind::Conflict, message).hint("nothing was written; run the command once more")
            })?;
            options = WriteOptions::expecting(Expect::Version(stored.version));
        }
        match store.write(bytes.into(), &options).await {
            Ok(_) => Ok(()),
            // Commands that only have an output do not wait for it.
            Err(error) if error.kind() == ErrorKind::Locked => {
                let failure = Failure::new(Kind::Locked, chain(&error));
                Err(error.holder().map(how_to_free).into_iter().fold(failure, Failure::hint).into())
            }
            Err(error) => Err(error.into()),
        }
    })?;
    if let Some(kept) = opened.kept() {
        Messages::stderr().note(&format!("the state before is {kept}"));
    }
    Ok(())
}

/// Returns `true` if a state is there, which the output may replace. Refuses what it may not replace.
fn replaces_state(found: &StateLocation, content: Content, bytes: &[u8]) -> Result<bool> {
    let opened = ManagedState::open_raw(found.clone(), None, false)?;
    unlocked(&opened, async |manager| {
        let Some(stored) = manager.store().read().await? else { return Ok(false) };
        if !is_encrypted(bytes) && is_encrypted(&stored.bytes) {
            return Err(over_encrypted(&opened.name).into());
        }
        Ok(match content {
            Content::State => precious::refuse_other(&opened.name, &stored.bytes, bytes)?,
            Content::Drawing => precious::refuse(&opened.name, &stored.bytes).map(|()| false)?,
        })
    })
}

/// Whether these bytes are an envelope of OpenTofu's encryption, compressed or not.
fn is_encrypted(bytes: &[u8]) -> bool {
    let unpacked = is_packed(bytes).then(|| packed::unpack(bytes).ok()).flatten();
    Head::read(unpacked.as_deref().unwrap_or(bytes)).is_some_and(|head| head.is_encrypted)
}

/// Refuses to write a copy in plain text over an encrypted state, or over a file that cannot be read, which may be one.
pub(crate) fn refuse_encrypted(path: &Path) -> Result<()> {
    let is_missing =
        |error: &io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    let bytes = match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => paths::read(path),
        // What is no file is told when it is written.
        Ok(_) => return Ok(()),
        Err(error) => Err(error),
    };
    match bytes {
        Ok(bytes) if is_encrypted(&bytes) => Err(over_encrypted(&path.display().to_string())),
        Ok(_) => Ok(()),
        Err(error) if is_missing(&error) => Ok(()),
        Err(error) => Err(Failure::unreadable(path, &error)
            .hint("nothing was written, since it may be an encrypted state; name another file")),
    }
}

fn over_encrypted(name: &str) -> Failure {
    let message = format!("{name} is encrypted, and would be replaced by plain text");
    Failure::new(Kind::Loss, message).hint("nothing was written; name another file, or remove this one first")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io;

    use super::{refuse_encrypted, replace};

    fn content(path: &std::path::Path) -> String {
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn writes_a_new_file_for_its_owner_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new.tfstate");
        replace(&path, None, |out| out.write_all(b"one")).unwrap();
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
        replace(&path, None, |out| out.write_all(b"new")).unwrap();
        assert_eq!(content(&path), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn leaves_the_old_file_and_nothing_else_when_writing_fails() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("old.tfstate");
        fs::write(&path, "old").unwrap();
        let failed = replace(&path, None, |out| {
            out.write_all(b"half of the new")?;
            Err(io::Error::other("disk full"))
        });
        assert!(failed.unwrap_err().to_string().ends_with(": disk full"));
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
        replace(&link, None, |out| out.write_all(b"new")).unwrap();
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
        replace(&path, None, |out| out.write_all(b"new")).unwrap();
        assert_eq!(owner(&path), before);
    }

    #[test]
    fn leaves_a_file_alone_that_another_program_has_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("old.tfstate");
        fs::write(&path, "theirs").unwrap();
        let error = replace(&path, Some(b"old"), |out| out.write_all(b"new")).unwrap_err();
        assert_eq!((error.kind.code(), &*content(&path)), (9, "theirs"));
        replace(&path, Some(b"theirs"), |out| out.write_all(b"new")).unwrap();
        assert_eq!(content(&path), "new");
    }

    #[cfg(unix)]
    #[test]
    fn writes_through_links_that_lead_to_a_pipe() {
        use std::os::fd::AsRawFd;
        let (mut reader, writer) = io::pipe().unwrap();
        let path = format!("/dev/fd/{}", writer.as_raw_fd());
        replace(std::path::Path::new(&path), None, |out| out.write_all(b"new")).unwrap();
        drop(writer);
        let mut text = String::new();
        io::Read::read_to_string(&mut reader, &mut text).unwrap();
        assert_eq!(text, "new");
    }

    #[test]
    fn names_no_temporary_file_in_errors() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("missing").join("new.tfstate");
        let error = replace(&path, None, |out| out.write_all(b"new")).unwrap_err();
        assert!(!error.to_string().contains(".groundstate-"), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn refuses_to_overwrite_a_file_that_cannot_be_read() {
        // A file of which no byte can be read, not even by the administrator.
        let error = refuse_encrypted(std::path::Path::new("/proc/self/mem")).unwrap_err();
        assert!(error.to_string().contains("/proc/self/mem"), "{error}");
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("plain");
        refuse_encrypted(&file).unwrap();
        fs::write(&file, "{}").unwrap();
        refuse_encrypted(&file).unwrap();
        refuse_encrypted(&file.join("below")).unwrap();
        refuse_encrypted(dir.path()).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn refuses_links_that_lead_in_a_circle() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        std::os::unix::fs::symlink(&b, &a).unwrap();
        std::os::unix::fs::symlink(&a, &b).unwrap();
        assert!(replace(&a, None, |out| out.write_all(b"x")).is_err());
    }
}
