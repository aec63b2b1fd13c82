//! Memory of requests: who gets some, who is refused before a body is read, and that all of it comes back.

use std::io::Write as _;
use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::{StreamExt, stream};
use groundstate_server::Parts;
use groundstate_server::auth::{Grant, Pattern, Principal, PrincipalKind, Role};
use groundstate_server::blobs::MemoryBlobs;
use groundstate_server::common::OsEntropy;
use groundstate_server::pulumi_service::LocalKey;
use groundstate_server::pulumi_service::pulumi_secrets::Key;
use http::Request;

use crate::support::{Answer, Client, Server, URL, state};

const STACK: &str = "/api/stacks/acme/shop/dev";
const MEMORY: u64 = 32 << 20;

/// A server with this little memory, and a stack.
async fn small() -> Server {
    of_memory(MEMORY).await
}

async fn of_memory(bytes: u64) -> Server {
    let mut parts = Parts::new(Arc::new(MemoryBlobs::new("states")));
    let key = LocalKey::new(&Key::new([7; Key::LENGTH]), Arc::new(OsEntropy));
    parts.secrets_key = Some(Arc::new(key));
    parts.limits.memory = Some(bytes);
    let server = Server::of(parts);
    send(&server.writer(), "/api/stacks/acme/shop", r#"{"stackName":"dev"}"#).await.is(200);
    server
}

async fn send(client: &Client, path: &str, body: impl Into<Body>) -> Answer {
    client.send(Request::post(path).body(body.into()).unwrap()).await
}

/// Sends a request whose client waits until its body is asked for.
async fn announce(client: &Client, path: &str) -> Answer {
    client.send(Request::post(path).header("expect", "100-continue").body(unread()).unwrap()).await
}

async fn send_packed(client: &Client, path: &str, text: &[u8]) -> Answer {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text).unwrap();
    let request = Request::post(path).header("content-encoding", "gzip");
    client.send(request.body(packed.finish().unwrap().into()).unwrap()).await
}

/// Values that cost far more than they have bytes.
fn values(member: &str, count: usize) -> String {
    format!(r#"{{"{member}":[{}""]}}"#, r#""","#.repeat(count))
}

/// A body that was asked for is never sent.
fn unread() -> Body {
    Body::from_stream(
        stream::once(async { unreachable!("the body is read") }).map(Ok::<Bytes, std::io::Error>),
    )
}

#[tokio::test]
async fn body_that_needs_more_than_a_caller_may_have_is_413_on_every_route() {
    let server = small().await;
    let client = server.admin();
    let many = 4 << 20;
    for (path, body) in [
        (format!("{STACK}/batch-decrypt"), values("ciphertexts", many)),
        (format!("{STACK}/batch-encrypt"), values("plaintexts", many)),
        (format!("{STACK}/versions"), values("key", many)),
        (format!("{STACK}/import"), values("deployment", many)),
        ("/api/stacks/acme/shop".to_owned(), values("state", many)),
    ] {
        let answer = send_packed(&client, &path, body.as_bytes()).await.is(413);
        assert!(
            answer.text().contains("limits.memory") || answer.text().contains("200 times"),
            "{}",
            answer.text()
        );
        let answer = send(&client, &path, body).await.is(413);
        assert!(answer.text().contains("limits.memory"), "{path}: {}", answer.text());
    }
    // All of it has come back.
    let answer = send(&client, &format!("{STACK}/batch-encrypt"), values("plaintexts", 100)).await.is(200);
    assert_eq!(answer.json()["ciphertexts"].as_array().unwrap().len(), 101);
}

#[tokio::test]
async fn outputs_of_any_size_are_refused_and_small_ones_of_a_large_state_are_not() {
    let server = of_memory(2 * MEMORY).await;
    let client = server.admin();
    let outputs = "/api/v1/states/shop/network/default/outputs";
    let filler = "x".repeat(24 << 20);
    let large = state(1).replace("eu-west-1", &filler);
    client.post("", &large).await.is(200);
    let answer = client.get(outputs).await.is(413);
    assert!(answer.text().contains("limits.memory"), "{}", answer.text());
    let many = format!("{}1", "1,".repeat(6 << 20));
    let many = state(2).replace("\"eu-west-1\"", &format!("[{many}]")).replace("\"string\"", "\"dynamic\"");
    client.post("", &many).await.is(200);
    client.get(outputs).await.is(413);

    let resource = |number: usize| {
        let attributes = "y".repeat(1 << 20);
        format!(
            r#"{{"mode":"managed","type":"t","name":"r{number}","provider":"provider[\"acme/x\"]","instances":[{{"schema_version":0,"attributes":{{"x":"{attributes}"}}}}]}}"#
        )
    };
    let resources: Vec<String> = (0..64).map(resource).collect();
    let wide = state(3).replace("\"resources\": []", &format!("\"resources\": [{}]", resources.join(",")));
    client.post("", &wide).await.is(200);
    assert_eq!(client.get(outputs).await.is(200).json()["outputs"][0]["value"], "eu-west-1");
    assert_eq!(client.get(URL).await.is(200).body.len(), wide.len());
}

#[tokio::test(start_paused = true)]
async fn request_without_memory_is_503_with_a_time_and_others_go_on() {
    let server = small().await;
    let (sender, receiver) = tokio::sync::mpsc::channel::<Bytes>(1);
    let held = stream::unfold(receiver, async |mut receiver| {
        let piece = receiver.recv().await?;
        Some((Ok::<_, std::io::Error>(piece), receiver))
    });
    // What is left of a refused body is read.
    let held = held.fuse();
    let ann =
        server.client_of(Principal::new("ann", PrincipalKind::Token, vec![Grant::everything(Role::Write)]));
    let slow = tokio::spawn({
        let ann = ann.clone();
        async move { send(&ann, &format!("{STACK}/import"), Body::from_stream(held)).await }
    });
    // Almost all that one caller may have, of which the end never comes.
    sender.send(vec![b' '; 3_900_000].into()).await.unwrap();
    sender.send(Bytes::new()).await.unwrap();
    sender.send(Bytes::new()).await.unwrap();
    let more = vec![b' '; 1 << 20];
    let answer = send(&ann, &format!("{STACK}/import"), more.clone()).await.is(503);
    assert!(answer.has_header("retry-after") && answer.text().contains("memory"), "{}", answer.text());
    send(&server.admin(), &format!("{STACK}/import"), more.clone()).await.is(400);
    drop(sender);
    slow.await.unwrap().is(400);
    send(&ann, &format!("{STACK}/import"), more).await.is(400);
}

#[tokio::test]
async fn no_body_is_read_for_a_caller_without_the_role() {
    let server = small().await;
    let elsewhere = |role| {
        let grant = Grant::project(role, Pattern::parse("bank").unwrap());
        server.client_of(Principal::new("ann", PrincipalKind::Token, vec![grant]))
    };
    let client = elsewhere(Role::Admin);
    for tail in [
        "/import",
        "/versions",
        "/rename",
        "/update",
        "/preview",
        "/encrypt",
        "/decrypt",
        "/batch-encrypt",
        "/batch-decrypt",
    ] {
        announce(&client, &format!("{STACK}{tail}")).await.is(403);
    }
    let patch =
        Request::patch(format!("{STACK}/tags")).header("expect", "100-continue").body(unread()).unwrap();
    client.send(patch).await.is(403);
    for path in [
        URL,
        "/api/v1/states/shop/network/default/rollback",
        "/api/v1/states/shop/network/default/lock/break",
    ] {
        announce(&client, path).await.is(403);
    }
    announce(&client, "/api/stacks/acme/shop").await.is(403);
    announce(&server.client(Role::Lock), "/api/stacks/acme/shop").await.is(403);
    let other = Grant::new(Role::Write, Pattern::parse("acme").unwrap(), Pattern::parse("books/*").unwrap());
    let other = server.client_of(Principal::new("ben", PrincipalKind::Token, vec![other]));
    announce(&other, "/api/stacks/acme/shop").await.is(403);
    send(&other, "/api/stacks/acme/books", r#"{"stackName":"dev"}"#).await.is(200);
}

#[tokio::test]
async fn no_body_is_read_for_another_lease_than_that_of_the_update() {
    let server = small().await;
    let admin = server.admin();
    let created = send(&admin, &format!("{STACK}/update"), "{}").await.is(200).json();
    let update = format!("{STACK}/update/{}", created["updateID"].as_str().unwrap());
    let started = send(&admin, &update, r#"{"journalVersion":1}"#).await.is(200).json();
    let under = async |token: &str, method: &str, tail: &str, body: Body| {
        let request = Request::builder().method(method).uri(format!("{update}{tail}"));
        let request = request.header("authorization", format!("update-token {token}"));
        server.stranger().send(request.header("expect", "100-continue").body(body).unwrap()).await
    };
    for (method, tail) in [
        ("POST", "/renew_lease"),
        ("POST", "/complete"),
        ("POST", "/events/batch"),
        ("PATCH", "/journalentries"),
        ("PATCH", "/checkpoint"),
        ("PATCH", "/checkpointverbatim"),
        ("PATCH", "/checkpointdelta"),
    ] {
        under("another", method, tail, unread()).await.is(403);
    }
    let token = started["token"].as_str().unwrap();
    under(token, "POST", "/renew_lease", r#"{"token":"","duration":300}"#.into()).await.is(200);
    // A client that lost the answer asks again.
    for _ in 0..2 {
        under(token, "POST", "/complete", r#"{"status":"succeeded"}"#.into()).await.is(204);
    }
    under(token, "POST", "/renew_lease", unread()).await.is(403);
}
