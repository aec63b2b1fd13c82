//! Imports, and how they end.

use std::sync::atomic::{AtomicUsize, Ordering};

use groundstate_pulumi_http::ErrorKind;
use groundstate_testkit::{Answer, Fault, Recorder, Request};

use crate::support::{sent, stack};

const DEPLOYMENT: &[u8] = br#"{"version":3,"deployment":{"a":1.0}}"#;
const IMPORT: &str = "POST /api/stacks/acme/shop/prod/import";

/// A service whose imports have these states, one after the other.
fn service(states: &'static [&'static str]) -> Recorder {
    let asked = AtomicUsize::new(0);
    Recorder::answering(move |request: &Request| {
        if request.path().ends_with("/import") {
            return Answer::new(200).body(r#"{"updateId":"u-1"}"#);
        }
        let number = asked.fetch_add(1, Ordering::Relaxed).min(states.len() - 1);
        Answer::new(200).body(format!(r#"{{"status":"{}","continuationToken":"t"}}"#, states[number]))
    })
}

#[tokio::test]
async fn an_import_is_over_when_the_service_says_so() {
    let server = service(&["requested", "running", "succeeded"]);
    server.fault(Fault::refuse(504, "late", None).on("GET", "*").times(1));
    assert_eq!(stack(&server).import(DEPLOYMENT.into()).await.unwrap().update_id, "u-1");
    let sent = sent(&server);
    assert_eq!(sent[0], IMPORT);
    assert_eq!(sent.len(), 5, "{sent:?}");
    assert!(sent[4].ends_with("/update/u-1?continuationToken=t"), "{sent:?}");
    assert_eq!(server.requests()[0].body, DEPLOYMENT);
}

#[tokio::test]
async fn what_an_import_expects_is_sent_where_the_service_checks_it() {
    for (offered, query) in [("groundstate-conditional-import", "?expectedSha256=ab"), ("other", "")] {
        let server = Recorder::answering(move |request: &Request| match &*request.path() {
            "/api/capabilities" => {
                Answer::new(200).body(format!(r#"{{"capabilities":[{{"capability":"{offered}"}}]}}"#))
            }
            path if path.ends_with("/import") => Answer::new(200).body(r#"{"updateId":"u-1","sha256":"cd"}"#),
            _ => Answer::new(200).body(r#"{"status":"succeeded"}"#),
        });
        let imported = stack(&server).import_over(DEPLOYMENT.into(), "ab").await.unwrap();
        assert_eq!(imported.sha256.as_deref(), Some("cd"));
        assert_eq!(sent(&server)[1], format!("{IMPORT}{query}"));
    }
    let refusing = Recorder::answering(|request: &Request| match &*request.path() {
        "/api/capabilities" => {
            Answer::new(200).body(r#"{"capabilities":[{"capability":"groundstate-conditional-import"}]}"#)
        }
        _ => Answer::new(412).body(r#"{"code":412,"message":"Precondition Failed: it has changed"}"#),
    });
    let error = stack(&refusing).import_over(DEPLOYMENT.into(), "ab").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Changed, "{error}");
    assert_eq!(sent(&refusing).len(), 2, "it is not sent again");
}

#[tokio::test]
async fn an_import_that_fails_is_no_success() {
    for state in [&["failed"][..], &["running", "cancelled"]] {
        let server = service(if state.len() == 1 { &["failed"] } else { &["running", "cancelled"] });
        let error = stack(&server).import(DEPLOYMENT.into()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }
}

#[tokio::test]
async fn an_import_whose_answer_or_end_is_not_known_is_ambiguous_and_not_sent_again() {
    let server = service(&["succeeded"]);
    server.fault(Fault::drop_after_commit());
    let error = stack(&server).import(DEPLOYMENT.into()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Ambiguous, "{error}");
    assert_eq!(sent(&server), [IMPORT]);
    let endless = service(&["running"]);
    let error = stack(&endless).import(DEPLOYMENT.into()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Ambiguous, "{error}");
    assert_eq!(sent(&endless).iter().filter(|line| *line == IMPORT).count(), 1);
}

#[tokio::test]
async fn what_is_no_deployment_or_too_new_for_the_service_is_not_sent() {
    let server = Recorder::start(Answer::new(404).body(r#"{"code":404,"message":"no"}"#));
    for text in ["", "[]", "{}", r#"{"version":9,"deployment":{}}"#, r#"{"version":3,"deployment":[]}"#] {
        let error = stack(&server).import(text.as_bytes().to_vec().into()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text}: {error}");
    }
    assert!(server.requests().is_empty());
    let newer = br#"{"version":4,"features":["x"],"deployment":{}}"#;
    let error = stack(&server).import(newer.to_vec().into()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert_eq!(sent(&server), ["GET /api/capabilities"]);
}

#[tokio::test]
async fn large_states_are_sent_compressed() {
    let server = service(&["succeeded"]);
    let large = format!(r#"{{"version":3,"deployment":{{"a":"{}"}}}}"#, "x".repeat(100_000));
    stack(&server).import(large.into()).await.unwrap();
    let requests = server.requests();
    assert_eq!(requests[0].header("content-encoding"), Some("gzip"));
    assert!(requests[0].received < 2_000, "{:?}", requests[0]);
}
