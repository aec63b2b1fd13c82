//! What the audit log has of requests.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::{Extension, Router};
use groundstate_conformance::{Fault, FaultyBlobs};
use groundstate_server::audit::{AuditLog, Location, Outcome, Reader, Record};
use groundstate_server::auth::{Grant, Principal, PrincipalKind, Role};
use groundstate_server::blobs::{BlobStore as _, Key, ListOptions, MemoryBlobs, PutOptions};
use groundstate_server::{App, Origin, Parts, router};

use crate::support::{Client, Server, URL, lock_document, state};

const API: &str = "/api/v1/states/shop/network/default";

/// A server with an audit log, whose recorder runs beside it.
struct Audited {
    app: App,
    blobs: MemoryBlobs,
    location: Location,
    recorder: tokio::task::JoinHandle<()>,
}

impl Audited {
    fn new() -> Self {
        let blobs = MemoryBlobs::new("states");
        let mut parts = Parts::new(Arc::new(blobs.clone()));
        let location = Location::new(Arc::new(blobs.clone()), "audit/").unwrap();
        let (log, recorder) = AuditLog::open(location.clone(), "node-1", parts.context.clone()).unwrap();
        parts.audit = Some(log);
        Self { app: App::open(parts).unwrap(), blobs, location, recorder: tokio::spawn(recorder.run()) }
    }

    fn client(&self, role: Role) -> Client {
        let name = format!("{role:?}").to_lowercase();
        let principal = Principal::new(&name, PrincipalKind::Token, vec![Grant::everything(role)]);
        let origin = Origin::new("req-7".to_owned(), IpAddr::from(Ipv4Addr::new(192, 0, 2, 7)));
        let service: Router = router(self.app.clone()).layer(Extension(principal)).layer(Extension(origin));
        Client::of(service)
    }

    /// Ends the server, whose clients have to be gone, and gives what was recorded of a state: actor, action, outcome, reason.
    async fn entries(self) -> Vec<(String, String, Outcome, String)> {
        self.entries_of("shop/network").await
    }

    async fn entries_of(self, object: &str) -> Vec<(String, String, Outcome, String)> {
        let entry = |record: Record| {
            assert_eq!(record.object, object);
            let from = (record.request.as_deref(), record.remote.as_deref());
            assert_eq!(from, (Some("req-7"), Some("192.0.2.7")));
            (record.actor, record.action, record.outcome, record.reason.unwrap_or_default())
        };
        self.records().await.into_iter().map(entry).collect()
    }

    /// Ends the server, and gives all that was recorded.
    async fn records(self) -> Vec<Record> {
        let Self { app, location, recorder, .. } = self;
        drop(app);
        recorder.await.unwrap();
        let records = Reader::new(location).newest(1000, &|_| true).await.unwrap().records;
        records.into_iter().map(|(_, record)| record).collect()
    }

    /// Begins an update of a stack, whose request then cannot be read. Gives its URL and its token.
    async fn update_with_damaged_request(&self, client: &Client) -> (String, String) {
        client.call("POST", "/api/stacks/acme/shop", r#"{"stackName":"dev"}"#).await.is(200);
        let created = client.call("POST", "/api/stacks/acme/shop/dev/update", "{}").await.is(200).json();
        let url = format!("/api/stacks/acme/shop/dev/update/{}", created["updateID"].as_str().unwrap());
        let started = client.call("POST", &url, "{}").await.is(200).json();
        let listed = self.blobs.list("", &ListOptions::default()).await.unwrap().blobs;
        let request = listed.iter().find(|blob| blob.name.ends_with("/request")).unwrap();
        let key = Key::parse(&request.name).unwrap();
        self.blobs.put(&key, "{".into(), &PutOptions::default()).await.unwrap();
        (url, started["token"].as_str().unwrap().to_owned())
    }
}

fn entry(actor: &str, action: &str, outcome: Outcome, reason: &str) -> (String, String, Outcome, String) {
    (actor.to_owned(), action.to_owned(), outcome, reason.to_owned())
}

#[tokio::test]
async fn changes_refusals_and_reads_of_states_are_recorded_with_who_what_and_from_where() {
    use Outcome::{Denied, Done, Refused};
    let server = Audited::new();
    let (writer, admin, reader) =
        (server.client(Role::Write), server.client(Role::Admin), server.client(Role::Read));
    writer.get(URL).await.is(404);
    writer.lock("a").await.is(200);
    writer.lock("a").await.is(200);
    admin.lock("b").await.is(423);
    writer.post("?ID=a", state(1)).await.is(200);
    writer.post("?ID=a", state(1)).await.is(200);
    writer.post("?ID=b", state(2)).await.is(423);
    reader.call("DELETE", URL, "").await.is(403);
    reader.get(URL).await.is(200);
    writer.call("UNLOCK", URL, "").await.is(403);
    admin.call("UNLOCK", URL, "").await.is(200);
    writer.post("?ID=a", state(2)).await.is(409);
    writer.unlock("a").await.is(200);
    writer.call("DELETE", URL, "").await.is(200);
    drop((writer, admin, reader));
    let forced = "unlocked without an id, as terraform force-unlock does";
    assert_eq!(
        server.entries().await,
        [
            entry("write", "state.lock", Done, "lock a"),
            entry("write", "state.lock", Done, "lock a, which it holds already"),
            entry("admin", "state.lock", Refused, "write holds the lock"),
            entry("write", "state.write", Done, "version 1"),
            entry("write", "state.write", Refused, "write holds the lock"),
            entry("read", "state.delete", Denied, "the role write is needed"),
            entry("read", "state.read", Done, "version 1"),
            entry(
                "write",
                "state.unlock",
                Denied,
                "freeing a lock without its id needs the role admin; unlock with the id of the lock, or ask an administrator",
            ),
            entry("admin", "lock.break", Done, &format!("lock a, which write took; {forced}")),
            entry(
                "write",
                "state.write",
                Refused,
                &format!("admin broke the lock ({forced}); lock and plan again")
            ),
            entry("write", "state.delete", Done, "version 1 is the last"),
        ],
    );
}

#[tokio::test]
async fn the_api_records_changes_and_looks_at_secrets_and_never_a_value() {
    use Outcome::{Denied, Done, Refused};
    let server = Audited::new();
    let (admin, outputs) = (server.client(Role::Admin), server.client(Role::Outputs));
    let secret = state(1).replace(r#""type": "string""#, r#""type": "string", "sensitive": true"#);
    admin.post("", &secret).await.is(200);
    admin.post("", state(2)).await.is(200);
    outputs.get(&format!("{API}/outputs")).await.is(200);
    outputs.get(&format!("{API}/outputs/region?reveal=true")).await.is(200);
    admin
        .call("POST", &format!("{API}/rollback"), r#"{"version": 1, "reason": "back\nto it"}"#)
        .await
        .is(200);
    outputs.get(&format!("{API}/outputs/region?reveal=true")).await.is(200);
    admin.get(&format!("{API}/versions/1/content")).await.is(200);
    admin.get(&format!("{API}/diff?from=1&to=2&reveal=true")).await.is(200);
    admin.call("PUT", &format!("{API}/versions/1/pin"), "").await.is(204);
    outputs.call("POST", &format!("{API}/rollback"), r#"{"version": 1}"#).await.is(403);
    admin.call("POST", &format!("{API}/rollback"), r#"{"version": 9}"#).await.is(404);
    admin.call("LOCK", URL, lock_document("a")).await.is(200);
    admin.call("POST", &format!("{API}/lock/break"), r#"{"reason": "stuck"}"#).await.is(204);
    admin.call("POST", &format!("{API}/lock/break"), r#"{"reason": "stuck"}"#).await.is(404);
    drop((admin, outputs));
    let entries = server.entries().await;
    assert_eq!(
        entries,
        [
            entry("admin", "state.write", Done, "version 1"),
            entry("admin", "state.write", Done, "version 2"),
            entry("admin", "state.rollback", Done, r"version 3 has the content of version 1: back\nto it"),
            entry("outputs", "outputs.reveal", Done, "version 3: region"),
            entry("admin", "history.read", Done, "version 1"),
            entry("admin", "history.reveal", Done, "versions 1 and 2"),
            entry("admin", "history.pin", Done, "version 1"),
            entry("outputs", "state.rollback", Denied, "the role write is needed"),
            entry("admin", "state.rollback", Refused, &entries[8].3),
            entry("admin", "state.lock", Done, "lock a"),
            entry("admin", "lock.break", Done, "lock a, which admin took: stuck"),
            entry("admin", "lock.break", Refused, "shop/network is not locked"),
        ],
    );
    assert!(!format!("{entries:?}").contains("eu-west-1"));
}

#[tokio::test]
async fn without_its_audit_log_a_server_changes_nothing_and_shows_no_secret() {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("states"));
    let mut parts = Parts::new(Arc::new(blobs.inner().clone()));
    let location = Location::new(Arc::new(blobs.clone()), "audit/").unwrap();
    let (log, recorder) = AuditLog::open(location, "node-1", parts.context.clone()).unwrap();
    parts.audit = Some(log.clone());
    let recorder = tokio::spawn(recorder.run());
    let server = Server::of(parts);
    let client = server.admin();
    client.post("", state(1)).await.is(200);
    blobs.fail_at(0, Fault::Down);
    client.get(&format!("{API}/diff?from=1&to=1&reveal=true")).await.is(503);
    while log.check().is_ok() {
        tokio::task::yield_now().await;
    }
    let refused = client.post("", state(2)).await.is(503);
    assert_eq!(refused.header("retry-after"), "2");
    client.lock("a").await.is(503);
    assert_eq!(client.get(URL).await.is(200).body, state(1), "reading goes on");
    recorder.abort();
}

#[tokio::test]
async fn a_version_that_is_appended_to_a_stack_is_recorded_once_and_who_may_not_too() {
    let audited = Audited::new();
    let (writer, reader) = (audited.client(Role::Write), audited.client(Role::Read));
    writer.call("POST", "/api/stacks/acme/shop", r#"{"stackName":"dev"}"#).await.is(200);
    let url = "/api/stacks/acme/shop/dev/versions";
    let body = r#"{"key":"k","info":{"kind":"update","result":"failed","version":7}}"#;
    for _ in 0..2 {
        writer.call("POST", url, body).await.is(200);
    }
    reader.call("POST", url, body).await.is(403);
    drop((writer, reader));
    let mut entries = audited.entries_of("stack acme/shop/dev").await;
    entries.sort_by_key(|(_, _, outcome, reason)| (format!("{outcome:?}"), reason.clone()));
    let expected = [
        entry("read", "stack.append", Outcome::Denied, "the role write is needed"),
        entry("write", "stack.create", Outcome::Done, ""),
        entry("write", "stack.append", Outcome::Done, "version 1: update that was version 7 elsewhere"),
    ];
    assert_eq!(entries, expected);
}

#[tokio::test]
async fn the_end_of_an_update_whose_request_cannot_be_read_is_recorded_too() {
    let audited = Audited::new();
    let client = audited.client(Role::Write);
    let (url, token) = audited.update_with_damaged_request(&client).await;
    let completed = http::Request::post(format!("{url}/complete"))
        .header("content-type", "application/json")
        .header("authorization", format!("update-token {token}"))
        .body(r#"{"status":"succeeded"}"#.into())
        .unwrap();
    client.send(completed).await.is(204);
    drop(client);
    let records = audited.records().await;
    let end = records.iter().find(|record| record.actor == "unknown").unwrap();
    assert_eq!((end.action.as_str(), end.outcome), ("stack.update", Outcome::Done));
    let reason = end.reason.clone().unwrap();
    assert!(reason.ends_with("succeeded; who began it cannot be read"), "{reason}");
}

#[tokio::test]
async fn a_cancellation_whose_update_cannot_be_read_fails_and_is_no_lack_of_a_role() {
    let audited = Audited::new();
    let client = audited.client(Role::Write);
    let (url, _) = audited.update_with_damaged_request(&client).await;
    client.call("POST", &format!("{url}/cancel"), "").await.is(500);
    drop(client);
    let records = audited.records().await;
    assert!(records.iter().any(|record| record.action == "stack.cancel"), "{records:?}");
    assert!(records.iter().all(|record| record.outcome != Outcome::Denied), "{records:?}");
}

#[tokio::test]
async fn second_lock_under_the_same_id_is_recorded() {
    let audited = Audited::new();
    let (lock, admin) = (audited.client(Role::Lock), audited.client(Role::Admin));
    lock.lock("a").await.is(200);
    lock.lock("a").await.is(200);
    admin.lock("a").await.is(200);
    drop((lock, admin));
    let entries = audited.entries().await;
    let told: Vec<_> =
        entries.iter().map(|(actor, action, _, reason)| (&**actor, &**action, &**reason)).collect();
    let expected = [
        ("lock", "state.lock", "lock a"),
        ("lock", "state.lock", "lock a, which it holds already"),
        ("admin", "state.lock", "lock a, which lock holds already"),
    ];
    assert_eq!(told, expected);
}
