//! The harnesses of the stores in clouds: on servers of the test kit, opened by the settings of a `backend` block.

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use groundstate_backends::{Context, Registry, Settings};
use groundstate_common::{OsIds, SystemClock};
use groundstate_conformance::{Address, BoxFuture, Harness, TestStore, ThreadSleeper};
use groundstate_statemgr::{Backend, Error, ErrorKind, Op, Result, StateStore, WorkspaceName};
use groundstate_testkit::TestBackend;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("threads can be started"));

/// Makes places on servers of the test kit.
pub(crate) struct CloudHarness {
    name: &'static str,
    make: fn() -> TestBackend,
}

impl CloudHarness {
    /// What reports call it, and what makes a place.
    pub(crate) fn new(name: &'static str, make: fn() -> TestBackend) -> Self {
        Self { name, make }
    }
}

#[async_trait]
impl Harness for CloudHarness {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    async fn store(&self) -> Result<Arc<dyn TestStore>> {
        // The kit starts servers on a runtime of its own, which does not nest.
        let make = self.make;
        let made = tokio::task::spawn_blocking(make).await;
        Ok(Arc::new(OnServer(made.map_err(|error| failure("the server").with_source(error))?)))
    }

    async fn open_at(&self, address: &str) -> Result<Arc<dyn StateStore>> {
        let place: Value =
            serde_json::from_str(address).map_err(|error| failure(address).with_source(error))?;
        let (Some(kind), Some(options)) = (place["kind"].as_str(), place["settings"].as_object()) else {
            return Err(failure(address));
        };
        backend(&Settings::new(kind).with_all(options))?.store(&WorkspaceName::default_name())
    }

    fn block_on(&self, future: BoxFuture<'_, ()>) {
        RUNTIME.block_on(future);
    }
}

fn failure(place: &str) -> Error {
    Error::new(ErrorKind::Unavailable, Op::Other("open"), place)
}

fn backend(settings: &Settings) -> Result<Arc<dyn Backend>> {
    let context = Context::new(Arc::new(SystemClock), Arc::new(ThreadSleeper), Arc::new(OsIds));
    let opened = Registry::standard().open(settings, &context);
    Ok(opened.map_err(|error| failure(settings.kind()).with_source(error))?.backend)
}

struct OnServer(TestBackend);

impl OnServer {
    fn backend(&self) -> Result<Arc<dyn Backend>> {
        backend(&Settings::new(self.0.kind()).with_all(&self.0.direct_settings()))
    }
}

#[async_trait]
impl TestStore for OnServer {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        self.backend()?.store(&WorkspaceName::default_name())
    }

    fn address(&self) -> Address {
        Address::At(json!({"kind": self.0.kind(), "settings": self.0.direct_settings()}).to_string())
    }

    async fn workspaces(&self) -> Result<Option<Arc<dyn Backend>>> {
        // The HTTP protocol has one state at an address, and no workspaces.
        if self.0.kind() == "http" { Ok(None) } else { self.backend().map(Some) }
    }
}
