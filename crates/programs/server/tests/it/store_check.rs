//! The check of a whole store: each damaged object is named, whichever it is.

use std::sync::Arc;

use axum::{Extension, Router};
use groundstate_server::audit::{AuditLog, Location};
use groundstate_server::auth::{Grant, Principal, PrincipalKind, Role};
use groundstate_server::blobs::{BlobStore, GetOptions, Key, ListOptions, MemoryBlobs, PutOptions};
use groundstate_server::{App, Parts, StoreCheck, StoreProblem, router};

use crate::support::{Client, URL, lock_document, state};

const STACK: &str = "/api/stacks/acme/shop/dev";

/// A store with a state under a lock, a stack with an update that sent events and a checkpoint, and an audit log.
async fn used() -> MemoryBlobs {
    let blobs = MemoryBlobs::new("states");
    let mut parts = Parts::new(Arc::new(blobs.clone()));
    let location = Location::new(Arc::new(blobs.clone()), "audit/").unwrap();
    let (log, recorder) = AuditLog::open(location, "node-1", parts.context.clone()).unwrap();
    parts.audit = Some(log);
    let recorder = tokio::spawn(recorder.run());
    let app = App::open(parts).unwrap();
    let principal = Principal::new("ann", PrincipalKind::Token, vec![Grant::everything(Role::Admin)]);
    let service: Router = router(app.clone()).layer(Extension(principal));
    let client = Client::of(service);
    client.post("", state(1)).await.is(200);
    client.post("", state(2)).await.is(200);
    client.call("LOCK", URL, lock_document("lock-1")).await.is(200);
    client.call("POST", "/api/stacks/acme/shop", r#"{"stackName":"dev"}"#).await.is(200);
    let created = client.call("POST", &format!("{STACK}/update"), "{}").await.is(200).json();
    let update = format!("{STACK}/update/{}", created["updateID"].as_str().unwrap());
    let started = client.call("POST", &update, "{}").await.is(200).json();
    let token = format!("update-token {}", started["token"].as_str().unwrap());
    let send = async |method: &str, tail: &str, body: &str| {
        let request = http::Request::builder().method(method).uri(format!("{update}{tail}"));
        let request = request.header("authorization", &token).header("content-type", "application/json");
        client.send(request.body(body.to_owned().into()).unwrap()).await
    };
    let event = r#"{"events":[{"sequence":0,"timestamp":1,"stdoutEvent":{"message":"m","color":"raw"}}]}"#;
    send("POST", "/events/batch", event).await.is(204);
    let checkpoint = r#"{"isInvalid":false,"version":3,"deployment":{"manifest":{"time":"2026-01-02T03:04:05Z","magic":"","version":""},"resources":[]}}"#;
    send("PATCH", "/checkpoint", checkpoint).await.is(204);
    drop((client, app));
    recorder.await.unwrap();
    blobs
}

async fn problems(blobs: &MemoryBlobs) -> Vec<StoreProblem> {
    let context = Parts::new(Arc::new(blobs.clone())).context;
    let check = StoreCheck::open(Arc::new(blobs.clone()), &context).unwrap();
    let mut problems = Vec::new();
    check.run(true, &mut |problem| problems.push(problem)).await.unwrap();
    problems
}

#[tokio::test]
async fn check_names_each_damaged_object_of_a_store() {
    let blobs = used().await;
    assert_eq!(problems(&blobs).await, []);
    let listed = blobs.list("", &ListOptions::default()).await.unwrap().blobs;
    for kind in
        ["heads/terraform/", "/versions/", "heads/pulumi/", "/checkpoint", "/events/", "/request", "audit/"]
    {
        assert!(listed.iter().any(|blob| blob.name.contains(kind)), "{kind}: {listed:?}");
    }
    for name in listed.iter().map(|blob| &blob.name) {
        let key = Key::parse(name).unwrap();
        let whole = blobs.get(&key, &GetOptions::default()).await.unwrap().unwrap().bytes;
        // An empty object has nothing to damage.
        if whole.is_empty() {
            continue;
        }
        let mut damaged = whole.to_vec();
        damaged[whole.len() / 2] ^= 1;
        blobs.put(&key, damaged.into(), &PutOptions::default()).await.unwrap();
        let found = problems(&blobs).await;
        assert!(!found.is_empty(), "{name}");
        blobs.put(&key, whole, &PutOptions::default()).await.unwrap();
    }
    assert_eq!(problems(&blobs).await, []);
}
