//! Managers on places that outlive them, and runs that may crash.

use std::path::PathBuf;
use std::sync::Arc;

use groundstate_common::{FixedClock, SequenceIds, Timestamp};
use groundstate_executor::{Executor, Plan, RunReport, StoredIntents};
use groundstate_ordering::effects::Recovered;
use groundstate_schedule::walk::WalkOptions;
use groundstate_statefile::{DecodeOptions, decode};
use groundstate_statemgr::{
    AbandonedLocks, Full, LockGuard, LockInfo, Locker, Manager, ManagerOptions, SharedMemory, StateStore,
    Waiting, write_and_persist,
};
use groundstate_statemgr_fs::FsStore;
use groundstate_statemgr_wal::JournaledManager;
use groundstate_states::State;
use groundstate_states::addr::{AbsResource, AbsResourceInstance, ConfigResource, ProviderInstance};
use groundstate_wal::MemoryJournal;

use crate::trap::{Trap, Trapped, TrappedJournal};
use crate::world::{Client, World, id};

pub(crate) fn addr(text: &str) -> AbsResourceInstance {
    AbsResourceInstance::parse(text).unwrap()
}

pub(crate) fn config(text: &str) -> ConfigResource {
    AbsResource::parse(text).unwrap().to_config()
}

pub(crate) fn provider() -> ProviderInstance {
    ProviderInstance::parse("provider[\"example.org/acme/x\"]", "example.org").unwrap()
}

fn clock() -> Arc<FixedClock> {
    Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH))
}

/// Where a state and the notes beside it are.
#[derive(Clone, Debug)]
pub(crate) enum StoreKind {
    Memory {
        state: SharedMemory,
        intents: SharedMemory,
    },
    Files {
        state: PathBuf,
        intents: PathBuf,
    },
    /// In memory, with a journal of changes beside the state.
    Journaled {
        state: SharedMemory,
        intents: SharedMemory,
        journal: MemoryJournal,
    },
}

impl StoreKind {
    pub(crate) fn memory() -> Self {
        Self::Memory { state: SharedMemory::new("state"), intents: SharedMemory::new("intents") }
    }

    pub(crate) fn journaled() -> Self {
        let (state, intents) = (SharedMemory::new("state"), SharedMemory::new("intents"));
        Self::Journaled { state, intents, journal: MemoryJournal::new("changes") }
    }

    pub(crate) fn files(folder: &tempfile::TempDir) -> Self {
        let path = |name| folder.path().join(name);
        Self::Files { state: path("terraform.tfstate"), intents: path("terraform.tfstate.intents") }
    }

    fn open(&self, trap: &Trap) -> (Arc<dyn StateStore>, Arc<dyn StateStore>) {
        fn trapped(store: impl StateStore, name: &'static str, trap: &Trap) -> Arc<dyn StateStore> {
            Arc::new(Trapped { store, name, trap: trap.clone() })
        }
        match self {
            Self::Memory { state, intents } | Self::Journaled { state, intents, .. } => {
                (trapped(state.open(), "state", trap), trapped(intents.open(), "intents", trap))
            }
            Self::Files { state, intents } => {
                let open = |path| FsStore::open(path, clock()).unwrap();
                (trapped(open(state), "state", trap), trapped(open(intents), "intents", trap))
            }
        }
    }

    /// What is stored.
    pub(crate) async fn stored(&self) -> State {
        let Some(stored) = self.open(&Trap::never()).0.read().await.unwrap() else { return State::new() };
        decode(&stored.bytes, &DecodeOptions::default()).unwrap().state
    }

    pub(crate) async fn store(&self, state: &State) {
        let session = Session::begin(self, &World::default(), Trap::never()).await;
        write_and_persist(&*session.manager, state).await.unwrap();
        session.end().await;
    }
}

/// A process: a manager under a lock, and an executor.
pub(crate) struct Session {
    pub(crate) manager: Arc<dyn Full>,
    pub(crate) executor: Executor,
    pub(crate) guard: LockGuard,
    pub(crate) trap: Trap,
}

impl Session {
    /// Frees the lock of a process that crashed, locks and refreshes.
    pub(crate) async fn begin(place: &StoreKind, world: &World, trap: Trap) -> Self {
        let (state, intents) = place.open(&trap);
        trap.sleep(true);
        let (options, ids) = (ManagerOptions::default(), Arc::new(SequenceIds::new()));
        let info = LockInfo::new(&*ids, Timestamp::UNIX_EPOCH, "OperationTypeApply").unwrap();
        let manager: Arc<dyn Full> = match place {
            StoreKind::Journaled { journal, .. } => {
                let journal = Arc::new(TrappedJournal { journal: journal.clone(), trap: trap.clone() });
                Arc::new(JournaledManager::new(state, journal, clock(), ids, options))
            }
            _ => Arc::new(Manager::new(state, clock(), ids, options)),
        };
        if let Some(holder) = manager.lock_holder().await.unwrap() {
            manager.force_unlock(&holder.id).await.unwrap();
        }
        let abandoned = Arc::new(AbandonedLocks::new());
        let locker: Arc<dyn Locker> = Arc::<dyn Full>::clone(&manager);
        let guard = LockGuard::acquire(locker, info, Waiting::not_at_all(), abandoned).await.unwrap();
        manager.refresh_state().await.unwrap();
        trap.sleep(false);
        let client = Client { world: world.clone(), trap: trap.clone() };
        let executor = Executor::new(
            Arc::<dyn Full>::clone(&manager),
            Arc::new(client),
            Arc::new(StoredIntents::new(intents)),
        );
        Self { manager, executor, guard, trap }
    }

    /// Runs a plan to its end; none if the process crashed.
    pub(crate) async fn run(&self, plan: &Plan, options: &WalkOptions) -> Option<RunReport> {
        let mut observe = |_| ();
        tokio::select! {
            report = self.executor.run(&self.guard, plan, options, &mut observe) => Some(report.unwrap()),
            () = self.trap.sprung() => None,
        }
    }

    /// Recovers; none if the process crashed.
    pub(crate) async fn recover(&self) -> Option<Vec<Recovered>> {
        tokio::select! {
            recovered = self.executor.recover(&self.guard) => Some(recovered.unwrap()),
            () = self.trap.sprung() => None,
        }
    }

    pub(crate) fn state(&self) -> State {
        self.manager.state().unwrap_or_default()
    }

    pub(crate) async fn end(self) {
        self.trap.sleep(true);
        self.guard.release().await.unwrap();
    }
}

/// The slots of both instances in words, such as `net.a: a-2! 00000001:a-1`.
pub(crate) fn show(state: &State) -> String {
    let mut lines = Vec::new();
    for (addr, instance) in state.resource_instances() {
        let mut words = vec![format!("{addr}:")];
        if let Some(current) = &instance.current {
            let mark = if current.status == groundstate_states::ObjectStatus::Tainted { "!" } else { "" };
            words.push(format!("{}{mark}", id(current)));
        }
        words.extend(instance.deposed.iter().map(|(key, object)| format!("{key}:{}", id(object))));
        lines.push(words.join(" "));
    }
    lines.join("; ")
}
