//! The conformance suite of state stores: through this project's client, over connections that fail, against this server.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use groundstate_conformance::{Address, BoxFuture, Disturbance, Harness, TestStore};
use groundstate_server::auth::Role;
use groundstate_server::common::{OsIds, SystemClock};
use groundstate_server::{Check, Policies};
use groundstate_statemgr::{Result, StateStore, TokioSleeper};
use groundstate_statemgr_http::{HttpBackend, HttpConfig};
use groundstate_testkit::{Fault, FaultProxy};
use tokio::runtime::Runtime;

use crate::listening::Listening;
use crate::support::Server;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("threads can be started"));
/// The server, behind a proxy that makes the faults. The suite stores bytes that are no states.
static PROXY: LazyLock<(Listening, FaultProxy)> = LazyLock::new(|| {
    let mut policies = Policies::default();
    policies.content = Check::Off;
    policies.check = Check::Off;
    let listening = Listening::start(&Server::with(policies), Role::Write);
    let proxy = FaultProxy::in_front_of(&listening.endpoint());
    (listening, proxy)
});
/// Counts the states.
static STATES: AtomicU64 = AtomicU64::new(0);

/// The ways in which a state is opened.
#[derive(Clone, Copy)]
enum Way {
    Locked,
    /// Writes have conditions.
    Conditional,
}

fn open(way: Way, address: &str) -> Arc<dyn StateStore> {
    let mut config = HttpConfig::locked(address);
    config.conditional_write = matches!(way, Way::Conditional);
    config.retry_wait_min = Duration::from_millis(5);
    config.retry_wait_max = Duration::from_millis(20);
    let backend = HttpBackend::open(&config, Arc::new(SystemClock), Arc::new(TokioSleeper), Arc::new(OsIds));
    Arc::new(backend.expect("the options can be used").state())
}

#[async_trait]
impl Harness for Way {
    fn name(&self) -> String {
        match self {
            Self::Locked => "server",
            Self::Conditional => "server, conditions",
        }
        .to_owned()
    }

    async fn store(&self) -> Result<Arc<dyn TestStore>> {
        let path = format!("/tf/conformance/s{}", STATES.fetch_add(1, Ordering::Relaxed));
        Ok(Arc::new(AtServer { way: *self, path }))
    }

    async fn open_at(&self, address: &str) -> Result<Arc<dyn StateStore>> {
        Ok(open(*self, address))
    }

    fn block_on(&self, future: BoxFuture<'_, ()>) {
        RUNTIME.block_on(future);
    }
}

struct AtServer {
    way: Way,
    path: String,
}

impl AtServer {
    fn address(&self) -> String {
        format!("{}{}", PROXY.1.endpoint(), self.path)
    }
}

#[async_trait]
impl TestStore for AtServer {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        Ok(open(self.way, &self.address()))
    }

    fn address(&self) -> Address {
        Address::At(Self::address(self))
    }

    async fn put_zero_bytes(&self) -> Result<bool> {
        let request = format!(
            "PUT {} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            self.path
        );
        let answer = tokio::task::spawn_blocking(move || PROXY.0.raw(request.as_bytes())).await;
        Ok(answer.is_ok_and(|answer| answer.starts_with("HTTP/1.1 200 ")))
    }

    async fn disturb(&self, disturbance: Disturbance) -> Result<bool> {
        let fault = match disturbance {
            Disturbance::RefuseRequest => Fault::unavailable(0),
            _ => Fault::drop_after_commit(),
        };
        PROXY.1.fault(fault.on("*", &format!("{}*", self.path)).times(1));
        Ok(true)
    }
}

mod locked {
    groundstate_conformance::suite!(super::Way::Locked);
}

mod conditional {
    groundstate_conformance::suite!(super::Way::Conditional);
}
