//! A store that keeps a backup of what a write replaces, once the write has succeeded, and logs the operation.

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_statemgr::{
    Capabilities, Error, ErrorKind, Expect, LockGrant, LockHolder, LockId, LockInfo, Op, Result, StateStore,
    Stored, Version, WriteOptions,
};
use groundstate_statemgr_fs::Backup;

use crate::input::location::StateLocation;
use crate::report::messages::Messages;
use crate::session::backup::CopySuffix;
use crate::session::generations::{PendingBackup, short_digest};
use crate::session::operations::Entry;

/// Where the state before an operation goes, and how the operation is called.
#[derive(Debug)]
pub(crate) struct Keep {
    pub(crate) to: KeepIn,
    pub(crate) operation: String,
    /// The place in words, for the log.
    pub(crate) place: String,
    /// Argument that names the state in a command.
    pub(crate) argument: String,
    /// Backup that the operation restores, if it is an undo.
    pub(crate) restored: Option<String>,
    /// If `true`, the operation moves resources between states, so they go back together.
    pub(crate) is_joint: bool,
}

#[derive(Debug)]
pub(crate) enum KeepIn {
    Nowhere,
    /// The file that the user names.
    File(PathBuf),
    Generation(PendingBackup),
}

impl Keep {
    /// Keeps a state that cannot be read under this suffix, where the place has no history.
    pub(crate) fn unreadable(self, found: &StateLocation, suffix: &CopySuffix) -> Self {
        match self.to {
            KeepIn::Nowhere => self,
            _ => Self { to: KeepIn::File(found.with_suffix(suffix.as_str())), ..self },
        }
    }

    /// The entry of the log for this operation.
    pub(crate) fn entry(&self) -> Entry {
        Entry {
            is_joint: self.is_joint,
            restored: self.restored.clone(),
            ..Entry::new(&self.operation, &self.place, &self.argument)
        }
    }

    /// The file that the store below writes the backup to.
    pub(crate) fn backup(&self) -> Backup {
        match &self.to {
            KeepIn::Nowhere => Backup::None,
            KeepIn::File(path) => Backup::At(path.clone()),
            KeepIn::Generation(pending) => Backup::At(pending.path().to_owned()),
        }
    }
}

/// The store, and what it has kept.
pub(crate) struct Keeper {
    store: Arc<dyn StateStore>,
    keep: Mutex<Keep>,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    has_written: bool,
    backup: Option<KeptBackup>,
}

/// A backup that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeptBackup {
    path: PathBuf,
    /// Its number, if it is one of those that `undo` goes back by.
    number: Option<u64>,
}

impl KeptBackup {
    /// A file that the user named, or an object of a backend.
    pub(crate) fn file(path: PathBuf) -> Self {
        Self { path, number: None }
    }

    pub(crate) fn path(&self) -> String {
        self.path.display().to_string()
    }
}

impl fmt::Display for KeptBackup {
    /// Text that comes after "is".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            Some(number) => write!(f, "backup {number}, which `groundstate undo` restores"),
            None => write!(f, "in {}", self.path.display()),
        }
    }
}

impl Keeper {
    pub(crate) fn new(store: Arc<dyn StateStore>, keep: Keep) -> Self {
        Self { store, keep: Mutex::new(keep), kept: Mutex::default() }
    }

    /// The state before the first write of this client. `None` if there was no write, or nothing before.
    pub(crate) fn kept(&self) -> Option<KeptBackup> {
        self.lock_kept().backup.clone()
    }

    fn lock_kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_keep(&self) -> MutexGuard<'_, Keep> {
        self.keep.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn prepare(&self) -> Result<()> {
        let KeepIn::Generation(pending) = &self.lock_keep().to else { return Ok(()) };
        pending.prepare().map_err(|error| {
            Error::new(ErrorKind::Unavailable, Op::Other("keep a backup of"), self)
                .because("its directory cannot be made, name a file with `--backup`")
                .with_source(error)
        })
    }

    /// A write has succeeded: the backup counts from now on.
    fn settle(&self, bytes: Option<&Bytes>, version: Option<&Version>, created: bool) {
        let mut kept = self.lock_kept();
        if std::mem::replace(&mut kept.has_written, true) {
            return;
        }
        let mut keep = self.lock_keep();
        let after = bytes.map(|bytes| short_digest(bytes)).unwrap_or_default();
        let mut entry = Entry {
            after: after.clone(),
            version: version.map(ToString::to_string).unwrap_or_default(),
            created,
            ..keep.entry()
        };
        match &mut keep.to {
            KeepIn::Nowhere => {}
            KeepIn::File(path) => {
                kept.backup = (!created && path.exists()).then(|| KeptBackup::file(path.clone()));
                entry.file = kept.backup.as_ref().map(KeptBackup::path);
            }
            KeepIn::Generation(pending) => match pending.promote(&after) {
                Ok(Some((number, path))) => {
                    entry.backup = Some(number);
                    kept.backup = Some(KeptBackup { path, number: Some(number) });
                }
                // Nothing was replaced.
                Ok(None) => {}
                Err(error) => {
                    pending.leave();
                    let path = pending.path().display().to_string();
                    Messages::stderr()
                        .warning(&format!("the backup has no number yet, it is {path}: {error}"));
                    kept.backup = Some(KeptBackup::file(pending.path().to_owned()));
                }
            },
        }
        entry.record();
    }

    /// Removes the backup of an operation that was put back, so that the next undo restores the same backup as this one.
    pub(crate) fn was_put_back(&self) {
        let kept = self.lock_kept().backup.take();
        if let Some(KeptBackup { path, number: Some(number) }) = kept
            && let Err(error) = fs::remove_file(&path)
        {
            let path = path.display();
            Messages::stderr()
                .warning(&format!("backup {number} stays in {path}, and nothing needs it: {error}"));
        }
        let keep = self.lock_keep();
        Entry::new("put-back", &keep.place, &keep.argument).record();
    }

    /// A write has failed, or its answer is lost.
    fn failed(&self, error: &Error) {
        if error.kind() == ErrorKind::Ambiguous
            && let KeepIn::Generation(pending) = &mut self.lock_keep().to
        {
            pending.leave();
        }
    }
}

impl fmt::Display for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeper").field("store", &self.store).finish_non_exhaustive()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl StateStore for Keeper {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn lock_name(&self) -> String {
        self.store.lock_name()
    }

    async fn read(&self) -> Result<Option<Stored>> {
        self.store.read().await
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        self.prepare()?;
        let written = self.store.write(bytes.clone(), options).await;
        match &written {
            Ok(version) => self.settle(Some(&bytes), Some(version), options.expect == Expect::Absent),
            Err(error) => self.failed(error),
        }
        written
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        self.prepare()?;
        let deleted = self.store.delete(options).await;
        match &deleted {
            Ok(()) => self.settle(None, None, false),
            Err(error) => self.failed(error),
        }
        deleted
    }

    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        // With the lock the copy of a large state is begun, which needs the directory. What is in the way is told by the write.
        drop(self.prepare());
        self.store.lock(info).await
    }

    async fn renew(&self, id: &LockId) -> Result<LockGrant> {
        self.store.renew(id).await
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        self.store.unlock(id).await
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        self.store.force_unlock(id).await
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        self.store.lock_holder().await
    }
}
