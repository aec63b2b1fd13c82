//! How many requests to a bucket what clients send costs.

use axum::body::Body;
use groundstate_testkit::{S3Locks, TestBackend};
use http::Request;
use serde_json::json;

use super::calls::entry;
use super::service::Service;
use crate::support::bucket_url;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_of_entries_costs_a_bucket_two_requests() {
    let bucket = TestBackend::s3_counted(S3Locks::File);
    let service = Service::at(&bucket_url(&bucket)).await;
    let stack = "/api/stacks/acme/p";
    let send = async |method: &str, path: &str, token: &str, body: String| {
        let mut request = Request::builder().method(method).uri(format!("{stack}{path}"));
        if !token.is_empty() {
            request = request.header("authorization", format!("update-token {token}"));
        }
        let answer = service.client.send(request.body(Body::from(body)).unwrap()).await;
        assert!(answer.status.is_success(), "{path}: {}", answer.text());
        if answer.body.is_empty() { json!(null) } else { answer.json() }
    };
    send("POST", "", "", json!({"stackName": "dev"}).to_string()).await;
    let created = send("POST", "/dev/update", "", "{}".to_owned()).await;
    let update = format!("/dev/update/{}", created["updateID"].as_str().unwrap());
    let started = send("POST", &update, "", json!({"journalVersion": 1}).to_string()).await;
    let token = started["token"].as_str().unwrap();
    let server = bucket.server().unwrap();
    let mut costs = Vec::new();
    for sequence in 1..6 {
        let before = server.requests().len();
        let batch = json!({"entries": [entry(sequence, 0, sequence, json!({}))]}).to_string();
        send("PATCH", &format!("{update}/journalentries"), token, batch).await;
        let made: Vec<String> =
            server.requests()[before..].iter().map(|request| request.method.clone()).collect();
        costs.push(made);
    }
    assert!(costs[1..].iter().all(|made| *made == ["PUT", "GET"]), "{costs:?}");
}
