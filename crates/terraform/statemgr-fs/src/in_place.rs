//! Writing a state file in place, in steps of which each leaves the old state or the new one to be found.
//!
//! The file keeps its inode: a Terraform that waits for the lock has opened it already, and would write its state into
//! a file without a name if this one were replaced.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::Range;

use crate::changes::{all, changes};
use crate::files::{copy_range, read_at, reserve, write_at};
use crate::journal::{HEADER, Header, Journal};
use crate::stamp::{Stamp, touch};

/// Why a write did not come to its end.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// The old state is in place.
    Before(io::Error),
    /// The file is marked, and the journal has the old state.
    Marked(io::Error),
    /// The file is marked and the journal has the new state, or the last step of the write failed.
    Within(io::Error),
}

/// Where a new state comes from.
#[derive(Clone, Copy)]
pub(crate) enum NewState<'a> {
    Memory(&'a [u8]),
    /// A file from `offset` on.
    File {
        file: &'a File,
        offset: u64,
        len: u64,
    },
}

impl<'a> NewState<'a> {
    pub(crate) fn len(self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File { len, .. } => len,
        }
    }

    /// Up to `len` bytes from `at` on.
    pub(crate) fn part(self, at: u64, len: usize) -> io::Result<Cow<'a, [u8]>> {
        match self {
            Self::Memory(bytes) => {
                let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
                Ok(Cow::Borrowed(rest.get(..len).unwrap_or(rest)))
            }
            Self::File { file, offset, .. } => read_at(file, offset + at, len).map(Cow::Owned),
        }
    }

    /// Writes what is in `range` to the same place of `to`.
    fn write_to(self, range: &Range<u64>, to: &File) -> io::Result<()> {
        let len = range.end - range.start;
        match self {
            Self::Memory(_) => {
                let part = self.part(range.start, usize::try_from(len).unwrap_or(usize::MAX))?;
                write_at(to, range.start, &part)
            }
            Self::File { file, offset, .. } => copy_range(file, offset + range.start, to, range.start, len),
        }
    }
}

/// Overwrites `file` with `new`, which `header` is the header of in a sealed journal.
pub(crate) fn publish(file: &File, new: NewState<'_>, header: &Header) -> Result<(), Stopped> {
    let prepared = Prepared::new(file, new).map_err(Stopped::Before)?;
    mark(file, header, &prepared.before)?;
    prepared.body(file, new).and_then(|()| prepared.head(file, new)).map_err(Stopped::Within)
}

/// Overwrites `file` with `new` while `journal` has the old state. Neither is shorter than a mark.
pub(crate) fn publish_undoable(file: &File, new: NewState<'_>, journal: &Journal) -> Result<(), Stopped> {
    let prepared = Prepared::new(file, new).map_err(Stopped::Before)?;
    mark(file, journal.header(), &prepared.before).map_err(|stopped| match stopped {
        Stopped::Within(error) => Stopped::Marked(error),
        stopped => stopped,
    })?;
    if let Err(error) = prepared.body(file, new) {
        return Err(match settle(file, journal) {
            Ok(()) => Stopped::Before(error),
            Err(_) => Stopped::Marked(error),
        });
    }
    prepared.head(file, new).map_err(Stopped::Within)
}

/// Puts the state of the journal in place, all of it: what became of earlier writes is not known. Any number of
/// interruptions may follow.
pub(crate) fn settle(file: &File, journal: &Journal) -> io::Result<()> {
    let before = Stamp::of(file)?;
    let len = journal.header().len();
    let state = NewState::File { file: journal.file(), offset: journal.offset(), len };
    let whole = Prepared { before, changes: all(state) };
    whole.body(file, state)?;
    whole.head(file, state)
}

/// Puts the mark over the beginning of the file, durably. From here on the state of the journal is the one that is stored.
fn mark(file: &File, header: &Header, before: &Stamp) -> Result<(), Stopped> {
    let head = read_at(file, 0, HEADER).map_err(Stopped::Before)?;
    let Err(error) = write_at(file, 0, header.bytes()).and_then(|()| file.sync_all()) else { return Ok(()) };
    // Behind the mark nothing has changed yet, so the old state is back with its beginning.
    let put_back =
        write_at(file, 0, &head).and_then(|()| file.set_len(before.len())).and_then(|()| file.sync_all());
    Err(if put_back.is_ok() { Stopped::Before(error) } else { Stopped::Within(error) })
}

/// A write for which everything is ready, so that the file bears its mark for as short as can be.
struct Prepared {
    before: Stamp,
    /// What is not the same already, behind the mark.
    changes: Vec<Range<u64>>,
}

impl Prepared {
    fn new(file: &File, new: NewState<'_>) -> io::Result<Self> {
        let before = Stamp::of(file)?;
        reserve(file, new.len().max(HEADER as u64))?;
        let found = changes(file, new)?;
        // A program that writes without the lock may have come between.
        let is_same = Stamp::of(file)? == before;
        let changes = if is_same { found } else { all(new) };
        Ok(Self { before, changes })
    }

    /// Writes everything behind the mark.
    fn body(&self, file: &File, new: NewState<'_>) -> io::Result<()> {
        for change in &self.changes {
            new.write_to(change, file)?;
        }
        file.set_len(new.len())?;
        file.sync_all()
    }

    /// Writes the beginning in place of the mark.
    fn head(&self, file: &File, new: NewState<'_>) -> io::Result<()> {
        write_at(file, 0, &new.part(0, HEADER)?)?;
        touch(file, &self.before)?;
        file.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io;

    use super::{NewState, publish};
    use crate::files::{copy_at, read_at, write_at};
    use crate::journal::{HEADER, Header};
    use crate::recovery::recover;
    use crate::snapshot::{self, Attempted};
    use crate::staged::{Named, Staged};
    use crate::state_path::StatePath;

    /// Lengths around those where the steps differ.
    const LENGTHS: [usize; 8] = [0, 1, 20, 511, 512, 513, 1024, 5000];

    struct Case {
        _folder: tempfile::TempDir,
        place: StatePath,
        file: fs::File,
        journal: Named,
        old: Vec<u8>,
        new: Vec<u8>,
    }

    impl Case {
        fn new(old: usize, new: usize) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let place = StatePath::new(&folder.path().join("terraform.tfstate")).unwrap();
            let (old, new) = (vec![b'o'; old], vec![b'n'; new]);
            fs::write(place.path(), &old).unwrap();
            let file = OpenOptions::new().read(true).write(true).open(place.path()).unwrap();
            let mut staged = Staged::create(place.path(), true).unwrap();
            staged.append(&new).unwrap();
            let journal = staged.name(place.journal(), &file).unwrap();
            Self { _folder: folder, place, file, journal, old, new }
        }

        fn seal(&self) -> Header {
            self.journal.seal().unwrap()
        }

        fn staged(&self) -> NewState<'_> {
            let len = self.new.len() as u64;
            NewState::File { file: self.journal.draft.file(), offset: HEADER as u64, len }
        }

        fn mark(&self) {
            let header = self.seal();
            write_at(&self.file, 0, header.bytes()).unwrap();
        }

        fn body(&self) {
            self.mark();
            if self.new.len() > HEADER {
                copy_at(self.journal.draft.file(), 2 * HEADER as u64, &self.file, HEADER as u64).unwrap();
            }
        }

        fn length(&self) {
            self.body();
            self.file.set_len(self.new.len() as u64).unwrap();
        }

        fn head(&self) {
            self.length();
            write_at(&self.file, 0, &read_at(self.journal.draft.file(), HEADER as u64, HEADER).unwrap())
                .unwrap();
        }

        /// What a reader sees, who may or may not finish the write, and what is in the file after that.
        #[track_caller]
        fn leaves(&mut self, is_new: bool) {
            let expected = if is_new { &self.new } else { &self.old };
            let seen = |place: &StatePath| {
                let found = snapshot::read(place, None, || Ok(Attempted::Done)).unwrap();
                found.map(|snapshot| snapshot.bytes).unwrap_or_default()
            };
            let lengths = (self.old.len(), self.new.len());
            assert!(seen(&self.place) == *expected, "a reader before, {lengths:?}");
            recover(&self.place, &self.file).unwrap();
            assert!(fs::read(self.place.path()).unwrap() == *expected, "the file, {lengths:?}");
            assert!(seen(&self.place) == *expected, "a reader after, {lengths:?}");
            assert!(!self.place.journal().exists());
        }
    }

    /// Stops a write of each length over each other after `step`.
    #[track_caller]
    fn stopped(step: fn(&Case), is_new: bool) {
        for old in LENGTHS {
            for new in LENGTHS.into_iter().filter(|new| *new > 0) {
                let mut case = Case::new(old, new);
                step(&case);
                case.leaves(is_new);
            }
        }
    }

    #[test]
    fn a_write_that_stops_before_its_journal_is_sealed_leaves_the_old_state() {
        stopped(|_| {}, false);
    }

    #[test]
    fn a_write_that_stops_before_its_mark_leaves_the_old_state() {
        stopped(|case| drop(case.seal()), false);
    }

    #[test]
    fn a_write_that_stops_after_its_mark_leaves_the_new_state() {
        stopped(Case::mark, true);
    }

    #[test]
    fn a_write_that_stops_before_it_has_its_length_leaves_the_new_state() {
        stopped(Case::body, true);
    }

    #[test]
    fn a_write_that_stops_with_its_mark_cut_off_leaves_the_new_state() {
        stopped(Case::length, true);
    }

    #[test]
    fn a_write_that_stops_before_its_journal_is_gone_leaves_the_new_state() {
        stopped(Case::head, true);
    }

    #[test]
    fn a_write_that_comes_to_its_end_leaves_the_new_state() {
        stopped(|case| publish(&case.file, case.staged(), &case.seal()).unwrap(), true);
        stopped(|case| publish(&case.file, NewState::Memory(&case.new), &case.seal()).unwrap(), true);
    }

    #[test]
    fn a_state_that_another_program_wrote_meanwhile_is_left_alone() {
        let mut case = Case::new(700, 800);
        case.mark();
        case.old = b"{\"serial\":9}".to_vec();
        fs::write(case.place.path(), &case.old).unwrap();
        case.leaves(false);
    }

    #[test]
    fn a_marked_file_without_its_journal_is_damaged_and_not_a_state() {
        for spoil in [
            (|case: &Case| fs::remove_file(case.place.journal()).unwrap()) as fn(&Case),
            |case| write_at(case.journal.draft.file(), HEADER as u64 + 5, b"X").unwrap(),
            |case| case.journal.draft.file().set_len(HEADER as u64 + 5).unwrap(),
            |case| fs::write(case.place.journal(), b"").unwrap(),
        ] {
            let case = Case::new(700, 800);
            case.mark();
            spoil(&case);
            let error = snapshot::read(&case.place, None, || Ok(Attempted::Done)).err().unwrap();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            assert_eq!(recover(&case.place, &case.file).unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
    }

    #[test]
    fn a_state_that_begins_as_marks_do_is_still_one() {
        for text in [&b"\0"[..], b"\0ground"] {
            let mut case = Case::new(0, 9);
            case.seal();
            case.old = text.to_vec();
            fs::write(case.place.path(), text).unwrap();
            case.leaves(false);
        }
    }
}
