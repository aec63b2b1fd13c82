//! Where the state before a change goes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use groundstate_statemgr_fs::Backup;

use crate::args::ChangeArgs;
use crate::input::location::StateLocation;
use crate::report::error::{Failure, Kind, Result};
use crate::session::files;
use crate::session::save;

/// How many states that cannot be read are kept beside one.
const MAX_UNREADABLE: u32 = 100;

/// Where the state before a change goes.
///
/// # Errors
///
/// When the file that the user names is an encrypted state, which a copy in plain text would replace.
pub(crate) fn backup(
    found: &StateLocation,
    args: &ChangeArgs,
    suffix: &str,
) -> Result<(Backup, Option<PathBuf>)> {
    Ok(match args.backup.as_deref() {
        Some(path) if path == Path::new("-") => (Backup::None, None),
        Some(path) => {
            save::refuse_encrypted(path)?;
            (Backup::At(path.to_owned()), Some(path.to_owned()))
        }
        // A place that keeps every state needs no other copy.
        None if found.remote().is_some_and(|remote| remote.place.opened.keeps_history) => {
            (Backup::None, None)
        }
        None => {
            let path = found.with_suffix(suffix);
            (Backup::At(path.clone()), Some(path))
        }
    })
}

/// What comes after the name of a state for that of its copy.
#[derive(Debug)]
pub(crate) enum CopySuffix {
    Fixed(&'static str),
    /// One that no other process uses, since its file was made here. An empty file is removed in the end.
    Reserved {
        suffix: String,
        path: Option<PathBuf>,
    },
}

impl CopySuffix {
    /// A suffix for a state that cannot be read: it may be all that is left, so it replaces no earlier copy. A preview
    /// reserves nothing.
    pub(crate) fn unreadable(found: &StateLocation, is_preview: bool) -> Result<Self> {
        let numbered = (1..MAX_UNREADABLE).map(|number| format!(".unreadable.{number}"));
        for suffix in std::iter::once(".unreadable".to_owned()).chain(numbered) {
            let path = found.with_suffix(&suffix);
            let free = match is_preview {
                true => fs::symlink_metadata(&path).is_err(),
                false => match files::reserve(&path) {
                    Ok(()) => return Ok(Self::Reserved { suffix, path: Some(path) }),
                    Err(error) => error.kind() != io::ErrorKind::AlreadyExists,
                },
            };
            // Where no file can be made, the backup says why; a place with a history needs none.
            if free {
                return Ok(Self::Reserved { suffix, path: None });
            }
        }
        let message = format!("{MAX_UNREADABLE} unreadable states are beside {}", found.name());
        Err(Failure::new(Kind::Conflict, message).hint("remove some, or name a file with `--backup`"))
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Fixed(suffix) => suffix,
            Self::Reserved { suffix, .. } => suffix,
        }
    }
}

impl Drop for CopySuffix {
    fn drop(&mut self) {
        if let Self::Reserved { path: Some(path), .. } = self
            && fs::symlink_metadata(&path).is_ok_and(|file| file.is_file() && file.len() == 0)
        {
            // It is empty, so nothing is lost if it stays.
            drop(fs::remove_file(path));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::CopySuffix;
    use crate::input::location::StateLocation;

    #[test]
    fn two_processes_at_once_reserve_different_names_for_unreadable_states() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("terraform.tfstate");
        fs::write(&path, "{ damaged").unwrap();
        let found = StateLocation::file(path).unwrap();
        let preview = CopySuffix::unreadable(&found, true).unwrap();
        assert_eq!(preview.as_str(), ".unreadable");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "a preview makes no file");
        let [first, second] = [(); 2].map(|()| CopySuffix::unreadable(&found, false).unwrap());
        assert_eq!([first.as_str(), second.as_str()], [".unreadable", ".unreadable.1"]);
        fs::write(found.with_suffix(first.as_str()), "{ damaged").unwrap();
        drop((first, second));
        assert!(found.with_suffix(".unreadable").exists());
        assert!(!found.with_suffix(".unreadable.1").exists(), "what was not used is removed");
    }
}
