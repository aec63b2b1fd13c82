//! Bodies: packed, too large, cut off, of other types.

use axum::body::Body;
use serde_json::json;

use super::calls::{PROJECT, STACK, Service, Update, ask, deployment, error, gzip, root, stash};

/// Every call that has a body, with one that it accepts.
fn calls(update: &Update) -> Vec<(&'static str, String, String)> {
    let state = deployment(&json!([root(), stash("a")]), &json!([])).to_string();
    let stack = |tail: &str| format!("{STACK}{tail}");
    let verbatim = format!(r#"{{"version":3,"untypedDeployment":{state},"sequenceNumber":1}}"#);
    let whole = r#"{"isInvalid":false,"version":3,"features":[],"deployment":{"resources":[]}}"#;
    let delta = r#"{"version":3,"checkpointHash":"00","sequenceNumber":2,"deploymentDelta":[{"Span":{"start":{"offset":0},"end":{"offset":1}},"NewText":"x"}]}"#;
    let entry = r#"{"entries":[{"version":1,"kind":0,"sequenceID":1,"operationID":1,"removeOld":null,"removeNew":null}]}"#;
    [
        ("POST", PROJECT.to_owned(), &*format!(r#"{{"stackName":"other","tags":{{"a":"b"}},"state":{state}}}"#)),
        ("PATCH", stack("/tags"), r#"{"team":"web"}"#),
        ("POST", stack("/rename"), r#"{"newName":"dev","newProject":"p"}"#),
        ("POST", stack("/update"), r#"{"name":"p","options":{"dryRun":true},"config":{},"metadata":{"message":"m","environment":{}}}"#),
        ("POST", stack("/import"), &state),
        ("POST", stack("/encrypt"), r#"{"plaintext":"eA=="}"#),
        ("POST", stack("/batch-encrypt"), r#"{"plaintexts":["eA=="]}"#),
        ("POST", stack("/decrypt"), r#"{"ciphertext":"eA=="}"#),
        ("POST", stack("/batch-decrypt"), r#"{"ciphertexts":["eA=="]}"#),
        ("POST", stack("/decrypt/log-decryption"), r#"{"secretName":"x"}"#),
        ("POST", update.path("/renew_lease"), r#"{"token":"","duration":300}"#),
        ("PATCH", update.path("/journalentries"), entry),
        ("PATCH", update.path("/checkpoint"), whole),
        ("PATCH", update.path("/checkpointverbatim"), &verbatim),
        ("PATCH", update.path("/checkpointdelta"), delta),
        ("POST", update.path("/events/batch"), r#"{"events":[{"sequence":0,"timestamp":1,"cancelEvent":{}}]}"#),
        ("POST", update.path("/complete"), r#"{"status":"succeeded"}"#),
        // Last, since it gives the update another token.
        ("POST", update.path(""), r#"{"tags":{"a":"b"},"journalVersion":1}"#),
    ]
    .map(|(method, path, body)| (method, path, body.to_owned()))
    .into()
}

/// What the client of an update sends is under its token, everything else is of the user.
fn authorization(update: &Update, path: &str) -> Option<String> {
    let is_leased = path.starts_with(&update.path("/"));
    is_leased.then(|| format!("update-token {}", update.token))
}

#[tokio::test]
async fn whatever_a_body_is_the_server_answers_and_does_not_fail() {
    let service = Service::with_stack().await;
    let update = service.started("update").await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (method, path, body) in calls(&update) {
        let authorization = authorization(&update, &path);
        let client = if authorization.is_some() { service.server.stranger() } else { service.user.clone() };
        let headers: Vec<_> = authorization.iter().map(|value| ("authorization", &**value)).collect();
        let mut bodies: Vec<Vec<u8>> =
            (0..body.len()).step_by(7).map(|end| body.as_bytes()[..end].to_vec()).collect();
        let others: [&[u8]; 16] = [
            b"null",
            b"true",
            b"0",
            b"-1",
            b"1e999",
            b"\"hunter2\"",
            b"[]",
            b"[{}]",
            b"{}",
            b" ",
            b"{\"\":{}}",
            b"\xff\xfe\x00",
            b"\xef\xbb\xbf{}",
            b"\0",
            b"{\"status\":7,\"events\":7,\"entries\":7,\"deployment\":7}",
            deep.as_bytes(),
        ];
        bodies.extend(others.iter().map(|body| body.to_vec()));
        for number in ["-1", "1.5", "1e30", "99999999999999999999999", "null", "\"x\"", "[]", "{\"a\":1}"] {
            // Another type in the place of every value.
            let place = body.rfind(':').unwrap_or(0) + 1;
            bodies.push(format!("{}{number}}}", &body[..place]).into_bytes());
        }
        for sent in bodies {
            let shown = String::from_utf8_lossy(&sent[..sent.len().min(200)]).into_owned();
            let answer = ask(&client, method, &path, &headers, sent).await;
            assert!(!answer.status.is_server_error(), "{method} {path} {shown}: {}", answer.text());
            if answer.status.is_client_error() {
                assert_eq!(answer.json()["code"], answer.status.as_u16(), "{}", answer.text());
                assert!(!answer.text().contains("hunter2"), "{}", answer.text());
            }
        }
    }
}

#[tokio::test]
async fn every_body_may_be_packed_or_not() {
    for is_packed in [false, true] {
        let service = Service::with_stack().await;
        let update = service.started("update").await;
        for (method, path, body) in calls(&update) {
            let authorization = authorization(&update, &path);
            let client =
                if authorization.is_some() { service.server.stranger() } else { service.user.clone() };
            let mut headers: Vec<_> = authorization.iter().map(|value| ("authorization", &**value)).collect();
            let mut sent = body.into_bytes();
            if is_packed {
                headers.push(("content-encoding", "gzip"));
                sent = gzip(&sent);
            }
            let answer = ask(&client, method, &path, &headers, sent).await;
            let expected = match path.rsplit('/').next().unwrap() {
                // What was not encrypted here.
                "decrypt" | "batch-decrypt" => 400,
                // A lease that is held, a difference to what is not there, an update that has ended.
                "import" | "checkpointdelta" => 409,
                id if id == update.id => 409,
                "p" | "update" | "encrypt" | "batch-encrypt" | "renew_lease" => 200,
                _ => 204,
            };
            assert_eq!(answer.status, expected, "{method} {path}: {}", answer.text());
        }
    }
}

#[tokio::test]
async fn what_is_larger_than_a_state_may_be_is_refused_packed_or_not() {
    let service = Service::with(|parts| parts.limits.state_bytes = 64 << 10);
    service.create("dev").await;
    let update = service.started("update").await;
    let bomb = gzip(&vec![b' '; 8 << 20]);
    assert!(bomb.len() < 64 << 10);
    let large = vec![b' '; 80 << 10];
    for (method, path, _) in calls(&update) {
        let authorization = authorization(&update, &path);
        let client = if authorization.is_some() { service.server.stranger() } else { service.user.clone() };
        let mut headers: Vec<_> = authorization.iter().map(|value| ("authorization", &**value)).collect();
        let is_small = ["tags", "rename", "encrypt", "decrypt", "log-decryption", "renew_lease", "complete"]
            .iter()
            .any(|tail| path.ends_with(&format!("/{tail}")))
            || path == update.path("")
            || path.ends_with("/update");
        if !is_small {
            error(ask(&client, method, &path, &headers, large.clone()).await, 413);
        }
        headers.push(("content-encoding", "gzip"));
        error(ask(&client, method, &path, &headers, bomb.clone()).await, 413);
    }
    update.complete("succeeded").await.is(204);
}

#[tokio::test]
async fn who_has_no_lease_is_refused_before_the_body_is_read() {
    let service = Service::with(|parts| parts.limits.state_bytes = 1 << 10);
    service.create("dev").await;
    let update = service.started("update").await;
    let stranger = update.by_token("hunter2");
    for (method, tail) in [
        ("PATCH", "/journalentries"),
        ("PATCH", "/checkpoint"),
        ("PATCH", "/checkpointverbatim"),
        ("PATCH", "/checkpointdelta"),
        ("POST", "/events/batch"),
    ] {
        // A body that was looked at would be too large, or no JSON.
        error(stranger.send(method, tail, vec![b'x'; 64 << 10]).await, 403);
        error(update.send(method, tail, vec![b'x'; 64 << 10]).await, 413);
    }
    update.complete("succeeded").await.is(204);
    error(update.send("PATCH", "/journalentries", vec![b'x'; 64 << 10]).await, 403);
}

#[tokio::test]
async fn packed_bodies_that_are_damaged_are_bad_requests() {
    let service = Service::with_stack().await;
    let state = deployment(&json!([root()]), &json!([])).to_string();
    let whole = gzip(state.as_bytes());
    let url = format!("{STACK}/import");
    let mut changed = whole.clone();
    let end = changed.len() - 5;
    changed[end] ^= 0xff;
    let cut: Vec<Vec<u8>> = (1..whole.len()).map(|end| whole[..end].to_vec()).collect();
    for sent in
        cut.into_iter().chain([changed, state.clone().into_bytes(), b"\x1f\x8b".to_vec(), vec![0; 40]])
    {
        error(ask(&service.user, "POST", &url, &[("content-encoding", "gzip")], sent).await, 400);
    }
    for encoding in ["br", "deflate", "gzip, gzip", "zstd"] {
        error(ask(&service.user, "POST", &url, &[("content-encoding", encoding)], whole.clone()).await, 415);
    }
    assert_eq!(service.stack().await["version"], 0);
    for encoding in ["gzip", "x-gzip", "GZIP"] {
        ask(&service.user, "POST", &url, &[("content-encoding", encoding)], whole.clone()).await.is(200);
    }
    ask(&service.user, "POST", &url, &[("content-encoding", "identity")], state).await.is(200);
}

#[tokio::test]
async fn a_body_that_ends_too_early_changes_nothing() {
    let service = Service::with_stack().await;
    let pieces = [Ok(r#"{"version":3,"#.to_owned()), Err(std::io::Error::other("the client has gone"))];
    let body = Body::from_stream(futures_util::stream::iter(pieces));
    error(ask(&service.user, "POST", &format!("{STACK}/import"), &[], body).await, 400);
    assert_eq!(service.stack().await["version"], 0);
}
