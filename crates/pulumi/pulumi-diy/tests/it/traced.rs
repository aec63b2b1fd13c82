//! What a subscriber is told of operations on stacks: names and kinds, and nothing of what is stored.

use std::sync::Arc;
use std::time::Duration;

use groundstate_pulumi_diy::{Holder, LockOptions, RemoveOptions};
use groundstate_testkit::Traced;
use serde_json::Value;

use crate::support::{Bucket, document, stack};

/// What may not be shown.
const SECRET: &str = "hunter2";

fn holder() -> Holder {
    Holder { pid: 7, user: "bo".to_owned(), host: "here".to_owned(), started: None }
}

#[tokio::test]
async fn operations_on_stacks_have_place_lock_version_and_attempt_and_no_values() {
    let bucket = Bucket::memory();
    let stack = bucket.open().await.stack(&stack("s"));
    let traced = Traced::spans();
    let lock = Arc::new(stack.lock(&holder(), &LockOptions::default()).await.unwrap());
    stack.lock(&holder(), &LockOptions::default().timeout(Duration::from_secs(1))).await.unwrap_err();
    let saved = stack.writer(Arc::clone(&lock) as _).save(document(SECRET).into()).await.unwrap();
    assert_eq!(stack.read().await.unwrap().unwrap().version, saved.version);
    let mut tags = stack.tags().await.unwrap();
    tags.set("team", SECRET).unwrap();
    stack.save_tags(&tags, &*lock).await.unwrap();
    lock.renew().await.unwrap();
    stack.remove(&*lock, &RemoveOptions::default().force()).await.unwrap();
    lock.release().await.unwrap();
    assert!(stack.cancel().await.unwrap().removed.is_empty());

    let text = traced.text();
    assert!(!text.contains(SECRET), "{text}");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let closed = lines.filter(|line| line["fields"]["message"] == "close").map(|line| line["span"].clone());
    let spans: Vec<Value> = closed.filter(|span| span["name"] == "stack").collect();
    let is_named = |span: &Value| span["stack"] == "organization/p/s" && span["place"] == "memory://bucket";
    assert!(spans.iter().all(is_named), "{spans:?}");
    let key = lock.key().as_str();
    let version = saved.version.to_string();
    let shown = |span: &Value| {
        let op = span["op"].as_str().unwrap();
        let lock = if span["lock"] == key { ", its lock" } else { "" };
        let version = if span["version"] == *version { ", its version" } else { "" };
        let is_tried =
            if span["attempt"].as_u64().is_some_and(|attempt| attempt > 1) { ", again" } else { "" };
        format!("{op}{lock}{version}{is_tried}, error {}", span["error"])
    };
    let shown: Vec<String> = spans.iter().map(shown).collect();
    assert_eq!(
        shown,
        [
            "lock, its lock, error null",
            "lock, again, error \"Locked\"",
            "save, its version, error null",
            "read, its version, error null",
            "tag, error null",
            "renew, its lock, error null",
            "remove, error null",
            "release, its lock, error null",
            "cancel, error null",
        ]
    );
}
