//! Taking the lock, giving it back, and finding out who has it.

use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use groundstate_statemgr::{Error, ErrorKind, LockGrant, LockHolder, LockId, LockInfo, Op, Result};

use crate::client::{Client, Held};
use crate::document::Document;
use crate::fence;
use crate::file_lock::{self, Attempt, FileLock};
use crate::files;
use crate::held_lock::HeldLock;
use crate::process::exists;
use crate::record::Other;
use crate::recovery::recover;
use crate::wanted::Wanted;

/// How long a holder has to leave its document after it got the lock, or to let go after it removed it.
const GRACE: Duration = Duration::from_millis(250);
const PAUSE: Duration = Duration::from_millis(2);

/// A process that holds the lock, or is in the middle of an operation.
pub(crate) struct Found {
    pub(crate) holder: LockHolder,
    pub(crate) brief: bool,
}

impl Client {
    pub(crate) fn lock(&self, info: &LockInfo, wanted: &Wanted) -> Result<LockGrant> {
        const OP: Op = Op::Lock;
        if info.id.is_empty() {
            return Err(Error::new(ErrorKind::Invalid, OP, &self.place).because("the lock has no id"));
        }
        let mut session = self.session.borrow();
        if let Some(held) = &session.held {
            let holder = LockHolder::of(held.info.clone());
            let holder = holder.with_process(Some(std::process::id()), Some(true));
            return Err(Error::locked(OP, &self.place, Some(holder)));
        }
        let path = self.place.given().display().to_string();
        let mut info = LockInfo { path, ..info.clone() };
        let held_lock = self.held_lock(OP, wanted, |file_lock| {
            info.created = self.clock.now();
            let mut held_lock = HeldLock::new(&self.place, file_lock);
            held_lock.sign(&info, false)?;
            Ok(held_lock)
        })?;
        recover(&self.place, held_lock.file()).map_err(self.failed(OP))?;
        let mut grant = LockGrant::new(info.id.clone());
        if self.options.fencing {
            let token = fence::grant(&self.place, self.clock.now(), held_lock.file());
            grant = grant.fence(token.map_err(self.failed(OP))?);
        }
        let token = grant.fence;
        session.held = Some(Held { lock: held_lock, info, token });
        self.forget(true);
        self.begin_backup(&mut session);
        Ok(grant)
    }

    pub(crate) fn unlock(&self, id: &LockId) -> Result<()> {
        const OP: Op = Op::Unlock;
        let mut session = self.session.borrow();
        match session.held.take_if(|held| held.info.id == *id) {
            Some(held) => {
                let is_in_place = held.lock.file_lock.is_in_place().unwrap_or(true);
                drop(held);
                session.backed_up = false;
                session.early = None;
                self.forget(false);
                if is_in_place { Ok(()) } else { Err(self.replaced(OP)) }
            }
            None => match self.lock_holder(OP)? {
                Some(holder) => Err(Error::locked(OP, &self.place, Some(holder))),
                None => Err(Error::new(ErrorKind::NotFound, OP, &self.place).because("it is not locked")),
            },
        }
    }

    /// Why the holder cannot be made to release.
    pub(crate) fn force_unlock(&self) -> Error {
        const OP: Op = Op::ForceUnlock;
        let error = Error::unsupported(OP, &self.place);
        match self.lock_holder(OP) {
            Ok(Some(LockHolder { pid: Some(pid), .. })) => {
                error.because(format!("the lock of a file ends with its process, which is {pid}"))
            }
            Ok(Some(_)) => error.because("the lock of a file ends with its process, which is unknown"),
            Ok(None) => error.because("it is not locked, since the lock of a file ends with its process"),
            Err(cause) => error.with_source(cause),
        }
    }

    /// The error when another file has taken the place of the locked one.
    pub(crate) fn replaced(&self, op: Op) -> Error {
        Error::new(ErrorKind::LockLost, op, &self.place)
            .because("the lock was lost, another program has replaced or removed the file")
    }

    /// The lock for one operation.
    pub(crate) fn brief(&self, op: Op, wanted: &Wanted) -> Result<HeldLock> {
        self.held_lock(op, wanted, |file_lock| {
            Ok(HeldLock::brief(&self.place, file_lock, op.as_str(), self.clock.now()))
        })
    }

    /// Locks the file. Holders are not waited for, but processes in the middle of a read or write are.
    fn held_lock(
        &self,
        op: Op,
        wanted: &Wanted,
        mut sign: impl FnMut(FileLock) -> io::Result<HeldLock>,
    ) -> Result<HeldLock> {
        let begin = Instant::now();
        loop {
            let attempt = wanted.if_wanted(|| {
                Ok(match FileLock::attempt(&self.place)? {
                    Attempt::Locked(file_lock) => Ok(sign(file_lock)?),
                    Attempt::Busy(other) => Err(other),
                })
            });
            let Some(attempt) = attempt else {
                let error = Error::new(ErrorKind::Unavailable, op, &self.place);
                return Err(error.because("the caller stopped waiting"));
            };
            let other = match attempt.map_err(self.failed(op))? {
                Ok(held_lock) => return Ok(held_lock),
                Err(other) => other,
            };
            let (holder, busy_timeout) = match self.identify(&other) {
                Some(found) if !found.brief => (found.holder, Duration::ZERO),
                Some(found) => (found.holder, self.options.busy_timeout),
                None => (self.no_known_holder(&other), GRACE),
            };
            if begin.elapsed() >= busy_timeout {
                return Err(Error::locked(op, &self.place, Some(holder)));
            }
            sleep(PAUSE);
        }
    }

    /// Who has the file locked.
    pub(crate) fn probe(&self) -> io::Result<Option<Found>> {
        let begin = Instant::now();
        loop {
            let Some(file) = files::open(&self.place.target())? else { return Ok(None) };
            let Some(other) = file_lock::holder(&file)? else { return Ok(None) };
            if let Some(found) = self.identify(&other) {
                return Ok(Some(found));
            }
            if begin.elapsed() >= GRACE {
                return Ok(Some(Found { holder: self.no_known_holder(&other), brief: false }));
            }
            sleep(PAUSE);
        }
    }

    /// The holder by the document beside the state, unless another process left that.
    fn identify(&self, other: &Other) -> Option<Found> {
        let Document { info, process } = Document::read(&self.place.documents())?;
        let Some(process) = process else {
            let holder = LockHolder::of(info).with_process(other.pid, other.pid.and_then(exists));
            return Some(Found { holder, brief: false });
        };
        let alive = process.alive();
        // A process that locks as Terraform does is none of ours, and has not written its own document yet.
        if alive == Some(false) || other.pid.is_some() && cfg!(target_os = "linux") {
            return None;
        }
        let mut holder = LockHolder::of(info).with_process(Some(process.pid), alive);
        holder.host = process.host.or(holder.host);
        Some(Found { holder, brief: process.brief })
    }

    /// A holder without a document, such as flock(1).
    fn no_known_holder(&self, other: &Other) -> LockHolder {
        let info = LockInfo {
            info: "the holder has left no lock document".to_owned(),
            path: self.place.given().display().to_string(),
            ..LockInfo::default()
        };
        LockHolder::of(info).with_process(other.pid, other.pid.and_then(exists))
    }
}
