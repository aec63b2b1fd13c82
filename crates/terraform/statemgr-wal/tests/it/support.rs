//! Managers on places in memory, states, and small changes of them.

use std::sync::{Arc, LazyLock};

use groundstate_common::{FixedClock, SequenceIds, Timestamp};
use groundstate_statefile::{DecodeOptions, File, decode, encode_equally};
use groundstate_statemgr::{
    LockGrant, Locker, ManagerOptions, Persister, Reader, Refresher, Result, SharedMemory, StateStore,
    Writer, write_and_persist,
};
use groundstate_statemgr_wal::JournaledManager;
use groundstate_states::addr::{AbsResourceInstance, ModuleInstance, ProviderInstance};
use groundstate_states::{ObjectSrc, OutputValue, RawJson, State, Type, Value};
use groundstate_wal::{JournalStore, MemoryJournal};

/// A place for a state and the journal beside it.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) place: SharedMemory,
    pub(crate) journal: MemoryJournal,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { place: SharedMemory::new("prod"), journal: MemoryJournal::new("prod") }
    }

    pub(crate) fn manager(&self) -> JournaledManager {
        over(Arc::new(self.place.open()), Arc::new(self.journal.clone()))
    }

    /// A manager that holds the lock, of a state that has been stored and refreshed.
    pub(crate) async fn running(&self) -> (JournaledManager, LockGrant) {
        let manager = self.manager();
        let grant = lock(&manager).await.unwrap();
        manager.refresh_state().await.unwrap();
        if manager.state().is_none() {
            write_and_persist(&manager, &state(&["base"])).await.unwrap();
        }
        (manager, grant)
    }

    /// The holder of the lock has died.
    pub(crate) async fn free(&self) {
        let store = self.place.open();
        if let Some(holder) = store.lock_holder().await.unwrap() {
            store.force_unlock(&holder.id).await.unwrap();
        }
    }

    /// The ordinary object.
    pub(crate) async fn object(&self) -> File {
        let stored = self.place.open().read().await.unwrap().expect("a state is stored");
        decode(&stored.bytes, &DecodeOptions::default()).unwrap()
    }

    pub(crate) async fn has_journal(&self) -> bool {
        self.journal.head().await.unwrap().is_some()
    }
}

pub(crate) fn over(store: Arc<dyn StateStore>, journal: Arc<dyn JournalStore>) -> JournaledManager {
    let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
    // Shared by all, so that no two locks have the same id.
    static IDS: LazyLock<Arc<SequenceIds>> = LazyLock::new(Arc::default);
    let options = ManagerOptions::default().who("ann@host");
    JournaledManager::new(store, journal, clock, Arc::<SequenceIds>::clone(&IDS), options)
}

pub(crate) async fn lock(manager: &JournaledManager) -> Result<LockGrant> {
    Ok(manager.lock(&manager.lock_info("apply")?).await?.expect("memory has locks"))
}

/// A state with these outputs.
pub(crate) fn state(outputs: &[&str]) -> State {
    let mut state = State::new();
    outputs.iter().for_each(|name| set_output(&mut state, name, name));
    state
}

pub(crate) fn set_output(state: &mut State, name: &str, value: &str) {
    let output = OutputValue::new(Value::string(value), Type::String);
    state.set_output_value(&ModuleInstance::root(), name, output);
}

pub(crate) fn provider() -> ProviderInstance {
    ProviderInstance::parse("provider[\"registry.terraform.io/hashicorp/null\"]", "registry.terraform.io")
        .unwrap()
}

/// Records an object with this id.
pub(crate) fn set_instance(state: &mut State, addr: &str, id: &str) {
    let object = ObjectSrc::new(0, RawJson::parse(format!(r#"{{"id":"{id}"}}"#).as_str()).unwrap());
    let addr = AbsResourceInstance::parse(addr).unwrap();
    state.set_resource_instance_current(&addr, Some(Arc::new(object)), &provider());
}

/// Makes a change durable.
pub(crate) async fn change(
    manager: &JournaledManager,
    mut change: impl FnMut(&mut State) + Send,
) -> Result<()> {
    manager.mutate_state(&mut |state| change(state.get_or_insert_default()))?;
    manager.persist_state().await.map(drop)
}

#[track_caller]
pub(crate) fn assert_same(found: &State, expected: &State, what: &str) {
    assert!(encode_equally(found, expected), "{what}: {found:#?} is not {expected:#?}");
}
