//! DynamoDB as the lock of states uses it.

use groundstate_testkit::S3Server;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::support::http;

async fn call(server: &S3Server, operation: &str, input: Value) -> (StatusCode, Value) {
    let request = http()
        .post(server.endpoint())
        .header("content-type", "application/x-amz-json-1.0")
        .header("x-amz-target", format!("DynamoDB_20120810.{operation}"))
        .body(input.to_string());
    let answer = request.send().await.unwrap();
    let status = answer.status();
    (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap())
}

fn lock(who: &str) -> Value {
    json!({
        "TableName": "locks",
        "Item": { "LockID": { "S": "b/k" }, "Info": { "S": who } },
        "ConditionExpression": "attribute_not_exists(LockID)",
    })
}

#[tokio::test]
async fn a_row_is_created_read_and_deleted_under_conditions() {
    let server = S3Server::start().await;
    let (status, body) = call(&server, "PutItem", lock("a")).await;
    assert_eq!(status, 400);
    assert!(body["__type"].as_str().unwrap().ends_with("#ResourceNotFoundException"), "{body}");
    server.create_table("locks");
    assert_eq!(call(&server, "PutItem", lock("a")).await, (StatusCode::OK, json!({})));
    let (status, body) = call(&server, "PutItem", lock("b")).await;
    assert_eq!(status, 400);
    assert!(body["__type"].as_str().unwrap().ends_with("#ConditionalCheckFailedException"), "{body}");
    let get = json!({
        "TableName": "locks", "Key": { "LockID": { "S": "b/k" } },
        "ProjectionExpression": "LockID, Info", "ConsistentRead": true,
    });
    let (_, body) = call(&server, "GetItem", get.clone()).await;
    assert_eq!(body["Item"]["Info"]["S"], "a");
    let delete = |info: &str| {
        json!({
            "TableName": "locks", "Key": { "LockID": { "S": "b/k" } }, "ConditionExpression": "Info = :info",
            "ExpressionAttributeValues": { ":info": { "S": info } },
        })
    };
    assert_eq!(call(&server, "DeleteItem", delete("b")).await.0, 400);
    assert_eq!(call(&server, "DeleteItem", delete("a")).await.0, 200);
    assert_eq!(call(&server, "GetItem", get).await, (StatusCode::OK, json!({})));
    assert_eq!(server.items("locks"), [""; 0]);
}

#[tokio::test]
async fn a_table_describes_itself() {
    let server = S3Server::start().await;
    server.create_table("locks");
    let (status, body) = call(&server, "DescribeTable", json!({ "TableName": "locks" })).await;
    assert_eq!(status, 200);
    assert_eq!(body["Table"]["TableStatus"], "ACTIVE");
    assert_eq!(body["Table"]["KeySchema"][0]["AttributeName"], "LockID");
}

#[tokio::test]
async fn operations_are_denied_by_name_and_keys_are_checked() {
    let server = S3Server::start().await;
    server.create_table("locks");
    let get = json!({ "TableName": "locks", "Key": { "LockID": { "S": "b/k" } } });
    server.deny("PutItem", "*");
    let (status, body) = call(&server, "PutItem", lock("a")).await;
    assert_eq!(status, 400);
    assert!(body["__type"].as_str().unwrap().ends_with("#AccessDeniedException"), "{body}");
    assert_eq!(call(&server, "GetItem", get.clone()).await.0, 200);
    server.allow_all();
    assert_eq!(call(&server, "PutItem", lock("a")).await.0, 200);
    server.require_key("key", "secret");
    let (status, body) = call(&server, "GetItem", get).await;
    assert_eq!(status, 400);
    assert!(body["__type"].as_str().unwrap().ends_with("#MissingAuthenticationTokenException"), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_create_a_row_at_once_one_does() {
    let server = std::sync::Arc::new(S3Server::start().await);
    server.create_table("locks");
    let tasks: Vec<_> = (0..64)
        .map(|number| {
            let server = std::sync::Arc::clone(&server);
            tokio::spawn(async move { call(&server, "PutItem", lock(&number.to_string())).await.0 == 200 })
        })
        .collect();
    let mut winners = 0;
    for task in tasks {
        winners += usize::from(task.await.unwrap());
    }
    assert_eq!(winners, 1);
}
