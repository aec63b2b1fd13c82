//! The place that right and wrong clients work on, and its harness.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use groundstate_common::{Clock, FixedClock, Timestamp};
use groundstate_conformance::{Address, Disturbance, Harness, TestStore};
use groundstate_statemgr::{
    CreateWorkspace, DeleteWorkspace, Error, ErrorKind, History, LockId, LockInfo, Op, Result, StateStore,
    WorkspaceName, WriteOptions, create_workspace,
};

use super::client::Client;
use super::flaw::Flaw;

pub(super) const PASSWORD: &str = "hunter2";

/// What is at a place.
#[derive(Default)]
pub(super) struct Inner {
    pub(super) bytes: Option<Vec<u8>>,
    /// Counts writes; the version of what is stored.
    pub(super) writes: u64,
    pub(super) token: u64,
    pub(super) lock: Option<Held>,
    /// The last lock that was released, for those that forget to forget it.
    pub(super) ghost: Option<LockInfo>,
    pub(super) disturbance: Option<Disturbance>,
    /// What would be left after a power cut.
    pub(super) durable: Option<Vec<u8>>,
}

#[derive(Clone)]
pub(super) struct Held {
    pub(super) id: LockId,
    pub(super) info: LockInfo,
    pub(super) client: usize,
    pub(super) token: u64,
    pub(super) expires: Timestamp,
}

pub(super) struct Shared {
    pub(super) flaw: Option<Flaw>,
    pub(super) clock: Arc<FixedClock>,
    pub(super) lease: Duration,
    pub(super) clients: AtomicUsize,
    inner: Mutex<Inner>,
    gate: Mutex<()>,
}

impl Shared {
    fn new(flaw: Option<Flaw>, clock: &Arc<FixedClock>) -> Arc<Self> {
        let lease = Duration::from_secs(60);
        let (clock, clients) = (Arc::clone(clock), AtomicUsize::new(0));
        Arc::new(Self { flaw, clock, lease, clients, inner: Mutex::default(), gate: Mutex::default() })
    }

    pub(super) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("nothing panics inside")
    }

    /// Makes one step of a check and what it is for.
    pub(super) fn gate(&self) -> MutexGuard<'_, ()> {
        self.gate.lock().expect("nothing panics inside")
    }

    fn client(self: &Arc<Self>) -> Client {
        Client::new(Arc::clone(self), self.clients.fetch_add(1, Ordering::SeqCst))
    }
}

/// Makes places whose clients have one flaw, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flawed(pub(crate) Option<Flaw>);

#[async_trait]
impl Harness for Flawed {
    fn name(&self) -> String {
        self.0.map_or("right".to_owned(), |flaw| format!("{flaw:?}"))
    }

    async fn store(&self) -> Result<Arc<dyn TestStore>> {
        let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
        Ok(Arc::new(Backend { flaw: self.0, clock, names: Arc::default() }))
    }

    async fn open_at(&self, _: &str) -> Result<Arc<dyn StateStore>> {
        // What it calls a place everybody sees is the memory of this process.
        let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
        Ok(Arc::new(Shared::new(self.0, &clock).client()))
    }

    fn secrets(&self) -> Vec<String> {
        vec![PASSWORD.to_owned()]
    }
}

#[derive(Clone)]
struct Backend {
    flaw: Option<Flaw>,
    clock: Arc<FixedClock>,
    names: Arc<Mutex<BTreeMap<String, Arc<Shared>>>>,
}

impl Backend {
    fn shared(&self, name: &str) -> Arc<Shared> {
        let name = if self.flaw == Some(Flaw::WorkspacesShareAState) { "default" } else { name };
        let mut names = self.names.lock().expect("nothing panics inside");
        let new = || Shared::new(self.flaw, &self.clock);
        Arc::clone(names.entry(name.to_owned()).or_insert_with(new))
    }
}

#[async_trait]
impl TestStore for Backend {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(self.shared("default").client()))
    }

    fn address(&self) -> Address {
        Address::At("everywhere".to_owned())
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::<FixedClock>::clone(&self.clock)
    }

    async fn pass(&self, time: Duration) {
        self.clock.advance(time);
    }

    async fn put_zero_bytes(&self) -> Result<bool> {
        self.shared("default").inner().bytes = Some(Vec::new());
        Ok(true)
    }

    async fn open_without_container(&self) -> Result<Option<Arc<dyn StateStore>>> {
        let client = self.shared("nowhere").client();
        Ok(Some(Arc::new(client.without_container(self.flaw != Some(Flaw::MissingContainerIsAbsent)))))
    }

    async fn restart(&self) -> Result<bool> {
        let shared = self.shared("default");
        let mut inner = shared.inner();
        inner.bytes = inner.durable.clone();
        inner.lock = None;
        if self.flaw == Some(Flaw::TokensBeginAgainAfterRestart) {
            inner.token = 0;
        }
        Ok(true)
    }

    async fn disturb(&self, disturbance: Disturbance) -> Result<bool> {
        self.shared("default").inner().disturbance = Some(disturbance);
        Ok(true)
    }

    async fn workspaces(&self) -> Result<Option<Arc<dyn groundstate_statemgr::Backend>>> {
        Ok(Some(Arc::new(Named(self.clone()))))
    }
}

/// A client of the backend.
struct Named(Backend);

impl std::fmt::Debug for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Named")
    }
}

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("broken")
    }
}

#[async_trait]
impl groundstate_statemgr::Backend for Named {
    async fn list(&self) -> Result<Vec<WorkspaceName>> {
        let names = self.0.names.lock().expect("nothing panics inside");
        let exists = |shared: &Arc<Shared>| {
            self.0.flaw == Some(Flaw::DeletedWorkspacesAreListed) || shared.inner().bytes.is_some()
        };
        let named = names.iter().filter(|(name, shared)| *name != "default" && exists(shared));
        let named = named.map(|(name, _)| WorkspaceName::parse(name).expect("only names come in"));
        Ok([WorkspaceName::default_name()].into_iter().chain(named).collect())
    }

    fn store(&self, name: &WorkspaceName) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(self.0.shared(name.as_str()).client()))
    }

    async fn create(&self, name: &WorkspaceName, options: &CreateWorkspace) -> Result<()> {
        create_workspace(&*self.store(name)?, name, options).await
    }

    async fn delete(&self, name: &WorkspaceName, _: &DeleteWorkspace) -> Result<()> {
        if name.is_default() {
            return Err(Error::new(ErrorKind::Invalid, Op::DeleteWorkspace, name));
        }
        self.store(name)?.delete(&WriteOptions::any()).await
    }

    fn history(&self, _: &WorkspaceName) -> Result<Option<Arc<dyn History>>> {
        Ok(None)
    }
}
