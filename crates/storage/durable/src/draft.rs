//! A file on its way to its name.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::files::{create_new, is_named, parent, remove, sync_folder};

/// A new file under a name that counts for nothing. Dropping it removes the name.
#[derive(Debug)]
pub struct Draft {
    file: File,
    name: Name,
}

/// A name that is removed when it is dropped, unless it was taken out.
#[derive(Debug)]
struct Name(PathBuf);

impl Drop for Name {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            // What stays of it has no name that means anything.
            drop(remove(&self.0));
        }
    }
}

/// What is to be done about a name that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is an error, `AlreadyExists`.
    Refuse,
    /// The new file takes the place of the old one, which stays whole for those who have it open.
    Replace,
}

/// A file that was not published.
#[derive(Debug)]
pub struct Unpublished {
    /// What the system says.
    pub error: io::Error,
    /// Whether the name may be the file's after all. Otherwise everything is as it was.
    pub may_be_named: bool,
}

impl From<io::Error> for Unpublished {
    fn from(error: io::Error) -> Self {
        Self { error, may_be_named: false }
    }
}

impl Draft {
    /// Creates it, readable by its owner alone. What a crash left under the name is removed.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn create(path: PathBuf) -> io::Result<Self> {
        remove(&path)?;
        Ok(Self::of(create_new(&path)?, path))
    }

    /// A file that has this name already.
    pub fn of(file: File, path: PathBuf) -> Self {
        Self { file, name: Name(path) }
    }

    /// The file, to be filled.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Its name so far.
    pub fn path(&self) -> &Path {
        &self.name.0
    }

    /// Leaves the file under its name.
    pub fn keep(mut self) -> File {
        self.name.0.clear();
        self.file
    }

    /// Gives the file the name `target`, in place of what has it; nothing is synced.
    ///
    /// # Errors
    ///
    /// Those of the system; nothing has changed then.
    pub fn rename(self, target: &Path) -> io::Result<File> {
        fs::rename(self.path(), target)?;
        Ok(self.keep())
    }

    /// Gives the file the name `target`, so that the name is never seen without all of the content, and both are durable.
    ///
    /// # Errors
    ///
    /// Those of the system, with what became of the name.
    pub fn publish(self, target: &Path, taken: Taken) -> Result<File, Unpublished> {
        self.file.sync_all()?;
        let named = self.give(target, taken).and_then(|()| sync_folder(parent(target)));
        if let Err(error) = named {
            return Err(Unpublished { error, may_be_named: is_named(target, &self.file).unwrap_or(true) });
        }
        Ok(self.keep())
    }

    fn give(&self, target: &Path, taken: Taken) -> io::Result<()> {
        if taken == Taken::Replace {
            return fs::rename(self.path(), target);
        }
        match fs::hard_link(self.path(), target) {
            Ok(()) => remove(self.path()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            // Some file systems have no second names.
            Err(_) if !target.try_exists()? => fs::rename(self.path(), target),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{self, Write};

    use super::{Draft, Taken};

    #[test]
    fn a_name_has_the_old_content_or_the_new_one_and_drafts_leave_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (draft, target) = (folder.path().join("new"), folder.path().join("state"));
        fs::write(&draft, "left by a crash").unwrap();
        fs::write(&target, "old").unwrap();

        let refused = Draft::create(draft.clone()).unwrap().publish(&target, Taken::Refuse).unwrap_err();
        assert_eq!((refused.error.kind(), refused.may_be_named), (io::ErrorKind::AlreadyExists, false));
        assert_eq!(fs::read_to_string(&target).unwrap(), "old");

        let new = Draft::create(draft).unwrap();
        new.file().write_all(b"new").unwrap();
        new.publish(&target, Taken::Replace).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_reads_a_draft_and_links_are_not_followed() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (draft, other) = (folder.path().join("new"), folder.path().join("other"));
        fs::write(&other, "theirs").unwrap();
        symlink(&other, &draft).unwrap();
        let new = Draft::create(draft).unwrap();
        assert_eq!(new.file().metadata().unwrap().permissions().mode() & 0o777, 0o600);
        new.file().write_all(b"ours").unwrap();
        drop(new);
        assert_eq!(fs::read_to_string(&other).unwrap(), "theirs");
    }
}
