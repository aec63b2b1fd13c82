//! A service whose clock tests turn, and requests as the CLI sends them.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use groundstate_server::Parts;
use groundstate_server::auth::{Grant, Pattern, Principal, PrincipalKind, Role};
use groundstate_server::blobs::{Context, MemoryBlobs};
use groundstate_server::common::{Clock as _, FixedClock, OsEntropy, OsIds, Timestamp};
use groundstate_server::pulumi_service::LocalKey;
use groundstate_server::pulumi_service::pulumi_secrets::Key;
use http::Request;
use serde_json::{Value, json};

use crate::support::{Answer, Client, Server};

pub(super) const PROJECT: &str = "/api/stacks/acme/p";
pub(super) const STACK: &str = "/api/stacks/acme/p/dev";
pub(super) const ROOT: &str = "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev";

/// A service, and a user that may do everything.
pub(super) struct Service {
    pub(super) server: Server,
    pub(super) clock: Arc<FixedClock>,
    pub(super) user: Client,
}

/// An update that runs, and the client that has its token.
#[derive(Clone)]
pub(super) struct Update {
    client: Client,
    pub(super) id: String,
    pub(super) token: String,
    /// What the service said when it started.
    pub(super) started: Value,
}

impl Service {
    pub(super) fn new() -> Self {
        Self::with(|_| {})
    }

    /// A service of which some parts are others.
    pub(super) fn with(change: impl FnOnce(&mut Parts)) -> Self {
        let clock = Arc::new(FixedClock::new(Timestamp::from_unix(1_800_000_000, 0).unwrap()));
        let [time, timer] = [(); 2].map(|()| Arc::<FixedClock>::clone(&clock));
        let mut parts = Parts::new(Arc::new(MemoryBlobs::new("stacks")));
        parts.context = Context::new(time, timer, Arc::new(OsIds));
        parts.secrets_key = Some(Arc::new(LocalKey::new(&Key::new([7; Key::LENGTH]), Arc::new(OsEntropy))));
        change(&mut parts);
        let server = Server::of(parts);
        let user = server.admin();
        Self { server, clock, user }
    }

    /// A service with the stack that most tests are about.
    pub(super) async fn with_stack() -> Self {
        let service = Self::new();
        service.create("dev").await;
        service
    }

    pub(super) fn wait(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    /// The time, in seconds since 1970.
    pub(super) fn now(&self) -> i64 {
        self.clock.now().seconds()
    }

    /// A user with a role on the stacks of one owner.
    pub(super) fn user(&self, name: &str, role: Role, owner: &str) -> Client {
        let grant = Grant::project(role, Pattern::parse(owner).unwrap());
        self.server.client_of(Principal::new(name, PrincipalKind::Token, vec![grant]))
    }

    pub(super) async fn create(&self, stack: &str) -> Answer {
        self.post(PROJECT, &json!({"stackName": stack})).await.is(200)
    }

    /// Makes the stack with resources and pending operations.
    pub(super) async fn create_with(&self, resources: Value, pending: Value) -> Answer {
        let state = deployment(&resources, &pending);
        self.post(PROJECT, &json!({"stackName": "dev", "state": state})).await.is(200)
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        ask(&self.user, "GET", path, &[], "").await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Answer {
        ask(&self.user, "POST", path, &[], body.to_string()).await
    }

    pub(super) async fn stack(&self) -> Value {
        self.get(STACK).await.is(200).json()
    }

    pub(super) async fn export(&self) -> Value {
        self.get(&format!("{STACK}/export")).await.is(200).json()
    }

    pub(super) async fn history(&self) -> Vec<Value> {
        let answer = self.get(&format!("{STACK}/updates")).await.is(200).json();
        answer["updates"].as_array().unwrap().clone()
    }

    /// Creates an update of the stack, and gives its id.
    pub(super) async fn created(&self, kind: &str, body: &Value) -> String {
        let answer = self.post(&format!("{STACK}/{kind}"), body).await.is(200).json();
        answer["updateID"].as_str().unwrap().to_owned()
    }

    /// An update that runs, with a journal.
    pub(super) async fn started(&self, kind: &str) -> Update {
        self.started_with(kind, &json!({"journalVersion": 1})).await
    }

    /// An update that runs and sends checkpoints.
    pub(super) async fn started_without_journal(&self) -> Update {
        self.started_with("update", &json!({})).await
    }

    async fn started_with(&self, kind: &str, start: &Value) -> Update {
        let id = self.created(kind, &json!({})).await;
        let started = self.post(&format!("{STACK}/update/{id}"), start).await.is(200).json();
        let token = started["token"].as_str().unwrap().to_owned();
        Update { client: self.server.stranger(), id, token, started }
    }
}

impl Update {
    pub(super) fn path(&self, tail: &str) -> String {
        format!("{STACK}/update/{}{tail}", self.id)
    }

    /// Sends something under the token, to a path behind that of the update.
    pub(super) async fn send(&self, method: &str, tail: &str, body: impl Into<Body>) -> Answer {
        let token = format!("update-token {}", self.token);
        ask(&self.client, method, &self.path(tail), &[("authorization", &token)], body).await
    }

    pub(super) async fn append(&self, entries: &[&Value]) -> Answer {
        self.send("PATCH", "/journalentries", json!({"entries": entries}).to_string()).await
    }

    pub(super) async fn events(&self, events: &[Value]) -> Answer {
        self.send("POST", "/events/batch", json!({"events": events}).to_string()).await
    }

    pub(super) async fn complete(&self, status: &str) -> Answer {
        self.send("POST", "/complete", json!({"status": status}).to_string()).await
    }

    pub(super) async fn renew(&self) -> Answer {
        self.send("POST", "/renew_lease", r#"{"token":"","duration":300}"#).await
    }

    /// The same update as a client sees it that has another token.
    pub(super) fn by_token(&self, token: &str) -> Self {
        Self { token: token.to_owned(), ..self.clone() }
    }
}

/// Sends a request as the CLI does.
pub(super) async fn ask(
    client: &Client,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Body>,
) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    request = request.header("content-type", "application/json");
    if !headers.iter().any(|(name, _)| *name == "accept") {
        request = request.header("accept", "application/vnd.pulumi+9");
    }
    request = request.header("user-agent", "pulumi-cli/1 (v3.259.0; linux; cmd=up)");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    client.send(request.body(body.into()).unwrap()).await
}

/// Packs a body as the CLI does.
pub(super) fn gzip(body: &[u8]) -> Vec<u8> {
    let mut packing = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packing.write_all(body).unwrap();
    packing.finish().unwrap()
}

/// Checks that an answer is an error as the CLI reads it, and gives its message.
#[track_caller]
pub(super) fn error(answer: Answer, status: u16) -> String {
    let answer = answer.is(status);
    assert_eq!(answer.header("content-type"), "application/json");
    let body = answer.json();
    assert_eq!(body["code"], status, "{body}");
    body["message"].as_str().unwrap().to_owned()
}

/// An export.
pub(super) fn deployment(resources: &Value, pending: &Value) -> Value {
    json!({"version": 3, "deployment": {
        "manifest": {"time": "2026-01-02T03:04:05Z", "magic": "", "version": ""},
        "resources": resources, "pending_operations": pending, "metadata": {},
    }})
}

pub(super) fn urn(name: &str) -> String {
    format!("urn:pulumi:dev::p::pulumi:index:Stash::{name}")
}

pub(super) fn root() -> Value {
    json!({"urn": ROOT, "custom": false, "type": "pulumi:pulumi:Stack"})
}

pub(super) fn stash(name: &str) -> Value {
    json!({
        "urn": urn(name), "custom": true, "id": format!("id-{name}"), "type": "pulumi:index:Stash", "parent": ROOT,
    })
}

/// An entry of a journal with the members that every one has.
pub(super) fn entry(sequence: u64, kind: u64, operation: u64, members: Value) -> Value {
    let mut entry = json!({
        "version": 1, "kind": kind, "sequenceID": sequence, "operationID": operation,
        "removeOld": null, "removeNew": null,
    });
    for (name, value) in members.as_object().unwrap() {
        entry[name] = value.clone();
    }
    entry
}

/// The last parts of the names of resources.
pub(super) fn names(export: &Value) -> Vec<&str> {
    fn name(resource: &Value) -> &str {
        resource["urn"].as_str().unwrap().rsplit("::").next().unwrap()
    }
    export["deployment"]["resources"].as_array().into_iter().flatten().map(name).collect()
}

/// Pending operations and what they are about.
pub(super) fn pending(export: &Value) -> Vec<String> {
    let operations = export["deployment"]["pending_operations"].as_array();
    let text = |operation: &Value| {
        let urn = operation["resource"]["urn"].as_str().unwrap();
        format!("{} {}", operation["type"].as_str().unwrap(), urn.rsplit("::").next().unwrap())
    };
    operations.into_iter().flatten().map(text).collect()
}
