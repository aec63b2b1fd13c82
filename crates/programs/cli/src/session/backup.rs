//! Where the state before a change goes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use groundstate_backends::PlaceUrl;

use crate::args::ChangeArgs;
use crate::input::location::StateLocation;
use crate::input::paths;
use crate::input::remote::Located;
use crate::report::error::{Failure, Kind, Result};
use crate::session::files;
use crate::session::generations::Generations;
use crate::session::keeper::{Keep, KeepIn};
use crate::session::precious;
use crate::session::save;

/// How many states that cannot be read are kept beside one.
const MAX_UNREADABLE: u32 = 100;

/// Decides where the state before a change goes.
///
/// # Errors
///
/// Returns an error if the file that the user names is an encrypted state, which a copy in plain text would replace, another
/// state, a plan or a journal.
pub(crate) fn backup(found: &StateLocation, args: &ChangeArgs, operation: &str) -> Result<Keep> {
    backup_of_undo(found, args, operation, None)
}

/// Begins the backup of an operation that restores an earlier state.
pub(crate) fn backup_of_undo(
    found: &StateLocation,
    args: &ChangeArgs,
    operation: &str,
    restored: Option<Restored>,
) -> Result<Keep> {
    let number = match &restored {
        Some(Restored::Backup(number)) => Some(*number),
        _ => None,
    };
    let to = match args.backup.as_deref() {
        Some(path) if path == Path::new("-") => KeepIn::Nowhere,
        Some(path) => {
            save::refuse_encrypted(path)?;
            refuse_other_backup(path, found)?;
            KeepIn::File(path.to_owned())
        }
        // A place that keeps every state needs no other copy.
        None if keeps_history(found) => KeepIn::Nowhere,
        None => KeepIn::Generation(Generations::of(found).begin(operation, number)),
    };
    let restored = restored.map(|restored| match restored {
        Restored::Backup(number) => number.to_string(),
        Restored::Other(id) => id,
    });
    Ok(Keep { to, restored, ..logged(found, operation) })
}

/// Keeps a backup of a state that is overwritten by the output of a command.
pub(crate) fn backup_of_output(found: &StateLocation) -> Keep {
    generation(found, "output")
}

/// Keeps a backup of a state that is overwritten by one from another place.
pub(crate) fn backup_of_migration(found: &StateLocation) -> Keep {
    generation(found, "migrate")
}

fn generation(found: &StateLocation, operation: &str) -> Keep {
    let to = KeepIn::Generation(Generations::of(found).begin(operation, None));
    Keep { to, ..logged(found, operation) }
}

/// Describes an operation for the log, without a backup.
pub(crate) fn logged(found: &StateLocation, operation: &str) -> Keep {
    let argument = match found.remote() {
        Some(remote) => remote.argument.clone(),
        None => found.argument().display().to_string(),
    };
    // A path means the same from everywhere if it is absolute.
    let argument = match PlaceUrl::is_url(&argument) {
        true => argument,
        false => std::path::absolute(&argument).map_or(argument, |path| path.display().to_string()),
    };
    Keep {
        to: KeepIn::Nowhere,
        operation: operation.to_owned(),
        place: Generations::of(found).place,
        argument,
        restored: None,
        is_joint: false,
    }
}

/// Content that an undo restores.
#[derive(Clone, Debug)]
pub(crate) enum Restored {
    /// A backup, by its number.
    Backup(u64),
    /// A snapshot or a version that the place keeps.
    Other(String),
}

/// Returns `true` if the place keeps every state that is stored there.
pub(crate) fn keeps_history(found: &StateLocation) -> bool {
    found.remote().is_some_and(|remote| remote.place.opened.keeps_history)
}

/// Refuses a backup in the place of a plan, a journal or another state.
fn refuse_other_backup(path: &Path, found: &StateLocation) -> Result<()> {
    // What is no file is refused when it is written.
    let Ok(there) = paths::read(path) else { return Ok(()) };
    let name = path.display().to_string();
    let new = match found.located() {
        Located::File(own, _) => fs::read(own).unwrap_or_default(),
        // The store looks before it writes the backup.
        Located::Remote(_) => return precious::refuse_but_state(&name, &there),
    };
    if new.is_empty() {
        return Ok(());
    }
    precious::refuse_other(&name, &there, &new).map(drop)
}

/// Suffix of the copy of a state that cannot be read.
#[derive(Debug)]
pub(crate) struct CopySuffix {
    suffix: String,
    /// The file that was made here, so that no other process uses the suffix. An empty file is removed in the end.
    path: Option<PathBuf>,
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
                    Ok(()) => return Ok(Self { suffix, path: Some(path) }),
                    Err(error) => error.kind() != io::ErrorKind::AlreadyExists,
                },
            };
            // Where no file can be made, the backup says why; a place with a history needs none.
            if free {
                return Ok(Self { suffix, path: None });
            }
        }
        let message = format!("{MAX_UNREADABLE} unreadable states are beside {}", found.name());
        Err(Failure::new(Kind::Conflict, message).hint("remove some, or name a file with `--backup`"))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.suffix
    }
}

impl Drop for CopySuffix {
    fn drop(&mut self) {
        if let Some(path) = &self.path
            && fs::symlink_metadata(path).is_ok_and(|file| file.is_file() && file.len() == 0)
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
