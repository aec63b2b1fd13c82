//! What stands between a manager and a state that is not in a file: copies of what is replaced and of what cannot be
//! stored, and signals while an answer is waited for.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_durable::create_new;
use groundstate_statemgr::{
    Capabilities, Error, ErrorKind, Expect, LockGrant, LockHolder, LockId, LockInfo, Op, Result, StateStore,
    Stored, Version, WriteOptions,
};
use groundstate_statemgr_fs::{Backup, Process};

use crate::input::paths;
use crate::input::remote::Remote;
use crate::report::error::Failure;
use crate::session::files;
use crate::session::interrupt::{Interrupts, LAST_WAIT};
use crate::session::precious;

/// How many files of the name of an emergency there may be.
const MAX_EMERGENCIES: u32 = 100;

/// A client of a place in the network.
pub(crate) struct BackupStore {
    remote: Remote,
    /// Where a copy of what is replaced goes.
    backup: Option<PathBuf>,
    interrupts: OnceLock<Interrupts>,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    /// What was read last, until it is replaced.
    last: Option<Stored>,
    /// What could not be stored.
    unsaved: Option<Bytes>,
    /// A signal has ended the wait for an answer before anything was written.
    interrupted: bool,
    /// A write or a deletion was sent, so what is read from now on tells what became of it.
    sent: bool,
}

impl BackupStore {
    pub(crate) fn new(remote: Remote, backup: Backup) -> Self {
        let backup = match backup {
            Backup::At(path) => Some(path),
            _ => None,
        };
        Self { remote, backup, interrupts: OnceLock::new(), memory: Mutex::default() }
    }

    pub(crate) fn remote(&self) -> &Remote {
        &self.remote
    }

    /// From now on a signal ends the wait for an answer to what only reads.
    pub(crate) fn hear(&self, interrupts: &Interrupts) {
        self.interrupts.get_or_init(|| interrupts.clone());
    }

    /// Whether a signal has ended the wait for an answer, before anything was written.
    pub(crate) fn was_interrupted(&self) -> bool {
        self.memory().interrupted
    }

    /// Keeps what could not be stored in a file, and says where; nothing, if everything was stored.
    pub(crate) fn rescue(&self) -> Option<io::Result<PathBuf>> {
        let bytes = self.memory().unsaved.take()?;
        Some(emergency(self.remote.folder(), &bytes))
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the answer to a read, unless a signal comes. What is read after a write tells what became of that, so its
    /// answer is waited for longer.
    async fn hearing<T>(&self, op: Op, answer: impl Future<Output = Result<T>>) -> Result<T> {
        let Some(interrupts) = self.interrupts.get() else { return answer.await };
        if self.memory().sent {
            let given_up = async {
                interrupts.wait().await;
                tokio::time::sleep(LAST_WAIT).await;
            };
            return tokio::select! {
                answer = answer => answer,
                () = given_up => {
                    Err(Error::new(ErrorKind::Unavailable, op, self).because("no answer came after a signal"))
                }
            };
        }
        tokio::select! {
            answer = answer => answer,
            failure = interrupts.wait() => {
                self.memory().interrupted = true;
                Err(Error::new(ErrorKind::Unavailable, op, self).because(failure.message))
            }
        }
    }

    /// Waits for the answer to a change. After a signal it is waited for a while longer, since it tells what is stored.
    async fn answered<T>(&self, op: Op, answer: impl Future<Output = Result<T>>) -> Result<T> {
        self.memory().sent = true;
        let Some(interrupts) = self.interrupts.get() else { return answer.await };
        interrupts.answer(&format!("{self} was being changed"), answer).await.unwrap_or_else(|| {
            let why = "a signal ended the wait for the answer, so the change may have been made, or may still be made";
            Err(Error::new(ErrorKind::Ambiguous, op, self).because(why))
        })
    }

    /// Copies what is about to be replaced. It was read just before, as a rule.
    async fn back_up(&self, expect: &Expect) -> Result<()> {
        let Some(path) = &self.backup else { return Ok(()) };
        let known = self.memory().last.take();
        let known = match expect {
            Expect::Absent => return Ok(()),
            Expect::Version(version) => known.filter(|stored| stored.version == *version),
            // Where a store takes no conditions, the manager has looked at what is stored.
            Expect::Any => known,
        };
        let stored = match known {
            Some(stored) => Some(stored),
            None => self.remote.store.read().await?,
        };
        let Some(stored) = stored else { return Ok(()) };
        let refused = |failure: Failure| {
            Error::new(ErrorKind::Invalid, Op::Other("keep a copy of"), self).because(failure.message)
        };
        if let Ok(there) = paths::read(path) {
            precious::refuse_other(&path.display().to_string(), &there, &stored.bytes).map_err(refused)?;
        }
        files::put(path, &stored.bytes).map_err(|error| {
            Error::new(ErrorKind::Unavailable, Op::Other("keep a copy of"), self)
                .because(format!("{} cannot be written, name another file with `--backup`", path.display()))
                .with_source(error)
        })
    }
}

impl fmt::Display for BackupStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.remote.store.fmt(f)
    }
}

impl fmt::Debug for BackupStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BackupStore")
            .field("remote", &self.remote)
            .field("backup", &self.backup)
            .finish_non_exhaustive()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl StateStore for BackupStore {
    fn capabilities(&self) -> Capabilities {
        self.remote.store.capabilities()
    }

    fn lock_name(&self) -> String {
        self.remote.store.lock_name()
    }

    async fn read(&self) -> Result<Option<Stored>> {
        let stored = self.hearing(Op::Read, self.remote.store.read()).await?;
        if self.backup.is_some() {
            self.memory().last.clone_from(&stored);
        }
        Ok(stored)
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        self.back_up(&options.expect).await?;
        let written = self.answered(Op::Write, self.remote.store.write(bytes.clone(), options)).await;
        // What a service finds invalid is kept too: it may be too large for it.
        let refused = |error: &Error| error.kind() == ErrorKind::Unsupported || bytes.is_empty();
        self.memory().unsaved = match &written {
            Err(error) if !refused(error) => Some(bytes),
            _ => None,
        };
        written
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        self.answered(Op::Delete, self.remote.store.delete(options)).await
    }

    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        // The lock tells a later reader which process took it, as files do.
        let info = LockInfo { info: Process::this(false).tag(&info.info), ..info.clone() };
        self.remote.store.lock(&info).await.map_err(with_process)
    }

    async fn renew(&self, id: &LockId) -> Result<LockGrant> {
        self.remote.store.renew(id).await
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        self.remote.store.unlock(id).await
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        self.remote.store.force_unlock(id).await.map_err(with_process)
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        let holder = self.hearing(Op::FindHolder, self.remote.store.lock_holder()).await?;
        Ok(holder.map(of_process))
    }
}

/// Takes what a holder says of its process out of the free text of its document.
pub(crate) fn of_process(mut holder: LockHolder) -> LockHolder {
    let (text, process) = Process::untag(&holder.info.info);
    let Some(process) = process else { return holder };
    holder.info.info = text.to_owned();
    holder.host.clone_from(&process.host);
    let alive = process.alive();
    holder.with_process(Some(process.pid), alive)
}

/// The same for the holder that a refusal names.
fn with_process(error: Error) -> Error {
    match error.holder() {
        Some(holder) if Process::untag(&holder.info.info).1.is_some() => {
            Error::locked(error.op(), error.target(), Some(of_process(holder.clone())))
        }
        _ => error,
    }
}

/// Writes `errored.tfstate`, or a numbered file if the last one is still there.
fn emergency(folder: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    let mut number = 0;
    loop {
        let name = match number {
            0 => "errored.tfstate".to_owned(),
            number => format!("errored.{number}.tfstate"),
        };
        let path = folder.join(name);
        match create_new(&path) {
            Ok(mut file) => {
                file.write_all(bytes)?;
                file.sync_all()?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < MAX_EMERGENCIES => {
                number += 1
            }
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::emergency;

    #[test]
    fn an_emergency_overwrites_no_other_one() {
        let dir = tempfile::tempdir().unwrap();
        for (bytes, name) in
            [("one", "errored.tfstate"), ("two", "errored.1.tfstate"), ("three", "errored.2.tfstate")]
        {
            assert_eq!(emergency(dir.path(), bytes.as_bytes()).unwrap(), dir.path().join(name));
        }
        assert_eq!(fs::read(dir.path().join("errored.tfstate")).unwrap(), b"one");
    }
}
