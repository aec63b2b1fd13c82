//! Checkpoints: whole ones, verbatim ones, and differences.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::calls::{STACK, Service, Update, ask, error, gzip};
use crate::support::Answer;

const HEADER: &str = r#"{"version":3,"deployment":{"manifest":{"time":"2026-01-02T03:04:05Z","magic":"","version":""},"metadata":{},"resources":["#;
const LATER: &str = r#"{"version":3,"deployment":{"manifest":{"time":"2026-01-02T03:04:06Z","magic":"","version":""},"metadata":{},"resources":["#;
const ROOT: &str =
    r#"{"urn":"urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev","custom":false,"type":"pulumi:pulumi:Stack"}"#;
const STASH: &str = r#"{"urn":"urn:pulumi:dev::p::pulumi:index:Stash::café","custom":true,"id":"1","type":"pulumi:index:Stash"}"#;
/// The hashes of the vectors.
const A: &str = "b586feece9e19488d7ddf10ad07390685b97c3179df03483090469deb6417509";
const B: &str = "4698a58827237e80cde8588632c09d65f393265bb70e0ca6f931fd260a590e69";
const C: &str = "92ea281d58ec439eb3baa5b4178bf24d66f9002227bbce6809643c5f9580485a";
const D: &str = "ae9ba4c899077aa991856b8e9cb357badc385856feba1d8178b0995cd414136d";

fn text_a() -> String {
    format!("{HEADER}{ROOT}]}}}}")
}

fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn edit(start: u64, end: u64, text: &str) -> Value {
    let point = |offset: u64| json!({"line": 1, "column": 1, "offset": offset});
    json!({"Span": {"uri": "", "start": point(start), "end": point(end)}, "NewText": text})
}

async fn verbatim(update: &Update, sequence: u64, text: &str) -> Answer {
    let body = format!(r#"{{"version":3,"untypedDeployment":{text},"sequenceNumber":{sequence}}}"#);
    update.send("PATCH", "/checkpointverbatim", body).await
}

async fn delta(update: &Update, sequence: u64, hash: &str, edits: Value) -> Answer {
    let body =
        json!({"version": 3, "checkpointHash": hash, "sequenceNumber": sequence, "deploymentDelta": edits});
    update.send("PATCH", "/checkpointdelta", body.to_string()).await
}

async fn started() -> (Service, Update) {
    let service = Service::with_stack().await;
    let update = service.started_without_journal().await;
    (service, update)
}

/// The state after the update is completed.
async fn completed(service: &Service, update: &Update) -> String {
    update.complete("succeeded").await.is(204);
    service.get(&format!("{STACK}/export")).await.is(200).text()
}

#[tokio::test]
async fn the_golden_differences_have_their_hashes() {
    let (service, update) = started().await;
    assert_eq!(sha256(&text_a()), A);
    verbatim(&update, 1, &text_a()).await.is(204);
    delta(&update, 2, B, json!([edit(121, 220, &format!("{ROOT},{STASH}"))])).await.is(204);
    delta(&update, 3, C, json!([edit(0, 221, LATER)])).await.is(204);
    let text = completed(&service, &update).await;
    assert_eq!((&text, &*sha256(&text)), (&format!("{LATER}{STASH}]}}}}"), C));

    let (service, update) = started().await;
    verbatim(&update, 1, &text_a()).await.is(204);
    let edits = json!([edit(0, 121, LATER), edit(220, 220, &format!(",{STASH}"))]);
    delta(&update, 2, D, edits).await.is(204);
    delta(&update, 3, D, json!([])).await.is(204);
    delta(&update, 4, D, Value::Null).await.is(204);
    assert_eq!(sha256(&completed(&service, &update).await), D);
}

#[tokio::test]
async fn what_is_sent_again_changes_nothing_and_what_does_not_follow_is_a_conflict() {
    let (service, update) = started().await;
    error(delta(&update, 1, A, json!([edit(0, 0, &text_a())])).await, 409);
    error(delta(&update, 2, A, json!([])).await, 409);
    verbatim(&update, 1, &text_a()).await.is(204);
    verbatim(&update, 1, &text_a()).await.is(204);
    let to_b = json!([edit(121, 220, &format!("{ROOT},{STASH}"))]);
    delta(&update, 2, B, to_b.clone()).await.is(204);
    delta(&update, 2, B, to_b.clone()).await.is(204);
    for (sequence, hash) in [(4, B), (3, B), (2, A), (1, A), (0, A), (u64::MAX, B)] {
        error(delta(&update, sequence, hash, to_b.clone()).await, 409);
    }
    // The client sends the whole under the same number then, and it counts.
    verbatim(&update, 1, &text_a()).await.is(204);
    verbatim(&update, 2, &text_a()).await.is(204);
    delta(&update, 3, B, to_b).await.is(204);
    verbatim(&update, 9, &text_a()).await.is(204);
    assert_eq!(completed(&service, &update).await, text_a());
}

#[tokio::test]
async fn edits_that_break_a_rule_are_a_conflict_and_the_text_stays() {
    let (service, update) = started().await;
    verbatim(&update, 1, &text_a()).await.is(204);
    delta(&update, 2, B, json!([edit(121, 220, &format!("{ROOT},{STASH}"))])).await.is(204);
    let text = format!("{HEADER}{ROOT},{STASH}]}}}}");
    let inside = text.find('é').unwrap() as u64 + 1;
    let hash = sha256(&text);
    for edits in [
        json!([edit(0, 330, "")]),
        json!([edit(330, 330, "")]),
        json!([edit(u64::MAX, u64::MAX, "x")]),
        json!([edit(0, u64::MAX, "x")]),
        json!([edit(9, 8, "x")]),
        json!([edit(10, 20, "x"), edit(5, 6, "x")]),
        json!([edit(10, 20, "x"), edit(19, 21, "x")]),
        json!([edit(inside, inside, "")]),
        json!([edit(0, inside, "")]),
        json!([edit(0, 1, "[")]),
    ] {
        error(delta(&update, 3, &hash, edits.clone()).await, 409);
    }
    error(delta(&update, 3, &hash.to_uppercase(), json!([])).await, 409);
    error(delta(&update, 3, "", json!([])).await, 409);
    for edits in
        [json!([edit(0, 0, "")["Span"]]), json!([7]), json!({}), json!([{"Span": {"start": {"offset": -1}}}])]
    {
        let refused = delta(&update, 3, "", edits).await;
        assert!([400, 409].contains(&refused.status.as_u16()), "{}", refused.text());
    }
    delta(&update, 3, &hash, json!([])).await.is(204);
    assert_eq!(completed(&service, &update).await, text);
}

#[tokio::test]
async fn the_highest_number_there_is_has_no_successor() {
    let (service, update) = started().await;
    verbatim(&update, u64::MAX, &text_a()).await.is(204);
    for sequence in [0, 1, u64::MAX - 1, u64::MAX] {
        error(delta(&update, sequence, B, json!([])).await, 409);
    }
    assert_eq!(completed(&service, &update).await, text_a());
}

#[tokio::test]
async fn a_result_that_is_no_state_is_not_stored() {
    let (service, update) = started().await;
    verbatim(&update, 1, &text_a()).await.is(204);
    let broken = format!("[{}", &text_a()[1..]);
    let refused = delta(&update, 2, &sha256(&broken), json!([edit(0, 1, "[")])).await;
    assert!([400, 409].contains(&refused.status.as_u16()), "{}", refused.text());
    for text in [
        "null",
        "[]",
        "{}",
        r#"{"version":3}"#,
        r#"{"version":9,"deployment":{}}"#,
        r#"{"version":3,"deployment":"hunter2"}"#,
        r#""hunter2""#,
    ] {
        let message = error(verbatim(&update, 2, text).await, 400);
        assert!(!message.contains("hunter2"), "{message}");
    }
    for body in ["{}", "null", "[]", "", r#"{"sequenceNumber":1}"#] {
        error(update.send("PATCH", "/checkpointverbatim", body).await, 400);
    }
    assert_eq!(completed(&service, &update).await, text_a());
}

#[tokio::test]
async fn every_whole_checkpoint_replaces_the_one_before() {
    let (service, update) = started().await;
    let inner = |name: &str| format!(r#"{{ "resources":[], "name":"{name} <é>" }}"#);
    for name in ["first", "second"] {
        let body =
            format!(r#"{{"isInvalid":false,"version":4,"features":["hooks"],"deployment":{}}}"#, inner(name));
        let headers =
            [("authorization", &*format!("update-token {}", update.token)), ("content-encoding", "gzip")];
        let url = update.path("/checkpoint");
        for _ in 0..2 {
            let packed = gzip(body.as_bytes());
            ask(&service.server.stranger(), "PATCH", &url, &headers, packed).await.is(204);
        }
    }
    for body in [
        r#"{"isInvalid":true,"version":3}"#,
        r#"{"isInvalid":true,"version":3,"deployment":{}}"#,
        r#"{"isInvalid":false,"version":3,"deployment":null}"#,
        r#"{"version":3,"deployment":[]}"#,
        r#"{"version":3,"deployment":"hunter2"}"#,
        r#"{"version":3,"deployment":{"resources":"hunter2"}}"#,
        r#"{"version":0,"deployment":{}}"#,
        r#"{"version":-3,"deployment":{}}"#,
        r#"{"deployment":{}}"#,
        "{}",
        "null",
    ] {
        let message = error(update.send("PATCH", "/checkpoint", body).await, 400);
        assert!(!message.contains("hunter2"), "{message}");
    }
    let expected = format!(r#"{{"version":4,"features":["hooks"],"deployment":{}}}"#, inner("second"));
    assert_eq!(completed(&service, &update).await, expected);
}

#[tokio::test]
async fn a_checkpoint_counts_when_the_lease_is_over() {
    let (service, update) = started().await;
    verbatim(&update, 1, &text_a()).await.is(204);
    service.wait(301);
    error(verbatim(&update, 2, &text_a()).await, 403);
    assert_eq!(service.get(&format!("{STACK}/export")).await.is(200).text(), text_a());
    assert_eq!(service.history().await[0]["result"], "failed");
}
