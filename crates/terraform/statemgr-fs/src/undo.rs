//! The undo journal: the backup, under the name of the journal too.
//!
//! The backup is a durable copy of the old state already, so a second one beside it would be written for nothing.

use std::fs::File;
use std::io;

use groundstate_durable::{Draft, parent, remove, sync_folder};

use crate::files;
use crate::journal::{Form, Header, Journal};
use crate::state_path::StatePath;

/// A backup that is the journal of a write as well. Dropping it ends that.
pub(crate) struct UndoJournal {
    journal: Journal,
    name: Option<Draft>,
}

impl UndoJournal {
    /// Makes `backup`, a durable copy of the state in `file` with this digest and length, the journal of a write to it.
    ///
    /// # Errors
    ///
    /// Where the backup can have no second name: on another disk, or a file system without such names.
    pub(crate) fn new(
        place: &StatePath,
        file: &File,
        backup: File,
        digest: String,
        len: u64,
    ) -> io::Result<Self> {
        let path = place.journal();
        remove(&path)?;
        files::link(&backup, &path)?;
        let header = Header::new(Form::Undo, digest, len, &path);
        let name = Draft::of(backup.try_clone()?, path);
        let linked = Self { journal: Journal::new(backup, header), name: Some(name) };
        widen(linked.journal.file(), file)?;
        sync_folder(parent(&place.target()))?;
        Ok(linked)
    }

    pub(crate) fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Leaves the journal, for the next operation on the state.
    pub(crate) fn keep(mut self) {
        if let Some(name) = self.name.take() {
            drop(name.keep());
        }
    }
}

impl Drop for UndoJournal {
    fn drop(&mut self) {
        if let Some(name) = self.name.take() {
            // While it is still found: should this process end here, the next one does it.
            drop(narrow(self.journal.file()));
            drop(name);
        }
    }
}

/// Lets those read the backup who may read the state, since it is the state during the write.
#[cfg(unix)]
fn widen(backup: &File, state: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let own = backup.metadata()?.permissions().mode() & 0o700;
    if own & 0o400 == 0 {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let others = state.metadata()?.permissions().mode() & 0o077;
    if others == 0 { Ok(()) } else { backup.set_permissions(PermissionsExt::from_mode(own | others)) }
}

#[cfg(not(unix))]
fn widen(_: &File, _: &File) -> io::Result<()> {
    Ok(())
}

/// Makes a journal its owner's alone again if it is a backup as well.
#[cfg(unix)]
pub(crate) fn narrow(journal: &File) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let meta = journal.metadata()?;
    if meta.nlink() < 2 || meta.mode() & 0o077 == 0 {
        return Ok(());
    }
    journal.set_permissions(PermissionsExt::from_mode(meta.mode() & 0o600))
}

#[cfg(not(unix))]
pub(crate) fn narrow(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs::{self, File, OpenOptions, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::UndoJournal;
    use crate::digest;
    use crate::files::write_at;
    use crate::in_place::{NewState, Stopped, publish_undoable};
    use crate::journal::HEADER;
    use crate::recovery::recover;
    use crate::replace;
    use crate::snapshot::{self, Attempted};
    use crate::state_path::StatePath;

    struct Case {
        folder: tempfile::TempDir,
        place: StatePath,
        file: File,
        undo: Option<UndoJournal>,
        new_file: File,
        old: Vec<u8>,
        new: Vec<u8>,
    }

    impl Case {
        fn new(old: usize, new: usize) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let place = StatePath::new(&folder.path().join("terraform.tfstate")).unwrap();
            let backup = StatePath::new(&folder.path().join("terraform.tfstate.backup")).unwrap();
            let (old, new) = (vec![b'o'; old], vec![b'n'; new]);
            fs::write(place.path(), &old).unwrap();
            fs::set_permissions(place.path(), Permissions::from_mode(0o644)).unwrap();
            let file = OpenOptions::new().read(true).write(true).open(place.path()).unwrap();
            let copy = replace::copy(&file, &backup).unwrap();
            let digest = digest::of_bytes(&old);
            let undo = UndoJournal::new(&place, &file, copy, digest, old.len() as u64).unwrap();
            let new_file = tempfile::tempfile().unwrap();
            write_at(&new_file, 0, &new).unwrap();
            Self { folder, place, file, undo: Some(undo), new_file, old, new }
        }

        fn mark(&self) {
            write_at(&self.file, 0, self.undo.as_ref().unwrap().journal().header().bytes()).unwrap();
        }

        fn new_state(&self) -> NewState<'_> {
            NewState::File { file: &self.new_file, offset: 0, len: self.new.len() as u64 }
        }

        fn backup_mode(&self) -> u32 {
            let backup = fs::metadata(self.folder.path().join("terraform.tfstate.backup")).unwrap();
            backup.permissions().mode() & 0o777
        }

        /// What readers see, what is in the file after the write is settled, and what of the journal is left.
        #[track_caller]
        fn leaves(mut self, expected: &[u8]) {
            self.undo.take().unwrap().keep();
            let seen = |place: &StatePath| {
                let found = snapshot::read(place, None, || Ok(Attempted::Done)).unwrap();
                found.map(|snapshot| snapshot.bytes).unwrap_or_default()
            };
            let lengths = (self.old.len(), self.new.len());
            assert_eq!(self.backup_mode(), 0o644, "a journal can be read by those who may read the state");
            assert!(seen(&self.place) == *expected, "a reader before, {lengths:?}");
            recover(&self.place, &self.file).unwrap();
            assert!(fs::read(self.place.path()).unwrap() == *expected, "the file, {lengths:?}");
            assert!(seen(&self.place) == *expected, "a reader after, {lengths:?}");
            assert!(!self.place.journal().exists());
            assert_eq!(self.backup_mode(), 0o600);
            let backup = fs::read(self.folder.path().join("terraform.tfstate.backup")).unwrap();
            assert!(backup == self.old, "the backup, {lengths:?}");
        }
    }

    /// Lengths around those where the steps differ.
    fn cases() -> impl Iterator<Item = Case> {
        let lengths = [HEADER, HEADER + 1, 1024, 5000];
        lengths.into_iter().flat_map(move |old| lengths.map(|new| Case::new(old, new)))
    }

    #[test]
    fn a_write_that_stops_before_its_mark_leaves_the_old_state() {
        for case in cases() {
            let old = case.old.clone();
            case.leaves(&old);
        }
    }

    #[test]
    fn a_write_that_stops_after_its_mark_leaves_the_old_state() {
        for case in cases() {
            let old = case.old.clone();
            case.mark();
            case.leaves(&old);
        }
    }

    #[test]
    fn a_write_that_stops_at_any_byte_leaves_the_old_state() {
        for cut in (HEADER..5000).step_by(61) {
            let case = Case::new(3000, 5000);
            let old = case.old.clone();
            case.mark();
            write_at(&case.file, HEADER as u64, &case.new[HEADER..cut]).unwrap();
            case.leaves(&old);
        }
    }

    #[test]
    fn a_write_that_stops_before_its_end_leaves_the_old_state() {
        for case in cases() {
            let old = case.old.clone();
            case.mark();
            write_at(&case.file, HEADER as u64, &case.new[HEADER..]).unwrap();
            case.file.set_len(case.new.len() as u64).unwrap();
            case.leaves(&old);
        }
    }

    #[test]
    fn a_write_that_stops_before_its_journal_is_gone_leaves_the_new_state() {
        for case in cases() {
            let new = case.new.clone();
            publish_undoable(&case.file, case.new_state(), case.undo.as_ref().unwrap().journal()).unwrap();
            case.leaves(&new);
        }
        for case in cases() {
            let new = case.new.clone();
            publish_undoable(&case.file, NewState::Memory(&new), case.undo.as_ref().unwrap().journal())
                .unwrap();
            case.leaves(&new);
        }
    }

    #[test]
    fn a_write_that_fails_half_way_has_restored_the_old_state() {
        let case = Case::new(3000, 5000);
        let old = case.old.clone();
        // The new state turns out to be shorter than it was said to be.
        case.new_file.set_len(4000).unwrap();
        let stopped = publish_undoable(&case.file, case.new_state(), case.undo.as_ref().unwrap().journal())
            .unwrap_err();
        assert!(matches!(stopped, Stopped::Before(_)), "{stopped:?}");
        assert!(fs::read(case.place.path()).unwrap() == old);
        case.leaves(&old);
    }

    #[test]
    fn a_state_that_another_program_wrote_meanwhile_is_left_alone() {
        let case = Case::new(700, 800);
        case.mark();
        let foreign = b"{\"serial\":9}";
        fs::write(case.place.path(), foreign).unwrap();
        case.leaves(foreign);
    }

    #[test]
    fn people_restore_the_old_state_with_a_copy_of_the_journal_or_the_backup() {
        for name in [".terraform.tfstate.groundstate-journal", "terraform.tfstate.backup"] {
            let case = Case::new(3000, 5000);
            let old = case.old.clone();
            case.mark();
            write_at(&case.file, HEADER as u64, &case.new[HEADER..2000]).unwrap();
            fs::copy(case.folder.path().join(name), case.place.path()).unwrap();
            case.leaves(&old);
        }
    }

    #[test]
    fn a_marked_file_without_its_journal_is_damaged_and_not_a_state() {
        for spoil in [
            (|case: &Case| fs::remove_file(case.place.journal()).unwrap()) as fn(&Case),
            |case| fs::write(case.place.journal(), b"").unwrap(),
            |case| fs::write(case.place.journal(), vec![b'x'; 700]).unwrap(),
        ] {
            let case = Case::new(700, 800);
            case.mark();
            spoil(&case);
            let error = snapshot::read(&case.place, None, || Ok(Attempted::Done)).err().unwrap();
            assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
            assert!(recover(&case.place, &case.file).is_err());
        }
    }
}
