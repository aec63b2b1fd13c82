//! Writing and deleting under the lock: conditions, backup, publication.

use std::fs::{self, File};
use std::io;
use std::sync::Arc;

use groundstate_statemgr::{Error, ErrorKind, Expect, FencingToken, Op, Result, Version, WriteOptions};

use crate::backup_copy::BackupCopy;
use crate::client::{Client, Session};
use crate::digest::{of_bytes, of_file, version};
use crate::failure::failed;
use crate::fence;
use crate::file_lock::FileLock;
use crate::files;
use crate::held_lock::HeldLock;
use crate::in_place::{self, NewState, Stopped};
use crate::journal::HEADER;
use crate::options::Publish;
use crate::parallel::{WORTH_A_THREAD, in_parallel};
use crate::recovery::recover;
use crate::replace;
use crate::slot::Lent;
use crate::snapshot::{self, Attempted};
use crate::staged::Staged;
use crate::stamp::{Stamp, touch};
use crate::undo::UndoJournal;
use crate::wanted::Wanted;

/// The lock that an operation works under: the client's, or one of its own.
struct Turn {
    client: Arc<Client>,
    // The own lock goes before the session does, so that the next operation of this client does not meet it.
    own: Option<HeldLock>,
    session: Lent<Session>,
}

const WRITE: Op = Op::Write;
const DELETE: Op = Op::Delete;

impl Turn {
    /// Checks everything that can be refused, under the lock.
    fn begin(client: &Arc<Client>, op: Op, options: &WriteOptions, wanted: &Wanted) -> Result<Self> {
        if options.force {
            let message = "the store makes no checks that force overrides";
            return Err(Error::unsupported(op, &client.place).because(message));
        }
        let session = client.session.borrow();
        if let Some(token) = options.fence {
            client.check_token(op, &session, token)?;
        }
        let own = match &session.held {
            Some(held) => {
                if !held.lock.file_lock.is_in_place().map_err(client.failed(op))? {
                    return Err(client.replaced(op));
                }
                None
            }
            None => Some(client.brief(op, wanted)?),
        };
        let turn = Self { client: Arc::clone(client), own, session };
        recover(&client.place, turn.file_lock().file()).map_err(client.failed(op))?;
        turn.check_expected(op, &options.expect)?;
        Ok(turn)
    }

    fn file_lock(&self) -> &FileLock {
        let held = self.session.held.as_ref().map(|held| &held.lock);
        let held_lock = self.own.as_ref().or(held);
        &held_lock.expect("without a held lock there is an own one").file_lock
    }

    fn file_lock_mut(&mut self) -> &mut FileLock {
        let held = self.session.held.as_mut().map(|held| &mut held.lock);
        let held_lock = self.own.as_mut().or(held);
        &mut held_lock.expect("without a held lock there is an own one").file_lock
    }

    fn check_expected(&self, op: Op, expect: &Expect) -> Result<()> {
        if *expect == Expect::Any {
            return Ok(());
        }
        let found = match self.client.source() {
            Some(source) => snapshot::read(source, None, || Ok(Attempted::Done))
                .map_err(|error| failed(op, source, error))?
                .map(|snapshot| version(&snapshot.digest)),
            None => self.version(op)?,
        };
        if expect.is_met_by(found.as_ref()) {
            return Ok(());
        }
        let found = found.map_or_else(|| "nothing".to_owned(), |version| format!("version {version}"));
        Err(Error::conflict(op, &self.client.place, expect, found))
    }

    /// The version of what is stored.
    fn version(&self, op: Op) -> Result<Option<Version>> {
        let stamp = Stamp::of(self.file_lock().file()).map_err(self.client.failed(op))?;
        match stamp.len() {
            0 => Ok(None),
            _ => self.digest(op, &stamp).map(|digest| Some(version(&digest))),
        }
    }

    fn digest(&self, op: Op, stamp: &Stamp) -> Result<String> {
        if let Some(digest) = self.client.known_digest(stamp) {
            return Ok(digest);
        }
        let (digest, _) = of_file(self.file_lock().file(), 0).map_err(self.client.failed(op))?;
        self.client.remember(*stamp, &digest);
        Ok(digest)
    }

    /// Whether these very bytes are stored. Their digest is made if it takes one to tell.
    fn has(&self, bytes: &[u8], digest: &mut Option<String>) -> Result<bool> {
        let stamp = Stamp::of(self.file_lock().file()).map_err(self.client.failed(WRITE))?;
        if stamp.len() != bytes.len() as u64 {
            return Ok(false);
        }
        let digest = digest.get_or_insert_with(|| of_bytes(bytes));
        Ok(self.digest(WRITE, &stamp)? == *digest)
    }

    /// Keeps what is about to be overwritten, once in a session. Gives the copy if there is one.
    fn back_up(&mut self, op: Op) -> Result<Option<File>> {
        let early = self.session.early.take();
        let len = Stamp::of(self.file_lock().file()).map_err(self.client.failed(op))?.len();
        let is_due = len > 0 && !self.session.backed_up;
        let Some(backup) = self.client.backup.as_ref().filter(|_| is_due) else { return Ok(None) };
        if backup.is_same_as(&self.client.place) {
            let message = "the backup would overwrite the state, give it another path";
            return Err(Error::new(ErrorKind::Invalid, op, &self.client.place).because(message));
        }
        if self.client.place.keeps(backup) {
            let message = "the backup would have the name of a lock or a journal, give it another path";
            return Err(Error::new(ErrorKind::Invalid, op, &self.client.place).because(message));
        }
        let from = self.file_lock().file();
        let made = match early.and_then(|early| early.of(from)) {
            Some(staged) => replace::publish_copy(staged, from, backup),
            None => replace::copy(from, backup),
        };
        let copy = made.map_err(|error| failed(Op::Other("make a backup of"), &self.client.place, error))?;
        self.session.backed_up = true;
        Ok(Some(copy))
    }

    /// Makes the backup the journal of this write; none where that cannot be.
    fn undo_journal(&self, backup: File) -> Result<Option<UndoJournal>> {
        let file = self.file_lock().file();
        let stamp = Stamp::of(file).map_err(self.client.failed(WRITE))?;
        // What is shorter than a mark has no room for one.
        if stamp.len() < HEADER as u64 {
            return Ok(None);
        }
        let digest = self.digest(WRITE, &stamp)?;
        // A redo journal does where the backup cannot have a second name.
        Ok(UndoJournal::new(&self.client.place, file, backup, digest, stamp.len()).ok())
    }

    fn stopped(&self, op: Op, stopped: Stopped) -> Error {
        match stopped {
            Stopped::Before(error) => failed(op, &self.client.place, error),
            Stopped::Marked(error) => failed(op, &self.client.place, error).because(
                "it was interrupted half way, the next operation on the file restores the old state",
            ),
            Stopped::Within(error) => {
                let message = "it was interrupted half way, the next operation on the file settles it";
                Error::new(ErrorKind::Ambiguous, op, &self.client.place).because(message).with_source(error)
            }
        }
    }
}

impl Client {
    /// Refuses tokens other than that of the lock this client holds.
    ///
    /// While it is held no other client can have been granted a later one, unless the lock was lost where locks can be: on
    /// a file system that is shared by several hosts.
    fn check_token(&self, op: Op, session: &Session, token: FencingToken) -> Result<()> {
        if !self.options.fencing {
            return Err(Error::unsupported(op, &self.place));
        }
        let newest = fence::newest(&self.place).map_err(self.failed(op))?;
        let own = session.held.as_ref().and_then(|held| held.token);
        if own == Some(token) && newest == own {
            return Ok(());
        }
        let found = match newest.filter(|newest| *newest != token) {
            Some(newest) => format!("token {newest}"),
            None => "a lock that was released".to_owned(),
        };
        Err(Error::new(ErrorKind::LockLost, op, &self.place)
            .expected_and_found(format!("token {token}"), found))
    }

    /// Puts a new state on the disk before anything is locked, for which there can be any wait. Nothing where the backup will be
    /// the journal: then it is written once, in its place.
    fn stage(&self, bytes: &[u8]) -> Result<Option<Staged>> {
        let target = self.place.target();
        let is_long = |len: u64| len >= HEADER as u64;
        let has_undo = self.options.publish == Publish::InPlace
            && self.backup.is_some()
            && is_long(bytes.len() as u64)
            && fs::metadata(&target).is_ok_and(|meta| is_long(meta.len()))
            && !self.session.borrow().backed_up;
        let staged = files::exists(&target).and_then(|_| match has_undo {
            true => Ok(None),
            false => self.staged(bytes).map(Some),
        });
        staged.map_err(self.failed(WRITE))
    }

    /// The state as the journal it is to become, or as the file that takes the place of the old one.
    fn staged(&self, bytes: &[u8]) -> io::Result<Staged> {
        let mut staged = Staged::create(&self.place.target(), self.options.publish == Publish::InPlace)?;
        staged.append(bytes)?;
        Ok(staged)
    }

    /// Begins to copy what is stored, if a backup will be due: who takes the lock is about to change it.
    pub(crate) fn begin_backup(&self, session: &mut Session) {
        let is_large = |meta: fs::Metadata| meta.len() >= WORTH_A_THREAD as u64;
        if let Some(backup) = self.backup.as_ref().filter(|_| !session.backed_up)
            && fs::metadata(self.place.target()).is_ok_and(is_large)
        {
            session.early = BackupCopy::begin(&self.place, backup);
        }
    }

    /// Makes a state the stored one if `options` allow it.
    pub(crate) fn write(
        self: &Arc<Self>,
        bytes: &[u8],
        options: &WriteOptions,
        wanted: &Wanted,
    ) -> Result<Version> {
        let staged = self.stage(bytes)?;
        let mut turn = Turn::begin(self, WRITE, options, wanted)?;
        let mut digest = staged.as_ref().map(Staged::digest);
        if turn.has(bytes, &mut digest)? {
            // It only has to be durable.
            turn.file_lock().file().sync_all().map_err(self.failed(WRITE))?;
        } else {
            let aside = || digest = digest.take().or_else(|| Some(of_bytes(bytes)));
            in_parallel(bytes.len(), aside, || self.publish(&mut turn, bytes, staged))?;
        }
        let digest = digest.unwrap_or_else(|| of_bytes(bytes));
        self.has_written();
        if let Ok(stamp) = Stamp::of(turn.file_lock().file()) {
            self.remember(stamp, &digest);
        }
        Ok(version(&digest))
    }

    /// Keeps what is stored, and puts the new state in its place.
    fn publish(&self, turn: &mut Turn, bytes: &[u8], staged: Option<Staged>) -> Result<()> {
        let backup = turn.back_up(WRITE)?;
        let staged = || staged.map_or_else(|| self.staged(bytes), Ok).map_err(Stopped::Before);
        let published = match self.options.publish {
            Publish::InPlace => {
                let undo = match backup.filter(|_| bytes.len() >= HEADER) {
                    Some(backup) => turn.undo_journal(backup)?,
                    None => None,
                };
                self.forget(turn.session.held.is_some());
                match undo {
                    Some(undo) => publish_undoable(turn, bytes, undo),
                    None => staged().and_then(|staged| self.publish_in_place(turn, bytes, staged)),
                }
            }
            Publish::Rename => {
                self.forget(turn.session.held.is_some());
                staged().and_then(|staged| replace::publish(&self.place, turn.file_lock_mut(), staged))
            }
        };
        published.map_err(|stopped| turn.stopped(WRITE, stopped))
    }

    fn publish_in_place(
        &self,
        turn: &Turn,
        bytes: &[u8],
        staged: Staged,
    ) -> std::result::Result<(), Stopped> {
        let file = turn.file_lock().file();
        let journal = staged.name(self.place.journal(), file).map_err(Stopped::Before)?;
        let header = journal.seal().map_err(Stopped::Before)?;
        let published = in_place::publish(file, NewState::Memory(bytes), &header);
        if let Err(Stopped::Within(_)) = published {
            drop(journal.draft.keep());
        }
        published
    }

    /// Whether there is no file, and no condition that may be broken: then there is none to lock, and none is made.
    fn has_nothing_to_delete(&self, options: &WriteOptions) -> Result<bool> {
        let is_plain = !options.force && options.fence.is_none() && self.source().is_none();
        let is_met = options.expect.is_met_by(None) && self.session.borrow().held.is_none();
        Ok(is_plain && is_met && !files::exists(&self.place.target()).map_err(self.failed(DELETE))?)
    }

    pub(crate) fn delete(self: &Arc<Self>, options: &WriteOptions, wanted: &Wanted) -> Result<()> {
        if self.has_nothing_to_delete(options)? {
            return Ok(());
        }
        let mut turn = Turn::begin(self, DELETE, options, wanted)?;
        turn.back_up(DELETE)?;
        self.forget(turn.session.held.is_some());
        let emptied = match self.options.publish {
            // Cutting it off is one step for the file system, and keeps the inode for those who wait for the lock.
            Publish::InPlace => {
                let file = turn.file_lock().file();
                let before = Stamp::of(file).map_err(self.failed(DELETE))?;
                file.set_len(0).map_err(Stopped::Before).and_then(|()| {
                    touch(file, &before).and_then(|()| file.sync_all()).map_err(Stopped::Within)
                })
            }
            Publish::Rename => {
                let empty = Staged::create(&self.place.target(), false).map_err(self.failed(DELETE))?;
                replace::publish(&self.place, turn.file_lock_mut(), empty)
            }
        };
        emptied.map_err(|stopped| turn.stopped(DELETE, stopped))?;
        self.has_written();
        // The empty file goes with the lock.
        turn.file_lock_mut().forget_origin();
        Ok(())
    }
}

/// Writes in place, behind a backup that is the journal.
fn publish_undoable(turn: &Turn, bytes: &[u8], undo: UndoJournal) -> std::result::Result<(), Stopped> {
    let new = NewState::Memory(bytes);
    let published = in_place::publish_undoable(turn.file_lock().file(), new, undo.journal());
    // Dropping the journal removes it, before the lock is released: its next holder must not find one.
    if let Err(Stopped::Marked(_) | Stopped::Within(_)) = published {
        undo.keep();
    }
    published
}
