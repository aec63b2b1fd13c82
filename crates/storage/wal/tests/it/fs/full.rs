//! Disks without room: an error that loses nothing that was acknowledged, and the writer goes on when there is room.
#![expect(clippy::print_stdout, reason = "says what was not run")]

use std::fs::{self, OpenOptions as FileOptions};
use std::io::Write;
use std::process::{Command, Stdio};

use groundstate_conformance::block_on;
use groundstate_wal::fs::{FsJournal, FsJournalOptions};
use groundstate_wal::{ErrorKind, JournalStore, JournalWriter, OpenOptions, Record, read_all};
use tempfile::TempDir;

use super::support::names;

const PAGE: usize = 4096;

/// A small file system in memory; only the superuser can make one.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn new() -> Option<Self> {
        Self::with("size=1m")
    }

    fn with(limits: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", limits, "none"]).arg(folder.path()).stderr(Stdio::null());
        if mount.status().is_ok_and(|status| status.success()) {
            return Some(Self(folder));
        }
        println!("not run: a small file system cannot be mounted here");
        None
    }

    fn journal(&self) -> FsJournal {
        let options = FsJournalOptions::default().segment_bytes(9_000);
        FsJournal::with_options(self.0.path().join("journal"), options)
    }

    /// Leaves this much room.
    fn fill_up_to(&self, free: usize) {
        // A process that another test is just starting has the filler before still open, and so keeps its room.
        let len = std::iter::repeat_with(|| self.fill()).find(|len| *len > 600_000).unwrap();
        let file = FileOptions::new().write(true).open(self.0.path().join("filler")).unwrap();
        file.set_len((len & !(PAGE as u64 - 1)) - free as u64).unwrap();
    }

    /// Writes a filler until there is no room, and says how long it is.
    fn fill(&self) -> u64 {
        self.make_room();
        let path = self.0.path().join("filler");
        let mut file = FileOptions::new().append(true).create(true).open(&path).unwrap();
        while file.write_all(&[0; PAGE]).is_ok() {}
        drop(file);
        fs::metadata(path).unwrap().len()
    }

    fn make_room(&self) {
        drop(fs::remove_file(self.0.path().join("filler")));
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Without this the folder stays; nothing can be done about it here.
        drop(Command::new("umount").arg("-l").arg(self.0.path()).status());
    }
}

fn record(number: usize) -> Record {
    Record::from(format!("{number} {}", "x".repeat(700)).into_bytes())
}

#[track_caller]
fn assert_stored(journal: &FsJournal, acknowledged: &[Record], what: &str) {
    let contents = block_on(read_all(journal)).unwrap().expect("an epoch");
    assert!(contents.records == acknowledged, "{what}: {} records", contents.records.len());
    assert!(contents.torn.is_none(), "{what}");
}

/// Appends until there is no room.
fn append_until_full(writer: &dyn JournalWriter, acknowledged: &mut Vec<Record>) {
    loop {
        let next = record(acknowledged.len());
        match block_on(writer.append(std::slice::from_ref(&next))) {
            Ok(_) => acknowledged.push(next),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
                assert!(error.to_string().contains("the disk is full"), "{error}");
                return;
            }
        }
    }
}

#[test]
fn an_append_on_a_full_disk_loses_nothing_and_the_writer_goes_on_when_there_is_room() {
    let Some(disk) = SmallDisk::new() else { return };
    let journal = disk.journal();
    let writer = block_on(journal.open(&OpenOptions::new("ann"))).unwrap();
    for pages in 0..24 {
        disk.make_room();
        block_on(writer.begin(&record(0))).unwrap();
        let mut acknowledged = Vec::new();
        disk.fill_up_to(pages * PAGE);
        for _ in 0..2 {
            append_until_full(&*writer, &mut acknowledged);
            assert_stored(&journal, &acknowledged, &format!("{pages} pages, full"));
        }
        let long = vec![record(7); 40];
        assert_eq!(block_on(writer.append(&long)).unwrap_err().kind(), ErrorKind::Unavailable);
        assert_stored(&journal, &acknowledged, &format!("{pages} pages, a long batch"));
        disk.make_room();
        block_on(writer.append(&long)).unwrap();
        acknowledged.extend(long);
        assert_stored(&journal, &acknowledged, &format!("{pages} pages, with room again"));
    }
}

#[test]
fn beginning_and_clearing_on_a_full_disk_leave_the_epoch_as_it_was() {
    let Some(disk) = SmallDisk::new() else { return };
    let journal = disk.journal();
    let writer = block_on(journal.open(&OpenOptions::new("ann"))).unwrap();
    let (base, new_base) = (record(0), Record::from(vec![b'n'; 3 * PAGE - 300]));
    let mut failures = 0;
    for pages in 0..6 {
        disk.make_room();
        block_on(writer.begin(&base)).unwrap();
        let acknowledged = [record(1), record(2)];
        block_on(writer.append(&acknowledged)).unwrap();
        disk.fill_up_to(pages * PAGE);
        match block_on(writer.begin(&new_base)) {
            Ok(_) => assert_stored(&journal, &[], &format!("{pages} pages, begun")),
            Err(error) => {
                failures += 1;
                assert_eq!(error.kind(), ErrorKind::Unavailable, "{pages} pages: {error}");
                assert!(error.to_string().contains("the disk is full"), "{error}");
                let bases = names(journal.folder()).into_iter().filter(|name| name.ends_with(".base"));
                assert_eq!(bases.count(), 1, "{pages} pages: the base that was not begun is gone");
                assert_stored(&journal, &acknowledged, &format!("{pages} pages, not begun"));
                disk.fill_up_to(0);
                assert_eq!(block_on(writer.clear()).unwrap_err().kind(), ErrorKind::Unavailable);
                assert_stored(&journal, &acknowledged, &format!("{pages} pages, not cleared"));
            }
        }
        disk.make_room();
        block_on(writer.append(&[record(3)])).unwrap();
    }
    // Room for the base and not for the head, among others.
    assert!((4..6).contains(&failures), "{failures} of 6 epochs failed to begin");
    block_on(writer.clear()).unwrap();
    block_on(writer.close()).unwrap();
    assert!(!journal.folder().exists(), "what failed to begin leaves nothing behind");
}

#[test]
fn a_writer_that_finds_no_room_to_take_over_disturbs_no_other() {
    let Some(disk) = SmallDisk::new() else { return };
    let journal = disk.journal();
    let writer = block_on(journal.open(&OpenOptions::new("ann"))).unwrap();
    block_on(writer.begin(&record(0))).unwrap();
    let mut acknowledged = Vec::new();
    disk.fill_up_to(3 * PAGE);
    append_until_full(&*writer, &mut acknowledged);
    let greedy = OpenOptions::new("bob").take_over(true);
    assert_eq!(block_on(journal.open(&greedy)).unwrap_err().kind(), ErrorKind::Unavailable);
    let error = block_on(journal.open(&OpenOptions::new("carol"))).unwrap_err();
    assert!(error.kind() == ErrorKind::Locked && error.to_string().contains("ann"), "{error}");
    disk.make_room();
    block_on(writer.append(&[record(acknowledged.len())])).unwrap();
    acknowledged.push(record(acknowledged.len()));
    drop(writer);
    let next = block_on(journal.open(&greedy)).unwrap();
    assert_stored(&journal, &acknowledged, "after a takeover");
    block_on(next.append(&[record(acknowledged.len())])).unwrap();
}

#[test]
fn a_takeover_for_which_there_is_too_little_room_says_so_and_loses_nothing() {
    let Some(disk) = SmallDisk::new() else { return };
    let journal = disk.journal();
    let greedy = OpenOptions::new("bob").take_over(true);
    let acknowledged = [record(0), record(1)];
    let writer = block_on(journal.open(&greedy)).unwrap();
    block_on(writer.begin(&record(0))).unwrap();
    block_on(writer.append(&acknowledged)).unwrap();
    let mut failures = 0;
    for pages in 0..6 {
        disk.fill_up_to(pages * PAGE);
        if let Err(error) = block_on(journal.open(&greedy)) {
            failures += 1;
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{pages} pages: {error}");
            assert!(error.to_string().contains("the disk is full"), "{pages} pages: {error}");
        }
        assert_stored(&journal, &acknowledged, &format!("{pages} pages"));
        disk.make_room();
        drop(block_on(journal.open(&greedy)).unwrap());
        assert_stored(&journal, &acknowledged, &format!("{pages} pages, with room again"));
    }
    // Room for the writer and not for its segment, among others.
    assert!((2..6).contains(&failures), "{failures} of 6 takeovers failed");
}

#[test]
fn a_writer_for_whose_file_there_is_no_room_says_so_at_once() {
    let Some(disk) = SmallDisk::with("size=1m,nr_inodes=20") else { return };
    let journal = disk.journal();
    let writer = block_on(journal.open(&OpenOptions::new("ann"))).unwrap();
    block_on(writer.begin(&record(0))).unwrap();
    let fillers = (0..20).map(|number| disk.0.path().join(format!("filler {number}")));
    assert!(fillers.map(fs::File::create).any(|made| made.is_err()), "no file can be made any more");
    let error = block_on(journal.open(&OpenOptions::new("bob").take_over(true))).unwrap_err();
    let reason = "the disk is full, what was stored is whole";
    assert_eq!(
        (error.kind(), error.to_string()),
        (ErrorKind::Unavailable, format!("cannot open {journal}: {reason}"))
    );
    assert_stored(&journal, &[], "without room");
}
