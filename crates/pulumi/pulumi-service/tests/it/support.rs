//! A service in memory, with a clock that tests turn.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_pulumi_service::blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, Context, DeleteOptions, GetOptions, Key,
    Leases, ListOptions, MemoryBlobs, Page, PutOptions, Result,
};
use groundstate_pulumi_service::common::{Clock as _, FixedClock, OsEntropy, OsIds, Timestamp};
use groundstate_pulumi_service::pulumi_secrets::Key as SecretKey;
use groundstate_pulumi_service::versioned::{Document, Documents, Name, Settings};
use groundstate_pulumi_service::{
    Lease, LocalKey, NewStack, Stack, StackPath, Stacks, StartOptions, Update, UpdateRequest,
};
use serde_json::{Value, json};
use tokio::task::yield_now;

pub(crate) const ROOT: &str = "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev";

/// One node of a service.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) stacks: Stacks,
    pub(crate) clock: Arc<FixedClock>,
    pub(crate) blobs: Arc<dyn BlobStore>,
}

impl Service {
    pub(crate) fn new() -> Self {
        let clock = Arc::new(FixedClock::new(Timestamp::from_unix(1_800_000_000, 0).unwrap()));
        let time: Arc<FixedClock> = Arc::clone(&clock);
        Self::on(Arc::new(MemoryBlobs::with_clock("stacks", time)), clock)
    }

    pub(crate) fn on(blobs: Arc<dyn BlobStore>, clock: Arc<FixedClock>) -> Self {
        let time = [&clock, &clock].map(Arc::clone);
        let [now, sleeper] = time;
        let context = Context::new(now, sleeper, Arc::new(OsIds));
        let documents =
            Documents::open(Arc::clone(&blobs), context.clone(), Settings::default().root("documents"))
                .unwrap();
        let key = LocalKey::new(&SecretKey::new([7; 32]), Arc::new(OsEntropy));
        let stacks = Stacks::new(documents, Arc::clone(&blobs), context).with_key(Arc::new(key));
        Self { stacks, clock, blobs }
    }

    /// Another node on the same store.
    pub(crate) fn node(&self) -> Self {
        Self::on(Arc::clone(&self.blobs), Arc::clone(&self.clock))
    }

    /// A node whose requests to the store can be interrupted: each is pending once.
    pub(crate) fn slow_node(&self) -> Self {
        Self {
            blobs: Arc::clone(&self.blobs),
            ..Self::on(Arc::new(Slow::new(&self.blobs)), Arc::clone(&self.clock))
        }
    }

    /// A node that says which requests it makes.
    pub(crate) fn watched_node(&self) -> (Self, Requests) {
        let slow = Slow::new(&self.blobs);
        let requests = Requests(Arc::clone(&slow.requests));
        (Self::on(Arc::new(slow), Arc::clone(&self.clock)), requests)
    }

    /// The document whose versions are those of a stack.
    pub(crate) fn versions(&self, stack: &Stack) -> Document {
        self.document(&format!("pulumi/stacks/{}", stack.id()))
    }

    pub(crate) fn document(&self, name: &str) -> Document {
        let [now, sleeper] = [&self.clock, &self.clock].map(Arc::clone);
        let context = Context::new(now, sleeper, Arc::new(OsIds));
        let settings = Settings::default().root("documents");
        let documents = Documents::open(Arc::clone(&self.blobs), context, settings).unwrap();
        documents.document(&Name::parse(name).unwrap())
    }

    pub(crate) fn wait(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    pub(crate) async fn stack(&self) -> Stack {
        self.stacks.create(&path("dev"), "ann", NewStack::default()).await.unwrap()
    }

    /// A stack that begins with these resources.
    pub(crate) async fn stack_of(&self, resources: Value, pending: Value) -> Stack {
        let deployment = json!({
            "manifest": {"time": "2026-01-02T03:04:05Z", "magic": "", "version": ""},
            "resources": resources,
            "pending_operations": pending,
            "metadata": {},
        });
        let state = json!({"version": 3, "deployment": deployment}).to_string();
        let new = NewStack::default().state(state);
        self.stacks.create(&path("dev"), "ann", new).await.unwrap()
    }

    pub(crate) async fn started(&self, stack: &Stack, kind: &str) -> (Update, Lease) {
        let request = UpdateRequest::new(kind, "ann", self.clock.now());
        let update = stack.create_update(&request).await.unwrap();
        let lease = update.start(&StartOptions::new(Some(1), "v3.259.0")).await.unwrap();
        (update, lease)
    }
}

/// Polls a future so often, and drops it: a process that dies.
pub(crate) async fn dies_after<T>(polls: usize, future: impl Future<Output = T>) {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    for _ in 0..polls {
        if future.as_mut().poll(&mut context).is_ready() {
            return;
        }
    }
}

/// The requests that a node has made.
pub(crate) struct Requests(Arc<Mutex<Vec<String>>>);

impl Requests {
    /// Those since it was asked last: what they do, and the last part of their key, or that it is the head of a document.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// A store whose requests take a turn each.
#[derive(Debug)]
struct Slow {
    blobs: Arc<dyn BlobStore>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Slow {
    fn new(blobs: &Arc<dyn BlobStore>) -> Self {
        Self { blobs: Arc::clone(blobs), requests: Arc::default() }
    }

    async fn turn(&self, what: &str, key: &str) {
        let name = key.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let name = if name.ends_with("!.json") { "head" } else { name };
        self.requests.lock().unwrap().push(format!("{what} {name}"));
        yield_now().await;
    }
}

impl fmt::Display for Slow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.blobs.fmt(f)
    }
}

#[async_trait]
impl BlobStore for Slow {
    fn capabilities(&self) -> BlobCapabilities {
        self.blobs.capabilities()
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        self.turn("get", key.as_str()).await;
        self.blobs.get(key, options).await
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        self.turn("head", key.as_str()).await;
        self.blobs.head(key).await
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        self.turn("put", key.as_str()).await;
        self.blobs.put(key, bytes, options).await
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        self.turn("delete", key.as_str()).await;
        self.blobs.delete(key, options).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        self.turn("list", prefix).await;
        self.blobs.list(prefix, options).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        None
    }
}

pub(crate) fn path(stack: &str) -> StackPath {
    StackPath::new("acme", "p", stack).unwrap()
}

/// The state of a stack, as JSON.
pub(crate) async fn state(stack: &Stack) -> Value {
    let bytes = stack.export().await.unwrap().collect(1 << 20).await.unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

pub(crate) fn urns(state: &Value) -> Vec<&str> {
    let resources = state["deployment"]["resources"].as_array();
    resources.into_iter().flatten().map(|resource| resource["urn"].as_str().unwrap()).collect()
}

pub(crate) fn pending(state: &Value) -> Vec<String> {
    let operations = state["deployment"]["pending_operations"].as_array();
    let text = |operation: &Value| {
        let urn = operation["resource"]["urn"].as_str().unwrap();
        format!("{} {}", operation["type"].as_str().unwrap(), urn.rsplit("::").next().unwrap())
    };
    operations.into_iter().flatten().map(text).collect()
}

pub(crate) fn urn(name: &str) -> String {
    format!("urn:pulumi:dev::p::pulumi:index:Stash::{name}")
}

pub(crate) fn root() -> Value {
    json!({"urn": ROOT, "custom": false, "type": "pulumi:pulumi:Stack"})
}

pub(crate) fn stash(name: &str) -> Value {
    json!({"urn": urn(name), "custom": true, "id": format!("id-{name}"), "type": "pulumi:index:Stash", "parent": ROOT})
}

/// An entry with the members that every one has.
pub(crate) fn entry(sequence: u64, kind: u64, operation: u64, members: Value) -> String {
    let mut entry = json!({
        "version": 1, "kind": kind, "sequenceID": sequence, "operationID": operation,
        "removeOld": null, "removeNew": null,
    });
    for (name, value) in members.as_object().unwrap() {
        entry[name] = value.clone();
    }
    entry.to_string()
}

pub(crate) fn bytes<'a>(entries: impl IntoIterator<Item = &'a String>) -> Vec<&'a [u8]> {
    entries.into_iter().map(|entry| entry.as_bytes()).collect()
}
