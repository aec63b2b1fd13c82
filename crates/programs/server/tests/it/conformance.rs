//! The conformance suites: that of state stores through this project's client, over connections that fail, against servers on every kind of
//! store, and that of the protocol.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use groundstate_conformance::http::{HttpServer, run};
use groundstate_conformance::{Address, BoxFuture, Disturbance, Harness, TestStore};
use groundstate_server::auth::Role;
use groundstate_server::blobs::Context;
use groundstate_server::common::{OsIds, SystemClock};
use groundstate_server::config::StorePlace;
use groundstate_server::edge::{OpenedStore, Opening};
use groundstate_server::{Check, Policies};
use groundstate_statemgr::{Result, StateStore, TokioSleeper};
use groundstate_statemgr_http::{HttpBackend, HttpConfig};
use groundstate_testkit::{Fault, FaultProxy, S3Locks, TestBackend};
use tokio::runtime::Runtime;

use crate::listening::Listening;
use crate::support::{Server, bucket_url, postgres_url};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("threads can be started"));
static MEMORY: LazyLock<Option<Behind>> = LazyLock::new(|| Some(Behind::new(StorePlace::Memory)));
static DIRECTORY: LazyLock<Option<Behind>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a directory can be made");
    Some(Behind::new(StorePlace::Directory(folder.keep())))
});
static S3: LazyLock<Option<Behind>> = LazyLock::new(|| {
    // A server of others, or that of the test kit, which says so.
    let bucket = TestBackend::s3(S3Locks::File);
    let url = bucket_url(&bucket);
    let place = StorePlace::parse(&url).expect("it is the URL of a bucket");
    Some(Behind { bucket: Some(bucket), ..Behind::new(place) })
});
static POSTGRES: LazyLock<Option<Behind>> = LazyLock::new(|| {
    let url = postgres_url()?;
    Some(Behind::new(StorePlace::parse(&url).expect("it is the URL of a database")))
});

/// A server on a store, behind a proxy that makes the faults.
struct Behind {
    listening: Listening,
    proxy: FaultProxy,
    #[expect(dead_code, reason = "the bucket is there as long as its server")]
    bucket: Option<TestBackend>,
}

impl Behind {
    /// Opens the store as the program does. The suite stores bytes that are no states.
    fn new(place: StorePlace) -> Self {
        let context = Context::new(Arc::new(SystemClock), Arc::new(TokioSleeper), Arc::new(OsIds));
        let open = async move {
            let mut opened = OpenedStore::open(&place, &context, &|_| None)?;
            opened.check(&place, &context, &Opening::default().init(true)).await.map(|()| opened.store)
        };
        // The suite may wait for this on its runtime, which does not nest.
        let opened = std::thread::spawn(|| RUNTIME.block_on(open)).join().expect("the store is opened");
        let mut policies = Policies::default();
        policies.content = Check::Off;
        policies.check = Check::Off;
        let server = Server::on(opened.expect("the store can be used"), policies);
        let listening = Listening::start(&server, Role::Write);
        let proxy = FaultProxy::in_front_of(&listening.endpoint());
        Self { listening, proxy, bucket: None }
    }
}
/// Counts the states.
static STATES: AtomicU64 = AtomicU64::new(0);

/// The stores of servers, and the ways in which a state is opened there.
#[derive(Clone, Copy)]
enum Way {
    Memory,
    /// Writes have conditions.
    Conditional,
    Directory,
    S3,
    Postgres,
}

impl Way {
    fn behind(self) -> Option<&'static Behind> {
        match self {
            Self::Memory | Self::Conditional => &*MEMORY,
            Self::Directory => &*DIRECTORY,
            Self::S3 => &*S3,
            Self::Postgres => &*POSTGRES,
        }
        .as_ref()
    }

    fn server(self) -> &'static Behind {
        self.behind().expect("a suite without its service does not run")
    }

    /// If its service is there.
    fn available(self) -> Option<Self> {
        self.behind().map(|_| self)
    }
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
            Self::Memory => "server, memory",
            Self::Conditional => "server, memory, conditions",
            Self::Directory => "server, directory",
            Self::S3 => "server, S3",
            Self::Postgres => "server, PostgreSQL",
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
        format!("{}{}", self.way.server().proxy.endpoint(), self.path)
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
        let way = self.way;
        let answer =
            tokio::task::spawn_blocking(move || way.server().listening.raw(request.as_bytes())).await;
        Ok(answer.is_ok_and(|answer| answer.starts_with("HTTP/1.1 200 ")))
    }

    async fn disturb(&self, disturbance: Disturbance) -> Result<bool> {
        let fault = match disturbance {
            Disturbance::RefuseRequest => Fault::unavailable(0),
            _ => Fault::drop_after_commit(),
        };
        self.way.server().proxy.fault(fault.on("*", &format!("{}*", self.path)).times(1));
        Ok(true)
    }
}

mod memory {
    groundstate_conformance::suite!(super::Way::Memory);
}

mod conditional {
    groundstate_conformance::suite!(super::Way::Conditional);
}

mod directory {
    groundstate_conformance::suite!(super::Way::Directory);
}

mod s3 {
    groundstate_conformance::suite!(optional super::Way::S3.available(); calm, errors, stops);
}

mod postgres {
    groundstate_conformance::suite!(optional super::Way::Postgres.available(); calm, errors, stops);
}

/// The protocol itself, by requests that are sent by hand, where Terraform's own clients see no more than the outcome.
#[test]
fn every_clause_of_the_protocol_is_kept_on_every_store() {
    for way in [Way::Memory, Way::Directory, Way::S3, Way::Postgres] {
        let Some(behind) = way.behind() else { continue };
        let server = HttpServer::new(format!("{}/tf/protocol", behind.listening.endpoint()));
        let report = run(&server, None);
        assert!(report.is_success(), "{}: {report}", way.name());
        assert_eq!(report.counts().not_applicable, 0, "{}: {report}", way.name());
    }
    // Clients keep what an address has behind its path.
    let address = format!("{}/tf/protocol/{{state}}?x=1&y=%20", Way::Memory.server().listening.endpoint());
    let report = run(&HttpServer::new(address), None);
    assert!(report.is_success(), "{report}");
}
