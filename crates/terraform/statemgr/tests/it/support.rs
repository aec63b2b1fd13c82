//! States, managers, and a store that keeps a record of its calls and fails when told to.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_common::{FixedClock, SequenceIds, Timestamp};
use groundstate_statefile::{DecodeOptions, Dialect, File, decode};
use groundstate_statemgr::{
    Capabilities, Error, ErrorKind, LockGrant, LockHolder, LockId, LockInfo, Manager, ManagerOptions,
    MemoryStore, Op, Result, SharedMemory, StateStore, Stored, Version, WriteOptions,
};
use groundstate_states::addr::{AbsResource, ModuleInstance, ProviderConfig};
use groundstate_states::{Lineage, OutputValue, Serial, State, Type, Value};

pub(crate) fn set_output(state: &mut State, name: &str, value: &str) {
    let output = OutputValue::new(Value::string(value), Type::String);
    state.set_output_value(&ModuleInstance::root(), name, output);
}

/// A state with one output.
pub(crate) fn state(value: &str) -> State {
    let mut state = State::new();
    set_output(&mut state, "value", value);
    state
}

/// The state that the originals' suite begins with: two outputs, and a resource without instances in a module.
pub(crate) fn initial_state() -> State {
    let mut state = state("");
    state.remove_output_value(&ModuleInstance::root(), "value");
    let mut secret = OutputValue::new(Value::string("it's a secret"), Type::String);
    secret.sensitive = true;
    state.set_output_value(&ModuleInstance::root(), "sensitive_output", secret);
    set_output(&mut state, "nonsensitive_output", "hello, world!");
    let provider = "provider[\"registry.terraform.io/hashicorp/null\"]";
    let provider =
        ProviderConfig::parse(provider, "registry.terraform.io").expect("it is a provider address");
    let husk = AbsResource::parse("module.child.null_resource.foo").expect("it is an address");
    state.set_resource_provider(&husk, &provider);
    state
}

pub(crate) fn file(lineage: &str, serial: u64, state: &State) -> File {
    let mut file = File::new(Dialect::Terraform, Lineage::new(lineage));
    file.serial = Serial::new(serial);
    file.state = state.clone();
    file
}

pub(crate) fn clock() -> Arc<FixedClock> {
    Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH))
}

pub(crate) fn manager_with(store: impl StateStore, options: ManagerOptions) -> Manager {
    Manager::new(Arc::new(store), clock(), Arc::new(SequenceIds::new()), options)
}

pub(crate) fn manager(store: impl StateStore) -> Manager {
    manager_with(store, ManagerOptions::default())
}

pub(crate) fn info(id: &str) -> LockInfo {
    LockInfo {
        id: LockId::new(id),
        who: "ann@host".to_owned(),
        operation: "test".to_owned(),
        ..LockInfo::default()
    }
}

pub(crate) fn kind<T>(result: Result<T>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

/// Serial, lineage and state of what is stored.
pub(crate) async fn stored(place: &SharedMemory) -> Result<Option<File>> {
    let stored = place.open().read().await?;
    Ok(stored.map(|stored| decode(&stored.bytes, &DecodeOptions::default()).expect("it is a state file")))
}

pub(crate) async fn stored_serial(place: &SharedMemory) -> Result<Option<u64>> {
    Ok(stored(place).await?.map(|file| file.serial.get()))
}

/// What a [`Script`] does to the next write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing is written, and the error is of this kind.
    Fail(ErrorKind),
    /// It is written, and the answer gets lost.
    LoseAnswer,
    /// It is written, and the answer never comes.
    NeverAnswer,
    /// The answer gets lost, and it is written later.
    Delay,
    /// Before it is written, what was delayed is.
    AfterTheDelayed,
}

/// A client of a place in memory that keeps a record of its calls.
#[derive(Clone, Debug)]
pub(crate) struct Script(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: MemoryStore,
    capabilities: Capabilities,
    calls: Mutex<Vec<String>>,
    faults: Mutex<Vec<Fault>>,
    unreadable: AtomicBool,
    delayed: Mutex<Option<(Vec<u8>, WriteOptions)>>,
    one_version: bool,
}

impl Script {
    pub(crate) fn new(place: &SharedMemory) -> Self {
        Self::with(place, |_| ())
    }

    /// A store that cannot check by itself.
    pub(crate) fn without_conditions(place: &SharedMemory) -> Self {
        Self::with(place, |inner| inner.capabilities.conditional_write = false)
    }

    /// A store that cannot check by itself, and calls every content by the same version.
    pub(crate) fn with_one_version(place: &SharedMemory) -> Self {
        Self::with(place, |inner| {
            inner.capabilities.conditional_write = false;
            inner.one_version = true;
        })
    }

    /// A store with checks of its own, which force overrides.
    pub(crate) fn with_force(place: &SharedMemory) -> Self {
        Self::with(place, |inner| inner.capabilities.force_write = true)
    }

    fn with(place: &SharedMemory, change: impl FnOnce(&mut Inner)) -> Self {
        let store = place.open();
        let mut inner = Inner {
            capabilities: store.capabilities(),
            store,
            calls: Mutex::default(),
            faults: Mutex::default(),
            unreadable: AtomicBool::new(false),
            delayed: Mutex::default(),
            one_version: false,
        };
        change(&mut inner);
        Self(Arc::new(inner))
    }

    fn version(&self, version: Version) -> Version {
        if self.0.one_version { Version::new("always") } else { version }
    }

    pub(crate) fn fail_next(&self, fault: Fault) {
        self.0.faults.lock().expect("no test panics inside").push(fault);
    }

    /// Nothing fails from now on.
    pub(crate) fn forgive(&self) {
        self.0.faults.lock().expect("no test panics inside").clear();
    }

    /// Lets a delayed write arrive, if there is one, and says whether it was accepted.
    pub(crate) async fn deliver(&self) -> Option<bool> {
        let delayed = self.0.delayed.lock().expect("no test panics inside").take();
        let (bytes, options) = delayed?;
        Some(self.0.store.write(Bytes::copy_from_slice(&bytes), &options).await.is_ok())
    }

    /// Whether reading fails from now on.
    pub(crate) fn unreadable(&self, yes: bool) {
        self.0.unreadable.store(yes, Ordering::SeqCst);
    }

    /// The calls since the last time, such as `get` and `put 1`.
    pub(crate) fn calls(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.calls.lock().expect("no test panics inside"))
    }

    fn record(&self, call: impl Into<String>) {
        self.0.calls.lock().expect("no test panics inside").push(call.into());
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.store.fmt(f)
    }
}

#[async_trait]
impl StateStore for Script {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities
    }

    async fn read(&self) -> Result<Option<Stored>> {
        self.record("get");
        if self.0.unreadable.load(Ordering::SeqCst) {
            return Err(Error::new(ErrorKind::Unavailable, Op::Read, self));
        }
        let stored = self.0.store.read().await?;
        Ok(stored.map(|Stored { bytes, version, .. }| Stored::new(bytes, self.version(version))))
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        let file = decode(&bytes, &DecodeOptions::default()).expect("managers write state files");
        self.record(format!("put {}{}", file.serial, if options.force { " by force" } else { "" }));
        let fault = self.0.faults.lock().expect("no test panics inside").pop();
        match fault {
            Some(Fault::Fail(kind)) => Err(Error::new(kind, Op::Write, self)),
            Some(Fault::LoseAnswer) => {
                self.0.store.write(bytes, options).await?;
                Err(Error::new(ErrorKind::Ambiguous, Op::Write, self))
            }
            Some(Fault::NeverAnswer) => {
                self.0.store.write(bytes, options).await?;
                std::future::pending().await
            }
            Some(Fault::Delay) => {
                *self.0.delayed.lock().expect("no test panics inside") =
                    Some((bytes.to_vec(), options.clone()));
                Err(Error::new(ErrorKind::Ambiguous, Op::Write, self))
            }
            Some(Fault::AfterTheDelayed) => {
                assert_eq!(
                    self.deliver().await,
                    Some(true),
                    "something was delayed, and nothing is in its way"
                );
                self.0.store.write(bytes, options).await
            }
            None => {
                let options = options.clone().force(false);
                let version = self.0.store.write(bytes, &options).await?;
                Ok(self.version(version))
            }
        }
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        self.0.store.delete(options).await
    }

    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        self.0.store.lock(info).await
    }

    async fn renew(&self, id: &LockId) -> Result<LockGrant> {
        self.0.store.renew(id).await
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        self.0.store.unlock(id).await
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        self.0.store.force_unlock(id).await
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        self.0.store.lock_holder().await
    }
}
