//! The copy that becomes the backup, made while the new state is still being collected.

use std::fs::File;
use std::io;
use std::thread::{self, JoinHandle};

use groundstate_durable::parent;

use crate::files;
use crate::replace::stage_copy;
use crate::staged::Staged;
use crate::stamp::Stamp;
use crate::state_path::StatePath;

/// A copy on its way. Dropping it leaves nothing behind.
#[derive(Debug)]
pub(crate) struct BackupCopy(JoinHandle<io::Result<(Stamp, Staged)>>);

impl BackupCopy {
    /// Begins to copy the state to the disk of the backup. Whatever is in the way is told when the backup is due.
    pub(crate) fn begin(state: &StatePath, backup: &StatePath) -> Option<Self> {
        if backup.is_same_as(state) || !parent(backup.path()).is_dir() {
            return None;
        }
        let (state, backup) = (state.target(), backup.clone());
        // With a file of its own: positions in the locked one are its holder's.
        let copy = move || {
            let file = files::open(&state)?.ok_or(io::ErrorKind::NotFound)?;
            let stamp = Stamp::of(&file)?;
            Ok((stamp, stage_copy(&file, &backup)?))
        };
        thread::Builder::new().name("groundstate-fs".to_owned()).spawn(copy).ok().map(Self)
    }

    /// The copy, if the state has been what it is ever since the copy was begun.
    pub(crate) fn of(self, state: &File) -> Option<Staged> {
        let (stamp, staged) = self.0.join().ok()?.ok()?;
        Stamp::of(state).is_ok_and(|now| now == stamp).then_some(staged)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::BackupCopy;
    use crate::replace::publish_copy;
    use crate::state_path::StatePath;

    #[test]
    fn counts_only_for_a_state_that_is_still_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| StatePath::new(&folder.path().join(name)).unwrap();
        let (state, backup) = (place("state"), place("backup"));
        fs::write(state.path(), "old").unwrap();
        let file = File::open(state.path()).unwrap();

        let early = BackupCopy::begin(&state, &backup).unwrap();
        while !early.0.is_finished() {
            std::thread::yield_now();
        }
        fs::write(state.path(), "foreign").unwrap();
        assert!(early.of(&file).is_none());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

        let staged = BackupCopy::begin(&state, &backup).unwrap().of(&file).unwrap();
        publish_copy(staged, &file, &backup).unwrap();
        assert_eq!(fs::read(backup.path()).unwrap(), b"foreign");
    }

    #[test]
    fn makes_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        let state = StatePath::new(&folder.path().join("state")).unwrap();
        let backup = StatePath::new(&folder.path().join("new/backup")).unwrap();
        assert!(BackupCopy::begin(&state, &backup).is_none());
        assert!(BackupCopy::begin(&state, &state).is_none());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
