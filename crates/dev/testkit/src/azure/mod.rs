//! Azure Blob Storage: block blobs, with leases that are enforced.

mod batch;
mod blocks;
mod container;
mod encryption;
mod error;
mod lease;
mod lease_operations;
mod list;
mod read;
mod route;
mod rules;
mod shared_key;
mod snapshot;
mod write;

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;

use crate::certificate::Certificate;
use crate::http::{Answer, Request, Server, Service};
use crate::store::{Backdoor, Object, Shared, Store, Stored};
use blocks::Blocks;
use error::Refused;
use lease::Lease;
use rules::Rules;
use snapshot::Snapshots;

/// The account that addresses with a path name first, as those of emulators do.
const ACCOUNT: &str = "devstoreaccount1";

/// A server that answers as Azure Blob Storage does, each request as one step, with leases, their enforcement, and blocks.
///
/// It is addressed as emulators are, `http://127.0.0.1:PORT/ACCOUNT/CONTAINER/BLOB`, or by the name of an account as the
/// service is, when the header `Host` has one.
///
/// ```
/// use groundstate_testkit::AzureServer;
///
/// let azure = AzureServer::start_blocking();
/// azure.create_container("states");
/// azure.put_blob("states", "a.tfstate", "{}");
/// assert_eq!(azure.lease_id("states", "a.tfstate"), None);
/// ```
#[derive(Debug)]
pub struct AzureServer {
    server: Server,
    face: Arc<Face>,
}

#[derive(Default)]
struct Face {
    state: Shared<State>,
    rules: Shared<Rules>,
}

/// A container and the name of a blob in it.
type Name = (String, String);

/// The containers, and what belongs to blobs besides their bytes.
#[derive(Default)]
struct State {
    store: Store,
    leases: BTreeMap<Name, Lease>,
    blocks: Blocks,
    snapshots: Snapshots,
    /// How far the clock that leases end by is ahead.
    ahead: Duration,
}

impl AzureServer {
    /// Starts a server on a free port of the loopback.
    pub async fn start() -> Self {
        Self::start_blocking()
    }

    /// As [`start`](Self::start), outside of asynchronous code.
    pub fn start_blocking() -> Self {
        let face = Arc::<Face>::default();
        let service: Arc<dyn Service> = Arc::<Face>::clone(&face);
        Self { server: Server::start(service), face }
    }

    /// Starts a server that speaks TLS with this certificate.
    pub fn start_tls(certificate: &Certificate) -> Self {
        let face = Arc::<Face>::default();
        let service: Arc<dyn Service> = Arc::<Face>::clone(&face);
        Self { server: Server::start_tls(certificate, service), face }
    }

    /// The address of the account `devstoreaccount1`, as clients of emulators want it.
    pub fn account_endpoint(&self) -> String {
        format!("{}/{ACCOUNT}", self.endpoint())
    }

    /// Creates a container, if it does not exist.
    pub fn create_container(&self, container: &str) {
        self.face.create_bucket(container);
    }

    /// The names of the blobs in a container, in order.
    pub fn blobs(&self, container: &str) -> Vec<String> {
        self.face.keys(container)
    }

    /// A look at a blob.
    pub fn blob(&self, container: &str, blob: &str) -> Option<Stored> {
        self.face.stored(container, blob)
    }

    /// Stores a blob behind the back of all clients and of leases; the container is created if it does not exist.
    pub fn put_blob(&self, container: &str, blob: &str, bytes: impl Into<Bytes>) {
        let state = &mut *self.face.state.lock();
        state.store.create(container);
        state.put((container, blob), Object::new(bytes.into()));
    }

    /// Removes a blob and its lease behind the back of all clients, and tells whether it was there.
    pub fn remove_blob(&self, container: &str, blob: &str) -> bool {
        self.face.state.lock().remove((container, blob))
    }

    /// The id of the lease that holds a blob now.
    pub fn lease_id(&self, container: &str, blob: &str) -> Option<String> {
        let state = self.face.state.lock();
        let lease = state.leases.get(&(container.to_owned(), blob.to_owned()))?;
        lease.holder(state.now()).map(str::to_owned)
    }

    /// Breaks the lease of a blob at once, behind the back of all clients.
    pub fn break_lease(&self, container: &str, blob: &str) {
        let state = &mut *self.face.state.lock();
        let now = state.now();
        if let Some(lease) = state.leases.get_mut(&(container.to_owned(), blob.to_owned())) {
            lease.break_after(Duration::ZERO, now);
        }
    }

    /// Lets time pass for leases that end by themselves.
    pub fn advance(&self, by: Duration) {
        self.face.state.lock().ahead += by;
    }

    /// How many snapshots a blob has.
    pub fn snapshots(&self, container: &str, blob: &str) -> usize {
        self.face.state.lock().snapshots.count((container, blob))
    }

    /// Accepts only requests that are signed by this key of the account, in base64, and checks their signatures.
    ///
    /// Addresses that are signed are accepted as they are.
    pub fn require_key(&self, account: &str, key: &str) {
        self.face.rules.lock().key = Some((account.to_owned(), key.to_owned()));
    }

    /// Answers as if the clocks of the clients were too far from the server's, or no longer.
    pub fn set_clock_skewed(&self, skewed: bool) {
        self.face.rules.lock().skewed = skewed;
    }

    /// Denies access to requests with this method and path, as in [`Fault::on`](crate::Fault::on).
    pub fn deny(&self, method: &str, pattern: &str) {
        self.face.rules.lock().denied.push((method.to_owned(), pattern.to_owned()));
    }

    /// Allows again what was denied.
    pub fn allow_all(&self) {
        self.face.rules.lock().denied.clear();
    }
}

impl State {
    fn now(&self) -> Instant {
        Instant::now() + self.ahead
    }

    /// Stores a blob under a new ETag.
    fn put(&mut self, name: (&str, &str), object: Object) -> Option<&Object> {
        self.store.put(name.0, name.1, object)?;
        self.touch(name)
    }

    /// Gives a blob the ETag and the time of a change.
    fn touch(&mut self, name: (&str, &str)) -> Option<&Object> {
        let generation = self.store.generation();
        let object = self.store.buckets.get_mut(name.0)?.objects.get_mut(name.1)?;
        object.generation = generation;
        object.etag = format!("\"0x{generation:X}\"");
        object.modified = std::time::SystemTime::now();
        Some(object)
    }

    fn remove(&mut self, name: (&str, &str)) -> bool {
        self.leases.remove(&(name.0.to_owned(), name.1.to_owned()));
        self.store.remove(name.0, name.1).is_some()
    }
}

impl Deref for AzureServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl std::fmt::Debug for Face {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Azure")
    }
}

impl Backdoor for Face {
    fn with_store<R>(&self, act: impl FnOnce(&mut Store) -> R) -> R {
        act(&mut self.state.lock().store)
    }
}

#[async_trait]
impl Service for Face {
    async fn answer(&self, request: &Request) -> Option<Answer> {
        let checked = self.rules.lock().check(request);
        let answer = checked.and_then(|()| route::answer(&mut self.state.lock(), request));
        let answer = answer.unwrap_or_else(|error| error.into_answer(request));
        Some(answer.header("x-ms-request-id", "testkit").header("x-ms-version", "2023-11-03"))
    }

    fn refusal(&self, request: &Request, status: u16, code: &str) -> Answer {
        // The names that this service has for what goes wrong.
        let code = match status {
            500 => "InternalError",
            503 | 429 => "ServerBusy",
            _ => code,
        };
        Refused::new(status, code, "a fault was planned for this request").into_answer(request)
    }
}
