//! A service that listens, and a project whose stacks are there.

use std::sync::Arc;
use std::time::Duration;

use groundstate_server::auth::Role;
use groundstate_server::blobs::{BlobStore, Context, GetOptions, Key as BlobKey, ListOptions, MemoryBlobs};
use groundstate_server::common::{FixedClock, OsEntropy, OsIds, Timestamp};
use groundstate_server::config::StorePlace;
use groundstate_server::edge::{OpenedStore, Opening};
use groundstate_server::pulumi_service::LocalKey;
use groundstate_server::pulumi_service::pulumi_secrets::Key;
use groundstate_server::{App, Parts};
use groundstate_statemgr::TokioSleeper;
use groundstate_testkit::{PulumiPlace, PulumiProject, Ran, pulumi_has_journals, pulumi_takes_part};
use serde_json::Value;

use crate::listening::Listening;
use crate::support::{Client, Server};

/// Runs a test with the states in every kind of store that is there.
macro_rules! in_each_store {
    ($($scenario:ident)*) => {
        $(
            mod $scenario {
                use groundstate_testkit::{S3Locks, TestBackend, pulumi_takes_part};

                use crate::pulumi::service::Service;
                use crate::support::{bucket_url, postgres_url};

                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn in_a_directory() {
                    let folder = tempfile::tempdir().unwrap();
                    if pulumi_takes_part() {
                        super::$scenario(Service::at(folder.path().to_str().unwrap()).await).await;
                    }
                }

                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn in_s3() {
                    let bucket = TestBackend::s3(S3Locks::File);
                    if pulumi_takes_part() {
                        super::$scenario(Service::at(&bucket_url(&bucket)).await).await;
                    }
                }

                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn in_postgresql() {
                    if pulumi_takes_part() && let Some(url) = postgres_url() {
                        super::$scenario(Service::at(&url).await).await;
                    }
                }
            }
        )*
    };
}
pub(crate) use in_each_store;

/// What updates send of their state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sends {
    /// Entries, if the CLI is of a release that has them.
    Journal,
    /// A whole checkpoint after each step.
    Whole,
    /// The differences of checkpoints.
    Deltas,
}

impl Sends {
    /// What `GROUNDSTATE_PULUMI_SENDS` asks for, so that all tests can be run with each.
    pub(crate) fn wanted() -> Self {
        let wanted = std::env::var("GROUNDSTATE_PULUMI_SENDS").unwrap_or_else(|_| "journal".to_owned());
        let all = [("journal", Self::Journal), ("whole", Self::Whole), ("deltas", Self::Deltas)];
        let found = all.into_iter().find(|(name, _)| *name == wanted);
        found.expect("GROUNDSTATE_PULUMI_SENDS is journal, whole or deltas").1
    }
}

/// Whether the tests run now that are about what only journals tell: with another release of the CLI, or where it sends checkpoints, they do not.
pub(crate) fn journals_take_part() -> bool {
    pulumi_takes_part() && pulumi_has_journals() && Sends::wanted() == Sends::Journal
}

/// A service that listens, and a project whose stacks are there.
pub(crate) struct Service {
    pub(crate) listening: Listening,
    pub(crate) project: PulumiProject,
    pub(crate) client: Client,
    pub(crate) server: Server,
    pub(crate) clock: Arc<FixedClock>,
    pub(crate) blobs: Arc<dyn BlobStore>,
}

impl Service {
    pub(crate) fn new() -> Self {
        Self::with(Arc::new(MemoryBlobs::new("stacks")), |_| {})
    }

    /// With the states in a store that is opened as the program does it.
    pub(crate) async fn at(place: &str) -> Self {
        use groundstate_server::common::SystemClock;
        let context = Context::new(Arc::new(SystemClock), Arc::new(TokioSleeper), Arc::new(OsIds));
        let place = StorePlace::parse(place).unwrap();
        let mut opened = OpenedStore::open(&place, &context, &|_| None).unwrap();
        opened.check(&place, &context, &Opening::default().init(true)).await.unwrap();
        Self::with(opened.store, |_| {})
    }

    pub(crate) fn with(blobs: Arc<dyn BlobStore>, change: impl FnOnce(&mut Parts)) -> Self {
        let clock = Arc::new(FixedClock::new(Timestamp::from_unix(1_800_000_000, 0).unwrap()));
        let sends = Sends::wanted();
        let server = node(&blobs, &clock, |parts| {
            parts.policies.pulumi_deltas_from = (sends == Sends::Deltas).then_some(0);
            change(parts);
        });
        let listening = Listening::start(&server, Role::Admin);
        let place = PulumiPlace::service(&listening.endpoint(), "any");
        let mut project = PulumiProject::new(&place);
        if sends != Sends::Journal {
            project.set("PULUMI_DISABLE_JOURNALING", "true");
        }
        Self { project, listening, client: server.admin(), server, clock, blobs }
    }

    /// Another node on the same store.
    pub(crate) fn node(&self) -> Server {
        node(&self.blobs, &self.clock, |_| {})
    }

    /// The same with other parts.
    pub(crate) fn node_with(&self, change: impl FnOnce(&mut Parts)) -> Server {
        node(&self.blobs, &self.clock, change)
    }

    pub(crate) fn wait(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    #[track_caller]
    pub(crate) fn pulumi(&self, arguments: &[&str]) -> Ran {
        self.project.pulumi(arguments)
    }

    /// Applies the program to the stack `dev`.
    #[track_caller]
    pub(crate) fn up(&self) {
        self.project.up("dev");
    }

    pub(crate) fn init(&self) {
        self.pulumi(&["stack", "init", "dev"]).succeeds();
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        self.client.get(&format!("/api/stacks/admin/shop/{path}")).await.is(200).json()
    }

    /// The newest entry of the history of the stack `dev`.
    pub(crate) async fn latest(&self) -> Value {
        self.get("dev/updates/latest").await["info"].clone()
    }

    /// The names of what is stored.
    pub(crate) async fn stored(&self, prefix: &str) -> Vec<String> {
        let mut names = Vec::new();
        let mut options = ListOptions::default();
        loop {
            let page = self.blobs.list(prefix, &options).await.unwrap();
            names.extend(page.blobs.into_iter().map(|blob| blob.name));
            if page.next.is_none() {
                return names;
            }
            options = ListOptions::default().page(page.next);
        }
    }

    pub(crate) async fn content(&self, name: &str) -> bytes::Bytes {
        let key = BlobKey::parse(name).unwrap();
        self.blobs.get(&key, &GetOptions::default()).await.unwrap().unwrap().bytes
    }

    pub(crate) fn config(&self, stack: &str) -> String {
        std::fs::read_to_string(self.project.path().join(format!("Pulumi.{stack}.yaml"))).unwrap_or_default()
    }
}

fn node(blobs: &Arc<dyn BlobStore>, clock: &Arc<FixedClock>, change: impl FnOnce(&mut Parts)) -> Server {
    let [time, timer] = [(); 2].map(|()| Arc::<FixedClock>::clone(clock));
    let mut parts = Parts::new(Arc::clone(blobs));
    parts.context = Context::new(time, timer, Arc::new(OsIds));
    let key = LocalKey::new(&Key::new([7; Key::LENGTH]), Arc::new(OsEntropy));
    parts.secrets_key = Some(Arc::new(key));
    change(&mut parts);
    Server { app: App::open(parts).unwrap() }
}
