//! A server of states by Terraform's HTTP protocol: GET, POST, LOCK, UNLOCK and DELETE on one address for each state.

mod answers;
mod flaw;
mod rules;
mod states;

use std::ops::Deref;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use crate::certificate::{Authority, Certificate};
use crate::http::{Answer, Request, Server, Service};
use crate::store::Shared;
pub use flaw::HttpFlaw;
use rules::Rules;
use states::States;

/// A server that keeps a state at each path, with its lock, and answers as a careful backend of Terraform's type `http` does.
///
/// The lock of a path is taken and released by `LOCK` and `UNLOCK` on it, or by `POST` and `DELETE` on the path with `/lock` behind
/// it; a state is stored by `POST` or `PUT`. A write under another lock, or with one that is gone, is refused. Conditions by `ETag` are honoured.
///
/// ```
/// use groundstate_testkit::HttpStateServer;
///
/// let server = HttpStateServer::start_blocking();
/// server.put_state("/team/app", r#"{"version":4}"#);
/// assert_eq!(server.lock_of("/team/app"), None);
/// // ... let clients work on `server.endpoint()` with "/team/app" behind it ...
/// ```
#[derive(Debug)]
pub struct HttpStateServer {
    server: Server,
    face: Arc<Face>,
}

#[derive(Default)]
struct Face {
    states: Shared<States>,
    rules: Shared<Rules>,
}

impl HttpStateServer {
    /// Starts a server on a free port of the loopback.
    pub fn start_blocking() -> Self {
        Self::of(Server::start)
    }

    /// The same with TLS.
    pub fn start_tls(certificate: &Certificate) -> Self {
        Self::of(|service| Server::start_tls(certificate, service))
    }

    /// The same with TLS, for clients that show a certificate of the authority.
    pub fn start_mutual_tls(certificate: &Certificate, clients: &Authority) -> Self {
        Self::of(|service| Server::start_mutual_tls(certificate, clients, service))
    }

    /// A server that is wrong in one way.
    pub fn start_flawed(flaw: HttpFlaw) -> Self {
        let this = Self::start_blocking();
        this.face.rules.lock().flaw = Some(flaw);
        this
    }

    fn of(start: impl FnOnce(Arc<dyn Service>) -> Server) -> Self {
        let face = Arc::<Face>::default();
        let service: Arc<dyn Service> = Arc::<Face>::clone(&face);
        Self { server: start(service), face }
    }

    /// Accepts only requests with this user and this password.
    pub fn require_basic(&self, user: &str, password: &str) {
        self.face.rules.lock().basic = Some((user.to_owned(), password.to_owned()));
    }

    /// Refuses locks with this status instead of 423.
    pub fn refuse_locks_with(&self, status: u16) {
        self.face.rules.lock().held = Some(status);
    }

    /// Refuses locks with this text instead of the holder's document.
    pub fn hide_holders_behind(&self, text: &str) {
        self.face.rules.lock().holder_text = Some(text.to_owned());
    }

    /// Refuses `UNLOCK` without a body, which is how Terraform unlocks by force.
    pub fn deny_unlock_without_id(&self) {
        self.face.rules.lock().denies_empty_unlock = true;
    }

    /// Refuses uploads and deletions without the lock with 428, as servers do that want each change locked.
    pub fn require_lock_for_changes(&self) {
        self.face.rules.lock().needs_lock = true;
    }

    /// What is stored at a path.
    pub fn state(&self, path: &str) -> Option<Bytes> {
        self.face.states.lock().place(path).state.clone()
    }

    /// Stores a state behind the back of all clients.
    pub fn put_state(&self, path: &str, state: impl Into<Bytes>) {
        self.face.states.lock().place(path).state = Some(state.into());
    }

    /// The document of the lock on a path.
    pub fn lock_of(&self, path: &str) -> Option<String> {
        let states = &mut *self.face.states.lock();
        let document = states.place(path).lock.as_ref()?;
        Some(String::from_utf8_lossy(document).into_owned())
    }

    /// Has a path locked with this document, or free, behind the back of all clients.
    pub fn set_lock(&self, path: &str, document: Option<&str>) {
        self.face.states.lock().place(path).lock = document.map(|text| Bytes::from(text.to_owned()));
    }
}

impl Deref for HttpStateServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl std::fmt::Debug for Face {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("states by HTTP")
    }
}

#[async_trait]
impl Service for Face {
    async fn answer(&self, request: &Request) -> Option<Answer> {
        let rules = &*self.rules.lock();
        let checked = rules.check(request);
        Some(checked.unwrap_or_else(|| answers::answer(&mut self.states.lock(), rules, request)))
    }
}
