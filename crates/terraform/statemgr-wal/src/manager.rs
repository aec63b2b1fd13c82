//! The manager: what users of a state see, with the journal behind it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use groundstate_common::{Clock, IdSource};
use groundstate_statefile::File;
use groundstate_statemgr::{
    Extensions, LockGrant, LockHolder, LockId, LockInfo, Locker, Manager, ManagerOptions, Migrator,
    OutputReader, OutputValues, PersistInfo, Persisted, PersistentMeta, Persister, Reader, Refresher, Result,
    SnapshotMeta, StateStore, Writer, traced,
};
use groundstate_states::State;
use groundstate_wal::{Epoch, JournalStore, JournalWriter, Record};

use crate::noted::Noted;
use crate::recovery::Recovery;

/// A manager whose `persist_state` appends to a journal what has changed, instead of writing the whole state.
///
/// It is a [`Full`](groundstate_statemgr::Full), so code for managers works with it. While a lock is held:
///
/// - [`refresh_state`](Refresher::refresh_state) first recovers what an interrupted run has left in the journal.
/// - [`persist_state`](Persister::persist_state) makes changes durable in the journal. Where no state is stored yet, after an
///   import, and before the first refresh it writes the ordinary object, as [`Manager`] does.
/// - [`checkpoint`](Self::checkpoint) brings the ordinary object up to date; [`unlock`](Locker::unlock) does so before it releases
///   the lock, and the manager does by itself when the journal grows longer than the state. Where the object cannot be written
///   then, the journal begins anew with the whole state in it, so that it stays short.
///
/// Without the lock, reading gives the ordinary object, and persisting is refused as long as a journal is beside it. Dropping
/// the manager is a crash: the next one to lock and refresh recovers.
pub struct JournaledManager {
    pub(crate) inner: Manager,
    pub(crate) store: Arc<Noted>,
    pub(crate) journal: Arc<dyn JournalStore>,
    pub(crate) options: JournalOptions,
    who: String,
    live: Mutex<Live>,
    pub(crate) run: Mutex<Run>,
    pub(crate) store_access: tokio::sync::Mutex<()>,
}

/// How much a manager journals.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalOptions {
    /// Whether the journal keeps a copy of the state that it builds on. Without it, what it holds cannot be applied any more once
    /// another program has overwritten the state.
    pub keep_base: bool,
    /// The least number of bytes of changes after which the ordinary object is brought up to date during a run, or the journal
    /// compacted where the object cannot be written.
    pub checkpoint_bytes: u64,
}

impl Default for JournalOptions {
    fn default() -> Self {
        Self { keep_base: true, checkpoint_bytes: 1 << 20 }
    }
}

impl JournalOptions {
    /// Chooses whether to keep a copy of the state that the journal builds on.
    #[must_use]
    pub fn keep_base(mut self, yes: bool) -> Self {
        self.keep_base = yes;
        self
    }

    /// Brings the ordinary object up to date when the journal is longer than this, and than the state.
    #[must_use]
    pub fn checkpoint_bytes(mut self, bytes: u64) -> Self {
        self.checkpoint_bytes = bytes;
        self
    }
}

/// The transient snapshot.
#[derive(Default)]
struct Live {
    state: Option<State>,
    /// Written and not persisted.
    is_dirty: bool,
    /// It brings lineage and serial along, so it has to be written as a whole.
    is_imported: bool,
}

/// What is durable, and by which journal.
#[derive(Default)]
pub(crate) struct Run {
    /// What the ordinary object and the journal say together.
    pub(crate) durable: Option<State>,
    pub(crate) grant: Option<LockGrant>,
    pub(crate) journal: Option<Open>,
    pub(crate) recovery: Option<Recovery>,
}

/// The journal, opened for writing.
#[derive(Clone)]
pub(crate) struct Open {
    pub(crate) writer: Arc<dyn JournalWriter>,
    /// The epoch of this run, if one was begun.
    pub(crate) epoch: Option<Epoch>,
    /// An epoch that could not be cleared although all of it is stored.
    pub(crate) spent: Option<Epoch>,
    /// The writer has ended, and has to be opened again.
    pub(crate) is_broken: bool,
    /// The base of an epoch that has perhaps begun in place of this one.
    pub(crate) tried: Option<Record>,
    /// How long the records are, and how long they may get.
    pub(crate) bytes: u64,
    pub(crate) limit: u64,
    /// How long the state was when the epoch began.
    pub(crate) state_bytes: u64,
}

impl JournaledManager {
    /// A manager that has read nothing yet, of this store and the journal beside it.
    pub fn new(
        store: Arc<dyn StateStore>,
        journal: Arc<dyn JournalStore>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
        options: ManagerOptions,
    ) -> Self {
        let (store, who) = (Arc::new(Noted::new(store)), options.who.clone());
        let inner = Manager::new(Arc::<Noted>::clone(&store), clock, ids, options);
        let options = JournalOptions::default();
        Self {
            inner,
            store,
            journal,
            options,
            who,
            live: Mutex::default(),
            run: Mutex::default(),
            store_access: tokio::sync::Mutex::default(),
        }
    }

    /// Chooses how to journal.
    #[must_use]
    pub fn journal_options(mut self, options: JournalOptions) -> Self {
        self.options = options;
        self
    }

    /// Counts a lock as this manager's that was taken past it, with the same client of the store.
    #[must_use]
    pub fn holding(self, grant: LockGrant) -> Self {
        self.run().grant = Some(grant);
        self
    }

    /// A document to lock with; see [`Manager::lock_info`].
    ///
    /// # Errors
    ///
    /// `Internal` when no id can be made.
    pub fn lock_info(&self, operation: &str) -> Result<LockInfo> {
        self.inner.lock_info(operation)
    }

    /// Brings the ordinary object up to date with everything that was written, and ends the journal.
    ///
    /// # Errors
    ///
    /// Those of [`Persister::persist_state`] of a [`Manager`], and `LockLost` when another process has taken over. What was persisted
    /// before stays durable in the journal.
    pub async fn checkpoint(&self) -> Result<Persisted> {
        traced::manager("checkpoint", self, async {
            let _access = self.store_access.lock().await;
            self.write_whole().await
        })
        .await
    }

    /// What the last refresh has recovered, if it found a journal.
    pub fn last_recovery(&self) -> Option<Recovery> {
        self.run().recovery.clone()
    }

    /// Whether this manager may write: it holds the lock, or there is none.
    pub(crate) fn may_write(&self) -> bool {
        self.run().grant.is_some() || !self.inner.is_locking_enabled()
    }

    /// Who journals, for others to read.
    pub(crate) fn owner(&self) -> (String, Option<LockGrant>) {
        (self.who.clone(), self.run().grant.clone())
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        // The changes of callers run on a state that was taken out, so a panic there leaves the rest whole.
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn run(&self) -> MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The transient snapshot, and whether it was imported. It counts as persisted from now on, until the next write.
    pub(crate) fn take_up(&self) -> (Option<State>, bool) {
        let mut live = self.live();
        live.is_dirty = false;
        (live.state.clone(), live.is_imported)
    }

    /// What was taken up was not persisted after all.
    pub(crate) fn put_back(&self) {
        self.live().is_dirty = true;
    }

    /// The import is persisted.
    pub(crate) fn settle_import(&self) {
        self.live().is_imported = false;
    }
}

/// The folder for the journal of a state file: beside it, with a name that no state has.
///
/// ```
/// use std::path::Path;
///
/// let folder = groundstate_statemgr_wal::journal_folder(Path::new("infra/terraform.tfstate"));
/// assert_eq!(folder, Path::new("infra/.terraform.tfstate.groundstate-changes"));
/// ```
#[must_use]
pub fn journal_folder(state: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(state.file_name().unwrap_or_default());
    name.push(".groundstate-changes");
    state.with_file_name(name)
}

impl fmt::Display for JournaledManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl fmt::Debug for JournaledManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("JournaledManager");
        shown.field("inner", &self.inner).field("journal", &self.journal).finish_non_exhaustive()
    }
}

impl Reader for JournaledManager {
    fn state(&self) -> Option<State> {
        self.live().state.clone()
    }
}

impl Writer for JournaledManager {
    fn write_state(&self, state: &State) -> Result<()> {
        let mut live = self.live();
        live.is_dirty = true;
        live.state = Some(state.clone());
        Ok(())
    }

    fn mutate_state(&self, change: &mut (dyn FnMut(&mut Option<State>) + Send)) -> Result<()> {
        let mut live = self.live();
        live.is_dirty = true;
        let mut state = live.state.take();
        change(&mut state);
        live.state = state;
        Ok(())
    }
}

#[async_trait]
impl Refresher for JournaledManager {
    async fn refresh_state(&self) -> Result<()> {
        let _access = self.store_access.lock().await;
        self.bring_up_to_date().await?;
        self.inner.refresh_state().await?;
        let state = self.inner.state();
        self.run().durable.clone_from(&state);
        let mut live = self.live();
        // What was written where nothing is stored waits to be persisted; so does an import.
        if state.is_some() || !(live.is_dirty || live.is_imported) {
            *live = Live { state, ..Live::default() };
        }
        Ok(())
    }
}

#[async_trait]
impl Persister for JournaledManager {
    async fn persist_state(&self) -> Result<Persisted> {
        traced::manager("persist", self, async {
            let _access = self.store_access.lock().await;
            self.persist().await
        })
        .await
    }

    /// Always: it costs no more than the change.
    fn should_persist_intermediate_state(&self, _: &PersistInfo) -> bool {
        true
    }
}

#[async_trait]
impl OutputReader for JournaledManager {
    async fn root_output_values(&self) -> Result<OutputValues> {
        let journaled = {
            let run = self.run();
            let has_epoch = run.journal.as_ref().is_some_and(|open| open.epoch.is_some());
            run.durable.as_ref().filter(|_| has_epoch).map(|state| state.outputs().clone())
        };
        match journaled {
            Some(outputs) => Ok(outputs),
            None => self.inner.root_output_values().await,
        }
    }
}

#[async_trait]
impl Locker for JournaledManager {
    fn is_locking_enabled(&self) -> bool {
        self.inner.is_locking_enabled()
    }

    async fn lock(&self, info: &LockInfo) -> Result<Option<LockGrant>> {
        let grant = self.inner.lock(info).await?;
        self.run().grant.clone_from(&grant);
        Ok(grant)
    }

    async fn renew(&self, id: &LockId) -> Result<LockGrant> {
        let renewed = self.inner.renew(id).await?;
        if let Some(grant) = self.run().grant.as_mut().filter(|grant| grant.id == *id) {
            *grant = renewed.clone();
        }
        Ok(renewed)
    }

    /// Brings the ordinary object up to date, and releases the lock. If the former fails, the lock stays held.
    async fn unlock(&self, id: &LockId) -> Result<()> {
        let _access = self.store_access.lock().await;
        if self.run().grant.as_ref().is_none_or(|grant| grant.id == *id) {
            self.end_run().await?;
        }
        self.inner.unlock(id).await?;
        self.run().grant.take_if(|grant| grant.id == *id);
        Ok(())
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        self.inner.force_unlock(id).await?;
        self.run().grant.take_if(|grant| grant.id == *id);
        Ok(())
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        self.inner.lock_holder().await
    }
}

impl PersistentMeta for JournaledManager {
    fn snapshot_meta(&self) -> SnapshotMeta {
        self.inner.snapshot_meta()
    }
}

impl Migrator for JournaledManager {
    fn state_for_migration(&self) -> Option<File> {
        let state = self.live().state.clone()?;
        let mut file = self.inner.state_for_migration().or_else(|| {
            // It knows no state yet, so nothing can be under way with it.
            self.inner.write_state(&state).ok()?;
            self.inner.state_for_migration()
        })?;
        file.state = state;
        Some(file)
    }

    fn write_state_for_migration(&self, file: File, force: bool) -> Result<()> {
        let state = file.state.clone();
        self.inner.write_state_for_migration(file, force)?;
        *self.live() = Live { state: Some(state), is_dirty: true, is_imported: true };
        Ok(())
    }
}

impl Extensions for JournaledManager {
    fn as_persistent_meta(&self) -> Option<&dyn PersistentMeta> {
        Some(self)
    }

    fn as_migrator(&self) -> Option<&dyn Migrator> {
        Some(self)
    }
}
