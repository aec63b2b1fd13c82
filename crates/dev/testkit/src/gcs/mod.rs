//! Google Cloud Storage, by its JSON and its XML interface.

mod encryption;
mod error;
mod json;
mod parts;
mod precondition;
mod resource;
mod rules;
mod session;
mod upload;
mod xml;

use std::ops::Deref;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use crate::http::{Answer, Request, Server, Service};
use crate::store::{Backdoor, Shared, Store, Stored};
use error::Refused;
use parts::Uploads;
use rules::Rules;
use session::Sessions;

/// A server that answers as Google Cloud Storage does, with generations that grow by every write, and each request as
/// one step. Both interfaces see the same objects.
///
/// ```
/// use groundstate_testkit::GcsServer;
///
/// let gcs = GcsServer::start_blocking();
/// gcs.create_bucket("states");
/// // For `storage_custom_endpoint` of Terraform, and for the base address of an XML client.
/// assert_eq!(gcs.json_endpoint(), format!("{}/storage/v1/", gcs.endpoint()));
/// ```
#[derive(Debug)]
pub struct GcsServer {
    server: Server,
    face: Arc<Face>,
}

#[derive(Default)]
struct Face {
    state: Shared<State>,
    rules: Shared<Rules>,
}

/// The buckets and what is on its way into them.
#[derive(Default)]
struct State {
    store: Store,
    /// Uploads in parts, of the XML interface.
    uploads: Uploads,
    /// Uploads that can be resumed, of the JSON interface.
    sessions: Sessions,
    /// Whether a bucket that is written to comes into being.
    any_bucket: bool,
}

impl GcsServer {
    /// Starts a server on a free port of the loopback.
    pub async fn start() -> Self {
        Self::start_blocking()
    }

    /// As [`start`](Self::start), outside of asynchronous code.
    pub fn start_blocking() -> Self {
        Self::start_on(0)
    }

    /// Starts a server on this port of the loopback, or on a free one for 0.
    pub fn start_on(port: u16) -> Self {
        let face = Arc::<Face>::default();
        let service: Arc<dyn Service> = Arc::<Face>::clone(&face);
        Self { server: Server::start_on(port, service), face }
    }

    /// The address of the JSON interface, with its path and a slash at the end.
    pub fn json_endpoint(&self) -> String {
        format!("{}/storage/v1/", self.endpoint())
    }

    /// Creates a bucket, if it does not exist.
    pub fn create_bucket(&self, bucket: &str) {
        self.face.create_bucket(bucket);
    }

    /// Creates every bucket that a request names.
    pub fn create_any_bucket(&self) {
        self.face.state.lock().any_bucket = true;
    }

    /// The names of the objects in a bucket, in order.
    pub fn keys(&self, bucket: &str) -> Vec<String> {
        self.face.keys(bucket)
    }

    /// A look at an object.
    pub fn object(&self, bucket: &str, key: &str) -> Option<Stored> {
        self.face.stored(bucket, key)
    }

    /// Stores an object behind the back of all clients; the bucket is created if it does not exist.
    pub fn put_object(&self, bucket: &str, key: &str, bytes: impl Into<Bytes>) {
        self.face.place(bucket, key, bytes);
    }

    /// Removes an object behind the back of all clients, and tells whether it was there.
    pub fn remove_object(&self, bucket: &str, key: &str) -> bool {
        self.face.take(bucket, key)
    }

    /// Accepts only requests with this bearer token.
    pub fn require_token(&self, token: &str) {
        self.face.rules.lock().token = Some(token.to_owned());
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

impl Deref for GcsServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl std::fmt::Debug for Face {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("GCS")
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
        let state = &mut *self.state.lock();
        let answer = checked.and_then(|()| match json::Target::of(request) {
            Some(target) => json::answer(state, request, &target),
            None => xml::answer(state, request),
        });
        Some(answer.unwrap_or_else(|error| error.into_answer(request)))
    }

    fn refusal(&self, request: &Request, status: u16, code: &str) -> Answer {
        Refused::new(status, code, "a fault was planned for this request").into_answer(request)
    }
}

impl State {
    /// Makes sure that a bucket exists, or refuses.
    fn need_bucket(&mut self, bucket: &str) -> error::Result<()> {
        if self.any_bucket {
            self.store.create(bucket);
        }
        if self.store.buckets.contains_key(bucket) { Ok(()) } else { Err(Refused::no_bucket()) }
    }
}
