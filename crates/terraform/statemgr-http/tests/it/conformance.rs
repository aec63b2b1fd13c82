//! The conformance suite, over a server of the test kit.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use groundstate_conformance::{Address, BoxFuture, Disturbance, Harness, TestStore};
use groundstate_statemgr::{Result, StateStore};
use groundstate_statemgr_http::HttpConfig;
use groundstate_testkit::{Fault, HttpStateServer};
use tokio::runtime::Runtime;

use crate::support::{open, quick};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("threads can be started"));
static SERVER: LazyLock<HttpStateServer> = LazyLock::new(HttpStateServer::start_blocking);
/// Counts the places.
static PLACES: AtomicU64 = AtomicU64::new(0);

/// The password that no message shows.
const PASSWORD: &str = "hunter2hunter2";

/// The ways in which a state is opened.
#[derive(Clone, Copy)]
enum Way {
    /// Locked by `LOCK` and `UNLOCK`.
    Locked,
    /// The same, at a server that honours conditions.
    Conditional,
    /// Without a lock.
    Unlocked,
}

fn config(way: Way, address: &str) -> HttpConfig {
    let mut config = match way {
        Way::Unlocked => HttpConfig::new(address),
        _ => HttpConfig::locked(address),
    };
    config.username = Some("ana".to_owned());
    config.password = Some(PASSWORD.to_owned());
    config.conditional_write = matches!(way, Way::Conditional);
    quick(config)
}

#[async_trait]
impl Harness for Way {
    fn name(&self) -> String {
        match self {
            Self::Locked => "HTTP",
            Self::Conditional => "HTTP, conditions",
            Self::Unlocked => "HTTP, unlocked",
        }
        .to_owned()
    }

    async fn store(&self) -> Result<Arc<dyn TestStore>> {
        let path = format!("/states/{}", PLACES.fetch_add(1, Ordering::Relaxed));
        Ok(Arc::new(AtServer { way: *self, path }))
    }

    async fn open_at(&self, address: &str) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(open(&config(*self, address))))
    }

    fn block_on(&self, future: BoxFuture<'_, ()>) {
        RUNTIME.block_on(future);
    }

    fn secrets(&self) -> Vec<String> {
        vec![PASSWORD.to_owned()]
    }
}

struct AtServer {
    way: Way,
    path: String,
}

impl AtServer {
    fn address(&self) -> String {
        format!("{}{}", SERVER.endpoint(), self.path)
    }
}

#[async_trait]
impl TestStore for AtServer {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        Ok(Arc::new(open(&config(self.way, &self.address()))))
    }

    fn address(&self) -> Address {
        Address::At(Self::address(self))
    }

    async fn put_zero_bytes(&self) -> Result<bool> {
        SERVER.put_state(&self.path, "");
        Ok(true)
    }

    async fn disturb(&self, disturbance: Disturbance) -> Result<bool> {
        let fault = match disturbance {
            Disturbance::RefuseRequest => Fault::unavailable(0),
            _ => Fault::drop_after_commit(),
        };
        SERVER.fault(fault.on("*", &format!("{}*", self.path)).times(1));
        Ok(true)
    }
}

mod locked {
    groundstate_conformance::suite!(super::Way::Locked);
}

mod conditional {
    groundstate_conformance::suite!(super::Way::Conditional);
}

mod unlocked {
    groundstate_conformance::suite!(super::Way::Unlocked);
}
