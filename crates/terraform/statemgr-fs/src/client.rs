//! A client of one state file, as calls that wait for the disk.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use groundstate_common::Clock;
use groundstate_statemgr::{Error, FencingToken, LockHolder, LockInfo, Op, Result, Stored};

use crate::backup_copy::BackupCopy;
use crate::digest::version;
use crate::failure::failed;
use crate::file_lock::{Attempt, FileLock};
use crate::held_lock::HeldLock;
use crate::options::FsOptions;
use crate::recovery::recover;
use crate::slot::Slot;
use crate::snapshot::{self, Attempted};
use crate::stamp::Stamp;
use crate::state_path::StatePath;

/// What the threads of one client share.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) place: StatePath,
    /// Where reads come from until the first write, if it is another file.
    source: Option<StatePath>,
    pub(crate) backup: Option<StatePath>,
    pub(crate) options: FsOptions,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) session: Arc<Slot<Session>>,
    wrote: AtomicBool,
    known: Mutex<Known>,
}

/// What only one operation at a time may touch.
#[derive(Debug, Default)]
pub(crate) struct Session {
    pub(crate) held: Option<Held>,
    /// A backup was made since the client was opened or last released its lock.
    pub(crate) backed_up: bool,
    /// The copy that is to become the backup, if it was begun.
    pub(crate) early: Option<BackupCopy>,
}

/// A lock that the caller asked for.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) lock: HeldLock,
    pub(crate) info: LockInfo,
    pub(crate) token: Option<FencingToken>,
}

/// The digest of the state file, known for as long as this client holds the lock.
#[derive(Debug, Default)]
struct Known {
    /// Counts locks, so that a read that began under one does not speak for the next.
    epoch: u64,
    is_held: bool,
    digest: Option<(Stamp, String)>,
}

impl Client {
    pub(crate) fn new(place: StatePath, options: FsOptions, clock: Arc<dyn Clock>) -> io::Result<Self> {
        use crate::options::Backup;
        let source = options.read_path.as_deref().map(StatePath::new).transpose()?;
        let backup = match &options.backup {
            Backup::Beside => Some(StatePath::new(&place.backup())?),
            Backup::At(path) => Some(StatePath::new(path)?),
            Backup::None => None,
        };
        Ok(Self {
            source: source.filter(|source| !source.is_same_as(&place)),
            place,
            backup,
            options,
            clock,
            session: Slot::new(Session::default()),
            wrote: AtomicBool::new(false),
            known: Mutex::default(),
        })
    }

    pub(crate) fn read(&self) -> Result<Option<Stored>> {
        let epoch = {
            let known = self.known();
            known.is_held.then_some(known.epoch)
        };
        let source = self.source();
        // Windows keeps everybody but the holder's own handle from reading a locked file.
        let session = cfg!(windows).then(|| self.session.borrow());
        let handle = session.as_ref().and_then(|session| session.held.as_ref()).map(|held| held.lock.file());
        let handle = handle.filter(|_| source.is_none());
        let place = source.unwrap_or(&self.place);
        let found = snapshot::read(place, handle, || self.try_recover(place))
            .map_err(|error| failed(Op::Read, place, error))?;
        let Some(found) = found else { return Ok(None) };
        let modified = found.stamp.and_then(|stamp| stamp.modified());
        if let Some(stamp) = found.stamp.filter(|_| source.is_none()) {
            self.remember_since(epoch, stamp, &found.digest);
        }
        Ok(Some(Stored::new(found.bytes, version(&found.digest)).written_at(modified)))
    }

    /// Where reads come from, if that is not the place of the store.
    pub(crate) fn source(&self) -> Option<&StatePath> {
        self.source.as_ref().filter(|_| !self.wrote.load(Ordering::Acquire))
    }

    /// From now on reads come from where writes go.
    pub(crate) fn has_written(&self) {
        self.wrote.store(true, Ordering::Release);
    }

    /// Finishes an interrupted write if the lock is free.
    fn try_recover(&self, place: &StatePath) -> io::Result<Attempted> {
        match FileLock::attempt(place) {
            Ok(Attempt::Locked(file_lock)) => {
                let held_lock = HeldLock::brief(place, file_lock, Op::Recover.as_str(), self.clock.now());
                recover(place, held_lock.file()).map(|()| Attempted::Done)
            }
            Ok(Attempt::Busy(_)) => Ok(Attempted::Busy),
            // A user who may only read can still read: the file says itself whether the journal has the state.
            Err(_) => Ok(Attempted::Done),
        }
    }

    /// Who holds the requested lock.
    pub(crate) fn lock_holder(&self, op: Op) -> Result<Option<LockHolder>> {
        let held = self.probe().map_err(|error| failed(op, &self.place, error))?;
        Ok(held.filter(|held| !held.brief).map(|held| held.holder))
    }

    /// The known digest of the file, if it is still the same under the same lock.
    pub(crate) fn known_digest(&self, stamp: &Stamp) -> Option<String> {
        let known = self.known();
        known.digest.as_ref().filter(|(at, _)| known.is_held && at == stamp).map(|(_, digest)| digest.clone())
    }

    pub(crate) fn remember(&self, stamp: Stamp, digest: &str) {
        let epoch = self.known().epoch;
        self.remember_since(Some(epoch), stamp, digest);
    }

    fn remember_since(&self, epoch: Option<u64>, stamp: Stamp, digest: &str) {
        let mut known = self.known();
        if known.is_held && epoch == Some(known.epoch) {
            known.digest = Some((stamp, digest.to_owned()));
        }
    }

    /// What was known is void: the lock was taken or released, or the file is about to change.
    pub(crate) fn forget(&self, is_held: bool) {
        let mut known = self.known();
        *known = Known { epoch: known.epoch.wrapping_add(1), is_held, digest: None };
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Nothing that can panic runs while it is locked.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn failed(&self, op: Op) -> impl Fn(io::Error) -> Error + '_ {
        move |error| failed(op, &self.place, error)
    }
}
