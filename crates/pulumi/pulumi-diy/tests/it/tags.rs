//! Tags: their file, their limits, and what else is in it.

use std::sync::Arc;

use groundstate_pulumi_diy::blobs::{BlobCapabilities, MemoryBlobs};
use groundstate_pulumi_diy::{ErrorKind, Unguarded};

use crate::support::{Bucket, stack};

const KEY: &str = ".pulumi/stacks/p/s.pulumi-tags";

#[tokio::test]
async fn the_file_is_there_as_long_as_there_are_tags() {
    for bucket in Bucket::both() {
        let stack = bucket.open().await.stack(&stack("s"));
        let mut tags = stack.tags().await.unwrap();
        assert!(tags.all().is_empty());
        stack.save_tags(&tags, &Unguarded).await.unwrap();
        assert_eq!(bucket.text(KEY).await, None);
        tags.set("z:team", "ü<").unwrap();
        tags.set("env", "prod").unwrap();
        stack.save_tags(&tags, &Unguarded).await.unwrap();
        let expected = r#"{"version":1,"tags":{"env":"prod","z:team":"ü<"}}"#;
        assert_eq!(bucket.text(KEY).await.as_deref(), Some(expected));

        let mut tags = stack.tags().await.unwrap();
        assert_eq!(tags.get("env"), Some("prod"));
        assert!(tags.remove("env") && tags.remove("z:team") && !tags.remove("env"));
        stack.save_tags(&tags, &Unguarded).await.unwrap();
        assert_eq!(bucket.text(KEY).await, None);
    }
}

#[tokio::test]
async fn names_and_values_have_limits() {
    let mut tags = Bucket::memory().open().await.stack(&stack("s")).tags().await.unwrap();
    let (name, value) = ("n".repeat(40), "ü".repeat(256));
    tags.set(&name, &value).unwrap();
    for (name, value) in [
        ("n".repeat(41), "v".to_owned()),
        (name, format!("{value}v")),
        (String::new(), String::new()),
        ("a b".into(), String::new()),
    ] {
        assert_eq!(tags.set(&name, &value).unwrap_err().kind(), ErrorKind::Invalid, "{name} {value}");
    }
    assert_eq!(tags.all().len(), 1);
}

#[tokio::test]
async fn files_of_other_versions_are_refused_and_other_members_are_kept() {
    for bucket in Bucket::both() {
        let stack = bucket.open().await.stack(&stack("s"));
        for (text, words) in [
            (r#"{"version":2,"tags":{}}"#, "unsupported stack tags version: 2 (expected 1)"),
            ("{}", "unsupported stack tags version: 0 (expected 1)"),
            ("{", "EOF"),
        ] {
            bucket.put(KEY, text).await;
            let error = stack.tags().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            assert!(error.to_string().contains(words), "{error}");
        }
        bucket
            .put(KEY, r#"{"version":1,"tags":{"a":"1"},"future":{"big":100000000000000000000000.50}}"#)
            .await;
        let mut tags = stack.tags().await.unwrap();
        tags.remove("a");
        stack.save_tags(&tags, &Unguarded).await.unwrap();
        let kept = r#"{"version":1,"tags":{},"future":{"big":100000000000000000000000.50}}"#;
        assert_eq!(bucket.text(KEY).await.as_deref(), Some(kept));
    }
}

#[tokio::test]
async fn tags_of_another_process_are_not_overwritten() {
    let bucket = Bucket::memory();
    let stack = bucket.open().await.stack(&stack("s"));
    let (mut first, mut second) = (stack.tags().await.unwrap(), stack.tags().await.unwrap());
    first.set("a", "1").unwrap();
    second.set("b", "2").unwrap();
    stack.save_tags(&first, &Unguarded).await.unwrap();
    assert_eq!(stack.save_tags(&second, &Unguarded).await.unwrap_err().kind(), ErrorKind::Changed);
    assert_eq!(stack.tags().await.unwrap().get("a"), Some("1"));
}

#[tokio::test]
async fn stores_without_conditions_have_tags_too() {
    let store = MemoryBlobs::new("bucket").limited_to(BlobCapabilities::none());
    let stack = Bucket::memory().through(Arc::new(store)).open().await.stack(&stack("s"));
    let mut tags = stack.tags().await.unwrap();
    tags.set("a", "1").unwrap();
    stack.save_tags(&tags, &Unguarded).await.unwrap();
    assert_eq!(stack.tags().await.unwrap().get("a"), Some("1"));
}
