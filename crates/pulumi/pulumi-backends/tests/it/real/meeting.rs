//! Both ask for the lock at the same time: each request in the way of the other is held up until the moment is there.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_pulumi_backends::blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, GetOptions, Key, Leases,
    ListOptions, Page, PutOptions, Result,
};
use groundstate_pulumi_backends::pulumi_diy::{Layout, Options, Stack};
use groundstate_testkit::{Fault, PulumiPlace, PulumiProject, pulumi_takes_part};
use tokio::sync::Semaphore;

use super::locks::{conflict, lock};
use super::ours;
use crate::support::{backend, pid, reference, store};

/// A point at which a request waits for the test.
#[derive(Debug)]
struct Gate {
    reached: Semaphore,
    opened: Semaphore,
}

impl Gate {
    fn new() -> Arc<Self> {
        Arc::new(Self { reached: Semaphore::new(0), opened: Semaphore::new(0) })
    }

    async fn pass(&self) {
        self.reached.add_permits(1);
        self.opened.acquire().await.unwrap().forget();
    }

    async fn reached(&self) {
        tokio::time::timeout(Duration::from_secs(60), self.reached.acquire())
            .await
            .unwrap()
            .unwrap()
            .forget();
    }

    fn open(&self) {
        self.opened.add_permits(1);
    }
}

/// A store in which writing and removing a lock that pulumi sees wait.
#[derive(Debug)]
struct Gated {
    store: Arc<dyn BlobStore>,
    put: Arc<Gate>,
    delete: Arc<Gate>,
}

#[async_trait]
impl BlobStore for Gated {
    fn capabilities(&self) -> BlobCapabilities {
        self.store.capabilities()
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        self.store.get(key, options).await
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        self.store.head(key).await
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        if key.as_str().starts_with(Layout::LOCKS) {
            self.put.pass().await;
        }
        self.store.put(key, bytes, options).await
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        if key.as_str().starts_with(Layout::LOCKS) {
            self.delete.pass().await;
        }
        self.store.delete(key, options).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        self.store.list(prefix, options).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        self.store.leases()
    }
}

impl fmt::Display for Gated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

/// A stack in S3, and the same one with gates.
struct Meeting {
    place: PulumiPlace,
    project: Arc<PulumiProject>,
    stack: Stack,
    gated: Stack,
    put: Arc<Gate>,
    delete: Arc<Gate>,
}

impl Meeting {
    async fn new() -> Self {
        let place = PulumiPlace::s3_here();
        let project = Arc::new(PulumiProject::new(&place));
        project.pulumi(&["stack", "init", "dev"]).succeeds();
        let stack = ours(&place).await.stack(&reference("dev"));
        let (put, delete) = (Gate::new(), Gate::new());
        let store = store(place.url(), place.environment()).await.store;
        let gated = Gated { store, put: Arc::clone(&put), delete: Arc::clone(&delete) };
        let gated = backend(Arc::new(gated), Options::default()).await.stack(&reference("dev"));
        Self { place, project, stack, gated, put, delete }
    }

    async fn nothing_is_left(&self) {
        assert_eq!(self.stack.locks().await.unwrap(), []);
        lock(&self.stack).await.unwrap().release().await.unwrap();
        self.project.up("dev");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_of_pulumi_between_two_looks_of_ours_is_honoured() {
    if !pulumi_takes_part() {
        return;
    }
    let meeting = Meeting::new().await;
    let stack = meeting.gated.clone();
    let locking = tokio::spawn(async move { lock(&stack).await });
    meeting.put.reached().await;
    let held = meeting.project.holds("dev");
    meeting.put.open();
    meeting.delete.open();
    let found = conflict(locking.await.unwrap());
    assert_eq!(found.iter().map(pid).collect::<Vec<_>>(), [i64::from(held.id())]);
    held.release().succeeds();
    meeting.nothing_is_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_fail_when_each_finds_the_lock_of_the_other() {
    if !pulumi_takes_part() {
        return;
    }
    let meeting = Meeting::new().await;
    let stack = meeting.gated.clone();
    let locking = tokio::spawn(async move { lock(&stack).await });
    meeting.put.reached().await;
    // Pulumi has looked and written its lock; the answer takes so long that ours finds it first.
    let server = meeting.place.server().unwrap();
    server.fault(Fault::delay_answer(Duration::from_secs(4)).on("PUT", "*/.pulumi/locks/*").nth(1));
    let project = Arc::clone(&meeting.project);
    let pulumi =
        std::thread::spawn(move || project.pulumi(&["up", "--yes", "--skip-preview", "--stack", "dev"]));
    let start = Instant::now();
    while !meeting.stack.locks().await.unwrap().iter().any(|lock| lock.key.starts_with(Layout::LOCKS)) {
        assert!(start.elapsed() < Duration::from_secs(60), "pulumi never wrote its lock");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    meeting.put.open();
    meeting.delete.reached().await;
    let refused = pulumi.join().unwrap().fails();
    assert!(refused.contains(&format!("created by ann@build-7 (pid {})", std::process::id())), "{refused}");
    meeting.delete.open();
    let found = conflict(locking.await.unwrap());
    assert!(found.len() == 1 && found[0].to_string().contains("created by"), "{found:?}");
    assert_ne!(pid(&found[0]), i64::from(std::process::id()));
    meeting.nothing_is_left().await;
}
