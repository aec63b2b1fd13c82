//! What the one who may write does with the files: taking over, beginning epochs, appending, clearing.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::frame::{FrameKind, frame_len, push_frame};
use crate::store::is_base;
use crate::{Ack, Cursor, Epoch, Error, ErrorKind, Op, Position, Record, Result};
use groundstate_durable::{Taken, Unpublished, create_new, is_named, remove, sync_folder};

use super::failure::failed;
use super::files::{create_folder, publish};
use super::names::{self, Listing};
use super::scan::{Tail, tail};
use super::segment::{Opening, ReadFailure, head_bytes, read_head, salt};

/// How often to look again when other writers come and go at the same time.
const ATTEMPTS: usize = 64;

/// The files of a journal, in the hands of its writer.
#[derive(Debug)]
pub(crate) struct Keeper {
    folder: PathBuf,
    segment_bytes: u64,
    /// The writer's number, and its file, whose name is gone as soon as another writer takes over.
    number: u64,
    own: File,
    /// The newest epoch that was ever seen.
    newest: u64,
    current: Option<Current>,
    /// What ended this writer.
    over: Option<ErrorKind>,
}

/// The epoch that is written.
#[derive(Debug)]
struct Current {
    epoch: u64,
    next: Position,
    /// The last segment, and how many of its bytes count.
    last: Option<(u32, u64)>,
    /// The last segment, if it is this writer's.
    file: Option<File>,
}

impl Keeper {
    /// Takes over from all writers before.
    pub(crate) fn open(folder: &Path, segment_bytes: u64, owner: &str, take_over: bool) -> Result<Self> {
        let target = folder.display();
        let io = |error| failed(Op::Open, &target, error);
        create_folder(folder).map_err(io)?;
        let mut listing = Listing::read(folder).map_err(io)?;
        if let Some(newest) = listing.writers.last().filter(|_| !take_over) {
            refuse_living(folder, *newest)?;
        }
        let (number, own) = loop {
            let number = listing.writers.last().map_or(1, |last| last.saturating_add(1));
            match create_new(&folder.join(names::writer(number))) {
                Ok(file) => break (number, file),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    listing = Listing::read(folder).map_err(io)?;
                }
                Err(error) => return Err(io(error)),
            }
        };
        // A lock that cannot be had only means that others cannot tell whether this writer lives.
        drop(fs2::FileExt::try_lock_exclusive(&own));
        let said = format!("{owner}\nin process {}\n", std::process::id());
        if let Err(error) = (&own).write_all(said.as_bytes()).and_then(|()| own.sync_all()) {
            // Left there, it would hide from others that the writer before it lives.
            drop(remove(&folder.join(names::writer(number))));
            return Err(io(error));
        }
        let mut keeper = Self {
            folder: folder.to_owned(),
            segment_bytes,
            number,
            own,
            newest: 0,
            current: None,
            over: None,
        };
        keeper.take_over()?;
        Ok(keeper)
    }

    /// Fences the others off, and only then finds out what is stored.
    fn take_over(&mut self) -> Result<()> {
        let io = |error| failed(Op::Open, self.folder.display(), error);
        let listing = Listing::read(&self.folder).map_err(io)?;
        if listing.writers.last().is_some_and(|last| *last > self.number) {
            // Since the numbers were listed, newer writers removed the one of this number, which was free again: none of them
            // looks for it any more.
            drop(remove(&self.folder.join(names::writer(self.number))));
            return Err(self.error(ErrorKind::Fenced, Op::Open));
        }
        for older in listing.writers.range(..self.number) {
            remove(&self.folder.join(names::writer(*older))).map_err(io)?;
        }
        sync_folder(&self.folder).map_err(io)?;
        self.check(Op::Open)?;
        let mut before = None;
        for _ in 0..ATTEMPTS {
            let listing = Listing::read(&self.folder);
            let listing = listing.map_err(|error| failed(Op::Open, self.folder.display(), error))?;
            let Err(failure) = self.go_on(&listing) else { return Ok(()) };
            // A newer writer removes what this one reads and prepares.
            self.check(Op::Open)?;
            match failure {
                // A writer that is refused by now has just made a file.
                ReadFailure::Gone if before.as_ref() != Some(&listing) => before = Some(listing),
                ReadFailure::Gone => return Err(missing(&self.folder, Op::Open, &listing)),
                ReadFailure::Io(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                failure => return Err(failure_at(&self.folder, Op::Open, failure)),
            }
        }
        Err(self.error(ErrorKind::Unavailable, Op::Open).because("other writers come and go again and again"))
    }

    /// Finds the epoch that counts and where it ends, and says so in files of its own.
    fn go_on(&mut self, listing: &Listing) -> Result<(), ReadFailure> {
        // Now the list holds nothing of a writer that comes later, whose files are not to be built on, nor removed.
        if !is_named(&self.folder.join(names::writer(self.number)), &self.own)? {
            return Err(ReadFailure::Gone);
        }
        if listing.is_headless() {
            return Err(ReadFailure::Gone);
        }
        self.newest = listing.bases.last().copied().unwrap_or(0);
        let said = listing.heads.last().copied();
        let epoch = said.map_or(Ok(None), |writer| read_head(&self.folder, writer))?;
        self.current = None;
        if let Some(epoch) = epoch {
            if !listing.bases.contains(&epoch) {
                return Err(ReadFailure::Gone);
            }
            let Tail { segment, end, next } = tail(&self.folder, listing, epoch)?;
            if let Some(number) = segment {
                // What was read may not be durable yet, if its writer was killed before it could sync.
                File::open(self.folder.join(names::segment(epoch, number)))?.sync_all()?;
            }
            self.current =
                Some(Current { epoch, next, last: segment.map(|number| (number, end)), file: None });
            // What a refused writer still puts behind the end is cut off by this.
            self.begin_segment().map_err(|unpublished| unpublished.error)?;
        }
        // Said also where nothing is stored, so that a refused writer that reports late is not believed.
        self.say_head(epoch).map_err(|unpublished| unpublished.error)?;
        // What was only begun, or is over, counts for nothing; it goes with a later attempt if not with this one.
        drop(self.forget(listing, epoch.unwrap_or(u64::MAX)));
        for older in listing.drafts.range(..self.number) {
            drop(remove(&self.folder.join(names::draft(*older))));
        }
        Ok(())
    }

    /// Says which epoch counts.
    fn say_head(&self, epoch: Option<u64>) -> Result<(), Unpublished> {
        let bytes = head_bytes(self.number, epoch);
        let (draft, name) = (names::draft(self.number), names::head(self.number));
        publish(&self.folder, &draft, &name, &bytes, Taken::Replace).map(drop)
    }

    /// Which writer it is: larger than all before.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Where the next record will stand.
    pub(crate) fn position(&self) -> Option<Cursor> {
        self.current.as_ref().map(|current| Cursor::new(Epoch::new(current.epoch), current.next))
    }

    /// Ends what there is and begins anew with this base.
    pub(crate) fn begin(&mut self, base: &Record) -> Result<Epoch> {
        self.check(Op::Begin)?;
        let epoch = self.put_base(base)?;
        if let Err(unpublished) = self.say_head(Some(epoch)) {
            if !unpublished.may_be_named {
                drop(remove(&self.folder.join(names::base(epoch))));
            }
            return Err(self.unpublished(Op::Begin, unpublished));
        }
        // A writer that has taken over meanwhile may have read the epoch before.
        self.check(Op::Begin)?;
        self.current = Some(Current { epoch, next: Position::START, last: None, file: None });
        drop(Listing::read(&self.folder).and_then(|listing| self.forget(&listing, epoch)));
        Ok(Epoch::new(epoch))
    }

    /// Stores a base under an unused number.
    fn put_base(&mut self, base: &Record) -> Result<u64> {
        if !is_base(base) {
            return Err(self.error(ErrorKind::Invalid, Op::Begin).because("its base is too long"));
        }
        for _ in 0..ATTEMPTS {
            self.newest = self.newest.saturating_add(1);
            let (epoch, mut bytes) = (self.newest, Vec::new());
            push_frame(&mut bytes, FrameKind::Base, Position::START, &[base], &salt(epoch, u32::MAX))
                .map_err(|_| self.error(ErrorKind::Invalid, Op::Begin).because("its base is too long"))?;
            let (draft, name) = (names::draft(self.number), names::base(epoch));
            match publish(&self.folder, &draft, &name, &bytes, Taken::Refuse) {
                Ok(_) => return Ok(epoch),
                Err(unpublished) if unpublished.error.kind() == io::ErrorKind::AlreadyExists => {}
                // Named or not, it counts for nothing until the head says so.
                Err(unpublished) => return Err(self.undone(Op::Begin, unpublished.error)),
            }
        }
        Err(self
            .error(ErrorKind::Unavailable, Op::Begin)
            .because("other writers come and go again and again"))
    }

    /// Appends batches as one, with one sync for all. Gives the position of the first record.
    pub(crate) fn append(&mut self, records: &[&Record]) -> Result<Ack> {
        self.check(Op::Append)?;
        let Some(current) = &self.current else { return Err(self.error(ErrorKind::NoEpoch, Op::Append)) };
        let (epoch, first) = (current.epoch, current.next);
        let receipt = Ack::new(Epoch::new(epoch), first, first.plus(records.len() as u64));
        if records.is_empty() {
            return Ok(receipt);
        }
        let full = current.last.is_some_and(|(_, end)| end > self.segment_bytes);
        if full || current.file.is_none() {
            self.rotate()?;
        }
        self.put(FrameKind::Batch, records)?;
        // Read before the newer writer reads what is stored, or not acknowledged.
        self.check(Op::Append)?;
        if let Some(current) = &mut self.current {
            current.next = receipt.next;
        }
        Ok(receipt)
    }

    /// Writes a frame and syncs it.
    fn put(&mut self, kind: FrameKind, records: &[&Record]) -> Result<()> {
        let Some(Current { epoch, next, last: Some((number, end)), file: Some(file) }) = &mut self.current
        else {
            return Err(self.error(ErrorKind::Internal, Op::Append));
        };
        let mut bytes = Vec::with_capacity(frame_len(records.iter().copied()));
        push_frame(&mut bytes, kind, *next, records, &salt(*epoch, *number)).map_err(|_| {
            let error = Error::new(ErrorKind::Invalid, Op::Append, self.folder.display());
            error.because("the batch is too long, split it")
        })?;
        let before = *end;
        let written = file.write_all(&bytes);
        let is_written = written.is_ok();
        let Err(error) = written.and_then(|()| file.sync_data()) else {
            *end = before.saturating_add(bytes.len() as u64);
            return Ok(());
        };
        // The part that was written goes, so that the next batch stands where this one would have.
        let back = file.set_len(before).and_then(|()| io::Seek::seek(file, io::SeekFrom::Start(before)));
        // After a sync that failed nothing tells what the disk holds.
        if is_written || back.is_err() {
            return Err(self.end(Op::Append, error));
        }
        Err(failed(Op::Append, self.folder.display(), error))
    }

    /// Begins the next segment.
    fn rotate(&mut self) -> Result<()> {
        match self.begin_segment() {
            // Only a writer that has taken over begins segments of this epoch.
            Err(unpublished) if unpublished.error.kind() == io::ErrorKind::AlreadyExists => {
                self.over = Some(ErrorKind::Fenced);
                Err(self.error(ErrorKind::Fenced, Op::Append))
            }
            outcome => outcome.map_err(|unpublished| self.unpublished(Op::Append, unpublished)),
        }
    }

    /// Makes a segment that says where the one before it ends.
    fn begin_segment(&mut self) -> Result<(), Unpublished> {
        let Some(current) = &mut self.current else {
            return Err(io::Error::from(io::ErrorKind::NotFound).into());
        };
        let (number, previous_end) = match current.last {
            Some((u32::MAX, _)) => return Err(io::Error::other("there are too many segments").into()),
            Some((last, end)) => (last + 1, end),
            None => (0, 0),
        };
        let bytes = Opening { first: current.next, previous_end }.to_bytes(&salt(current.epoch, number));
        let (draft, name) = (names::draft(self.number), names::segment(current.epoch, number));
        let file = publish(&self.folder, &draft, &name, &bytes, Taken::Refuse)?;
        current.last = Some((number, bytes.len() as u64));
        current.file = Some(file);
        Ok(())
    }

    /// Ends the epoch.
    pub(crate) fn clear(&mut self) -> Result<()> {
        self.check(Op::Clear)?;
        let Some(epoch) = self.current.as_ref().map(|current| current.epoch) else { return Ok(()) };
        if let Err(unpublished) = self.say_head(None) {
            return Err(self.unpublished(Op::Clear, unpublished));
        }
        self.check(Op::Clear)?;
        self.current = None;
        let after = epoch.saturating_add(1);
        drop(Listing::read(&self.folder).and_then(|listing| self.forget(&listing, after)));
        Ok(())
    }

    /// Ends the writer: with a mark behind the last batch, so that damage to it is told from a crash. Where nothing is stored,
    /// nothing stays.
    pub(crate) fn close(&mut self) -> Result<()> {
        if self.check(Op::Close).is_err() {
            return Ok(());
        }
        let has_batches = self.current.as_ref().is_some_and(|current| current.file.is_some());
        let marked = if has_batches { self.put(FrameKind::End, &[]) } else { Ok(()) };
        self.over = Some(ErrorKind::Closed);
        if self.current.is_none() {
            // Segments that could not be removed would look as if their head were lost.
            let has_segments = Listing::read(&self.folder).is_ok_and(|listing| !listing.segments.is_empty());
            if !has_segments {
                drop(remove(&self.folder.join(names::head(self.number))));
            }
            drop(remove(&self.folder.join(names::writer(self.number))));
            // Fails, and is meant to, if there is anything else in it.
            drop(std::fs::remove_dir(&self.folder));
        }
        drop(fs2::FileExt::unlock(&self.own));
        marked
    }

    /// Removes the files of epochs before `epoch`, and what older writers have said. Later ones may belong to a newer writer.
    fn forget(&self, listing: &Listing, epoch: u64) -> io::Result<()> {
        for older in listing.heads.range(..self.number) {
            remove(&self.folder.join(names::head(*older)))?;
        }
        for older in listing.bases.range(..epoch) {
            remove(&self.folder.join(names::base(*older)))?;
        }
        for (older, numbers) in listing.segments.range(..epoch) {
            for number in numbers {
                remove(&self.folder.join(names::segment(*older, *number)))?;
            }
        }
        Ok(())
    }

    /// Fails if this writer is over, or was fenced off.
    fn check(&mut self, op: Op) -> Result<()> {
        if let Some(kind) = self.over {
            return Err(self.error(kind, op));
        }
        match is_named(&self.folder.join(names::writer(self.number)), &self.own) {
            Ok(true) => Ok(()),
            Ok(false) => {
                self.over = Some(ErrorKind::Fenced);
                Err(self.error(ErrorKind::Fenced, op))
            }
            Err(error) => Err(self.end(op, error)),
        }
    }

    /// Ends the writer because the outcome is unknown.
    fn end(&mut self, op: Op, error: io::Error) -> Error {
        self.over = Some(ErrorKind::Closed);
        self.error(ErrorKind::Ambiguous, op).with_source(error)
    }

    /// The error of a file that did not get its name. The writer goes on if that is certain: a full disk may have room later.
    fn unpublished(&mut self, op: Op, unpublished: Unpublished) -> Error {
        if unpublished.may_be_named {
            return self.end(op, unpublished.error);
        }
        self.undone(op, unpublished.error)
    }

    /// The error of a step that did not happen. A newer writer removes what this one prepares, so that it is not found.
    fn undone(&mut self, op: Op, error: io::Error) -> Error {
        self.check(op).err().unwrap_or_else(|| failed(op, self.folder.display(), error))
    }

    fn error(&self, kind: ErrorKind, op: Op) -> Error {
        Error::new(kind, op, self.folder.display())
    }
}

/// The error of what was found while reading.
pub(crate) fn failure_at(folder: &Path, op: Op, failure: ReadFailure) -> Error {
    match failure {
        ReadFailure::Io(error) => failed(op, folder.display(), error),
        ReadFailure::Gone => Error::new(ErrorKind::NoEpoch, op, folder.display()),
        ReadFailure::Damaged(place, what) => {
            Error::new(ErrorKind::Corrupt, op, folder.display()).because(what).at(place)
        }
    }
}

/// The error of a journal in which a file is looked for that no other process is replacing.
pub(crate) fn missing(folder: &Path, op: Op, listing: &Listing) -> Error {
    let what = match listing.is_headless() {
        true => "the file `head-…` is missing, which says what of its records counts",
        false => "the base of its records is missing",
    };
    Error::new(ErrorKind::Corrupt, op, folder.display()).because(what)
}

/// Refuses if the newest writer lives, or if that cannot be told because its file cannot be opened.
fn refuse_living(folder: &Path, newest: u64) -> Result<()> {
    let path = folder.join(names::writer(newest));
    let file = match File::open(&path) {
        Ok(file) => file,
        // It has just been closed, or another writer has taken over.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(Op::Open, path.display(), error)),
    };
    match fs2::FileExt::try_lock_shared(&file) {
        Ok(()) => {
            drop(fs2::FileExt::unlock(&file));
            Ok(())
        }
        Err(error) if error.raw_os_error() == fs2::lock_contended_error().raw_os_error() => {
            let said = std::fs::read_to_string(&path).unwrap_or_default();
            let who = said.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
            let who = if who.is_empty() { "another process".to_owned() } else { who };
            let message = format!("{who} has it open for writing, wait or take over");
            Err(Error::new(ErrorKind::Locked, Op::Open, folder.display()).because(message))
        }
        // Without locks this cannot be told, and fencing keeps the two apart.
        Err(_) => Ok(()),
    }
}
