//! No token, password or JSON Web Token is anywhere but in the request.

use std::sync::Arc;

use groundstate_conformance::FaultyBlobs;
use groundstate_server::audit::{AuditLog, Outcome, Reader};
use groundstate_server::auth::{AuthSettings, Role};
use groundstate_server::blobs::{BlobStore, GetOptions, Key, ListOptions, MemoryBlobs};
use groundstate_server::common::{FixedClock, Timestamp};
use groundstate_testkit::{TestIssuer, Traced};
use serde_json::json;

use super::{Ask, Guarded, NETWORK, context, location};

async fn everything_stored(store: &FaultyBlobs) -> String {
    let mut text = String::new();
    for blob in store.list("", &ListOptions::default()).await.unwrap().blobs {
        let key = Key::parse(&blob.name).unwrap();
        let content = store.get(&key, &GetOptions::default()).await.unwrap().unwrap().bytes;
        text.push_str(&format!("{}\n{}\n", blob.name, String::from_utf8_lossy(&content)));
    }
    text
}

#[tokio::test]
async fn secrets_are_in_no_answer_no_trace_no_entry_and_no_debug_text() {
    let traced = Traced::events();
    let store = FaultyBlobs::new(MemoryBlobs::new("states"));
    let clock = Arc::new(FixedClock::new(Timestamp::parse("2026-03-01T12:00:00Z").unwrap()));
    let (log, recorder) = AuditLog::open(location(&store), "node-1", context(&clock)).unwrap();
    let recording = tokio::spawn(recorder.run());
    let issuer = TestIssuer::start();
    let settings = format!(
        "[[issuer]]\nname = \"test\"\nissuer = \"{}\"\naudiences = [\"us\"]\n[[issuer.rules]]\n\
         claims = {{ sub = \"job\" }}\ngrants = [{{ role = \"lock\", project = \"*\", state = \"*\" }}]\n",
        issuer.url()
    );
    let server = Guarded::on(store.clone(), &AuthSettings::parse(&settings).unwrap(), Some(log));
    let (token, info) = server.token("ci", Role::Lock, "*", "*").await;
    let (revoked, _) = server.token("old", Role::Lock, "*", "*").await;
    server.tokens.revoke("old", "user:ana").await.unwrap();
    let (unknown, _) = Guarded::new().token("ci", Role::Lock, "*", "*").await;
    let claims = json!({ "iss": issuer.url(), "sub": "job", "aud": "us", "exp": 4_000_000_000_u64 });
    let jwt = issuer.sign("ES256", &claims);
    let forged =
        issuer.sign_with("RS256", &json!({ "alg": "ES256", "kid": issuer.key_id("ES256") }), &claims);
    let slip = token.reveal().replace(&token.reveal()[10..11], "-");
    let secrets =
        [token.reveal(), revoked.reveal(), unknown.reveal(), &jwt, &forged, &slip, "hunter2hunter2hunter2"];

    let mut shown = format!("{token:?} {info:?} {:?} {:?}", server.tokens, server.authenticator);
    for secret in secrets {
        for ask in [
            Ask::lock(NETWORK).bearer(secret),
            Ask::get(NETWORK).basic("ci", secret),
            Ask::get(NETWORK).header("authorization", secret),
            Ask::get(&format!("/{secret}")).bearer(secret),
        ] {
            // Another address each time, so that none has failed too often.
            let answer = server.send(&ask.from(&format!("192.0.2.{}", shown.len() % 250))).await;
            shown.push_str(&format!("{:?} {}", answer.headers, answer.text()));
        }
    }
    drop(server);
    recording.await.unwrap();
    let traces = traced.text();

    let entries = Reader::new(location(&store)).newest(1000, &|_| true).await.unwrap().records;
    let denied = entries.iter().filter(|(_, record)| record.outcome == Outcome::Denied).count();
    assert!(denied > 5, "{denied} refusals are in the log");
    assert!(traces.contains("credentials are refused"), "{traces}");
    let stored = everything_stored(&store).await;
    for (place, text) in [("answers", &shown), ("traces", &traces), ("store", &stored)] {
        // The path of a URL is the client's own, and comes back, also as the owner that the page looks for.
        let own = |secret: &&str| [format!("at /{secret}"), format!("/#/stacks?search={secret}/")];
        let text = secrets.iter().flat_map(own).fold(text.clone(), |text, own| text.replace(&own, ""));
        for secret in secrets {
            // Any part of a secret that is long enough to tell.
            let mut parts = vec![&secret[4..20]];
            parts
                .extend(secret.split('.').map(|part| &part[part.len() / 2..]).filter(|part| part.len() > 15));
            for part in parts {
                assert!(!text.contains(part), "{place}: {part} of {secret}");
            }
        }
    }
}
