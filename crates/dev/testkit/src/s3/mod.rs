//! Amazon S3 in the path style, with DynamoDB at the same address.

mod auth;
mod checksum;
mod chunked;
mod encryption;
mod error;
mod list;
mod multipart;
mod object;
mod removal;
mod route;
mod rules;
mod sigv4;
mod versions;
mod write;

use std::ops::Deref;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::Value;

use crate::dynamodb::{self, Tables};
use crate::http::{Answer, Request, Server, Service};
use crate::store::{Backdoor, Shared, Store, Stored};
use multipart::Uploads;
use rules::Rules;

/// A server that answers as S3 and DynamoDB do, with all their conditions, each request as one step.
///
/// Any keys are accepted, unless [`require_key`](Self::require_key) says which; buckets and tables have to be created.
///
/// ```
/// use groundstate_testkit::{Fault, S3Server};
///
/// let s3 = S3Server::start_blocking();
/// s3.create_bucket("states");
/// s3.fault(Fault::after_commit_500().on("PUT", "*.tflock").nth(1));
/// assert!(s3.endpoint().starts_with("http://127.0.0.1:"));
/// assert_eq!(s3.keys("states"), [""; 0]);
/// ```
#[derive(Debug)]
pub struct S3Server {
    server: Server,
    face: Arc<Face>,
}

/// What the requests work on.
#[derive(Default)]
struct Face {
    state: Shared<State>,
    rules: Shared<Rules>,
    tables: Shared<Tables>,
}

/// The buckets and what is on its way into them.
#[derive(Default)]
struct State {
    store: Store,
    uploads: Uploads,
}

impl S3Server {
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

    /// Creates a bucket, if it does not exist.
    pub fn create_bucket(&self, bucket: &str) {
        self.face.create_bucket(bucket);
    }

    /// Has a bucket keep the versions that writes replace.
    pub fn keep_versions(&self, bucket: &str) {
        self.face.with_store(|store| {
            store.create(bucket);
            if let Some(bucket) = store.buckets.get_mut(bucket) {
                bucket.versioned = true;
            }
        });
    }

    /// The keys in a bucket, in order.
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

    /// Accepts only requests that are signed by this key, and checks their signatures.
    pub fn require_key(&self, access_key: &str, secret_key: &str) {
        self.face.rules.lock().key = Some((access_key.to_owned(), secret_key.to_owned()));
    }

    /// Answers 400 with the right region to requests that are signed for another one.
    pub fn require_region(&self, region: &str) {
        self.face.rules.lock().region = Some(region.to_owned());
    }

    /// Answers 301 with the bucket's region to every request, as an endpoint of another region does.
    pub fn redirect_to_region(&self, region: &str) {
        self.face.rules.lock().redirect = Some(region.to_owned());
    }

    /// Answers as if the clocks of the clients were too far from the server's, or no longer.
    pub fn set_clock_skewed(&self, skewed: bool) {
        self.face.rules.lock().skewed = skewed;
    }

    /// Denies access to requests with this method and path, as in [`Fault::on`](crate::Fault::on). An operation of DynamoDB
    /// is denied by its name in place of the method.
    pub fn deny(&self, method: &str, pattern: &str) {
        self.face.rules.lock().denied.push((method.to_owned(), pattern.to_owned()));
    }

    /// Allows again what was denied.
    pub fn allow_all(&self) {
        self.face.rules.lock().denied.clear();
    }

    /// Answers 501 to writes with a condition, as stores do that know none.
    pub fn refuse_conditions(&self) {
        self.face.rules.lock().unconditional = true;
    }

    /// Creates a table of DynamoDB with the key `LockID`, if it does not exist.
    pub fn create_table(&self, table: &str) {
        self.face.tables.lock().create(table, "LockID");
    }

    /// An item of a table, with its attributes as DynamoDB writes them: `{"LockID": {"S": "..."}}`.
    pub fn item(&self, table: &str, key: &str) -> Option<Value> {
        self.face.tables.lock().item(table, key)
    }

    /// The keys of a table, in order.
    pub fn items(&self, table: &str) -> Vec<String> {
        self.face.tables.lock().keys(table)
    }

    /// Stores an item with these attributes of type string behind the back of all clients.
    pub fn put_item(&self, table: &str, key: &str, attributes: &[(&str, &str)]) {
        self.face.tables.lock().place(table, key, attributes);
    }

    /// Removes an item behind the back of all clients, and tells whether it was there.
    pub fn remove_item(&self, table: &str, key: &str) -> bool {
        self.face.tables.lock().take(table, key)
    }
}

impl Deref for S3Server {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl std::fmt::Debug for Face {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("S3")
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
        let rules = self.rules.lock().clone();
        if dynamodb::is_for(request) {
            let answer = match auth::check_api(&rules, request) {
                Ok(()) => dynamodb::answer(&mut self.tables.lock(), request),
                Err((code, message)) => dynamodb::refusal(400, code, &message),
            };
            return Some(answer);
        }
        let checked = auth::check(&rules, request);
        let answer = checked.and_then(|()| route::answer(&mut self.state.lock(), &rules, request));
        Some(answer.unwrap_or_else(|error| error.into_answer(request)))
    }

    fn refusal(&self, request: &Request, status: u16, code: &str) -> Answer {
        if dynamodb::is_for(request) {
            return dynamodb::fault(status, code);
        }
        error::Refused::new(status, code, "a fault was planned for this request").into_answer(request)
    }
}
