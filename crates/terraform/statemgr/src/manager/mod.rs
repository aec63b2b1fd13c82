//! The one manager: everything about serials and lineages, over any store.

mod locking;
mod memory;
mod migrate;
mod operate;
mod persist;
mod refresh;

pub use operate::Decision;

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use groundstate_common::{Clock, IdSource};
use groundstate_statefile::{DecodeOptions, Dialect, EncodeOptions, WriterVersion};
use groundstate_states::State;
use tracing::Span;

use crate::error::Result;
use crate::lock_info::LockInfo;
use crate::manager::memory::Memory;
use crate::meta::SnapshotMeta;
use crate::store::StateStore;
use crate::traced;
use crate::traits::{Extensions, Migrator, PersistentMeta, Reader, Writer};

/// Turns a store into everything that users of a state ask for: it implements [`Full`](crate::Full) and
/// [`Migrator`].
///
/// # Rules
///
/// - A new place gets a random lineage and the serial 1. Each persist that changes something adds one to the serial; one
///   that changes nothing writes nothing and asks the store nothing.
/// - What a change is compared with is the last snapshot that was read *or written*.
/// - A persist replaces only the snapshot that this manager knows to be stored. It expects the version that it read or
///   wrote last, and serial and lineage with it; anything else is a `Conflict`, also when nothing was read before. The
///   store has the last word where it can write under conditions; elsewhere the lock makes the check safe.
/// - A write that fails leaves lineage, serial and the transient snapshot as they were, so that a retry writes the same
///   serial. After a write whose answer got lost, the manager reads back, at once and again at the next persist: what it
///   sent is recognised, and is neither a conflict nor written twice.
/// - While it holds a lock with a fencing token, every write carries the token. If the time of the lock is over, it is
///   prolonged before the write, or the write fails with `LockLost`. That does not end until the manager locks anew.
/// - What was read is written again: unknown members, layout, dialect, and the release that counts as writer, unless
///   [`ManagerOptions::writer`] says otherwise.
///
/// Reading and writing the transient snapshot never waits for the store. Refreshes and persists take turns.
///
/// A value is one client of its place; share it as `Arc<Manager>`, `Arc<dyn Full>` or by reference.
pub struct Manager {
    store: Arc<dyn StateStore>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    options: ManagerOptions,
    memory: Mutex<Memory>,
    /// Held across reads and writes of the store; `memory` never is.
    store_access: tokio::sync::Mutex<()>,
}

/// How a manager writes, and what it does by itself.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ManagerOptions {
    /// Whose rules new places follow; what is stored already keeps its own.
    pub dialect: Dialect,
    /// Who takes locks, `user@host`; the program finds out.
    pub who: String,
    /// The release to write as. Without one, files keep theirs and new places have none.
    pub writer: Option<WriterVersion>,
    /// How to read.
    pub decode: DecodeOptions,
    /// How to write.
    pub encode: EncodeOptions,
    /// Whether to persist before the end of a run.
    pub intermediate_snapshots: bool,
    /// Whether to use the store's lock if it has one.
    pub locking: bool,
}

impl Default for ManagerOptions {
    fn default() -> Self {
        Self {
            dialect: Dialect::Terraform,
            who: String::new(),
            writer: None,
            decode: DecodeOptions::default(),
            encode: EncodeOptions::default(),
            intermediate_snapshots: true,
            locking: true,
        }
    }
}

impl ManagerOptions {
    /// Follows the rules of this product at new places.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Takes locks in the name of `user@host`.
    #[must_use]
    pub fn who(mut self, who: impl Into<String>) -> Self {
        self.who = who.into();
        self
    }

    /// Writes as this release.
    #[must_use]
    pub fn writer(mut self, version: WriterVersion) -> Self {
        self.writer = Some(version);
        self
    }

    /// Sets how to read.
    #[must_use]
    pub fn decode(mut self, options: DecodeOptions) -> Self {
        self.decode = options;
        self
    }

    /// Sets how to write.
    #[must_use]
    pub fn encode(mut self, options: EncodeOptions) -> Self {
        self.encode = options;
        self
    }

    /// Chooses whether to persist before the end of a run.
    #[must_use]
    pub fn intermediate_snapshots(mut self, yes: bool) -> Self {
        self.intermediate_snapshots = yes;
        self
    }

    /// Chooses whether to lock.
    #[must_use]
    pub fn locking(mut self, yes: bool) -> Self {
        self.locking = yes;
        self
    }
}

impl Manager {
    /// A manager that has read nothing yet.
    pub fn new(
        store: Arc<dyn StateStore>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
        options: ManagerOptions,
    ) -> Self {
        let memory = Mutex::new(Memory::new(&options));
        Self { store, clock, ids, options, memory, store_access: tokio::sync::Mutex::default() }
    }

    /// The store beneath.
    pub fn store(&self) -> &Arc<dyn StateStore> {
        &self.store
    }

    /// A document to lock with: a fresh id, the present time, who it is, and what the lock is for.
    ///
    /// # Errors
    ///
    /// `Internal` when no id can be made.
    pub fn lock_info(&self, operation: &str) -> Result<LockInfo> {
        let mut info = LockInfo::new(&*self.ids, self.clock.now(), operation)?;
        info.who.clone_from(&self.options.who);
        if let Some(version) = &self.options.writer {
            info.version = version.to_string();
        }
        Ok(info)
    }

    /// Does work in a span that tells in the end which snapshot the manager knows to be stored.
    async fn traced<T>(&self, op: &'static str, work: impl Future<Output = Result<T>> + Send) -> Result<T> {
        let span = self.span(op);
        let known = |span: &Span, _: &T| {
            if !span.is_disabled() {
                let SnapshotMeta { serial, lineage, .. } = self.memory().meta();
                span.record("serial", serial.get());
                span.record("lineage", lineage.as_str());
            }
        };
        traced::run(span, work, known).await
    }

    fn span(&self, op: &'static str) -> Span {
        let span = traced::manager_span(op, self);
        if let Some(grant) = &self.memory().grant {
            traced::text(&span, "lock", &grant.id);
        }
        span
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        // The changes of callers run on a state that was taken out, so a panic there leaves the rest whole.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl fmt::Debug for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Manager");
        shown.field("store", &self.store).field("options", &self.options).finish_non_exhaustive()
    }
}

impl Reader for Manager {
    fn state(&self) -> Option<State> {
        self.memory().state.clone()
    }
}

impl Writer for Manager {
    fn write_state(&self, state: &State) -> Result<()> {
        let mut memory = self.memory();
        memory.writes += 1;
        memory.state = Some(state.clone());
        Ok(())
    }

    fn mutate_state(&self, change: &mut (dyn FnMut(&mut Option<State>) + Send)) -> Result<()> {
        let mut memory = self.memory();
        memory.writes += 1;
        let mut state = memory.state.take();
        change(&mut state);
        memory.state = state;
        Ok(())
    }
}

impl Extensions for Manager {
    fn as_persistent_meta(&self) -> Option<&dyn PersistentMeta> {
        Some(self)
    }

    fn as_migrator(&self) -> Option<&dyn Migrator> {
        Some(self)
    }
}
