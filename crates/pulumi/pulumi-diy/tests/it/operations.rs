//! Creating and removing stacks, also when it is killed at any request.

use std::sync::Arc;

use groundstate_conformance::{Fault, FaultyBlobs};
use groundstate_pulumi_diy::blobs::MemoryBlobs;
use groundstate_pulumi_diy::{ErrorKind, Holder, LockOptions, RemoveOptions, Unguarded};

use crate::support::{Bucket, document, stack};

const CHECKPOINT: &str = ".pulumi/stacks/p/s.json";
const BAK: &str = ".pulumi/stacks/p/s.json.bak";
const REST: [&str; 5] = [
    ".pulumi/stacks/p/s.pulumi-tags",
    ".pulumi/history/p/s/s-1.history.json",
    ".pulumi/backups/p/s/s.1.json",
    ".pulumi/stacks/p/s.json.1700000000000000000",
    BAK,
];
const EMPTY: &str = r#"{"version":0,"checkpoint":{"stack":"organization/p/s"}}"#;

fn root_only() -> String {
    let text = document("1");
    let child = text.find(r#",{"urn""#).unwrap();
    let end = text.find(r#"],"metadata""#).unwrap();
    format!("{}{}", &text[..child], &text[end..])
}

async fn fill(bucket: &Bucket, text: &str) {
    bucket.put(CHECKPOINT, text).await;
    bucket.put(".pulumi/stacks/p/s2.json", EMPTY).await;
    for key in REST {
        bucket.put(key, "{}").await;
    }
}

async fn of_the_stack(bucket: &Bucket) -> Vec<String> {
    let names = bucket.names().await.into_iter();
    names.filter(|name| name.contains("/p/s.") || name.contains("/p/s/")).collect()
}

#[tokio::test]
async fn a_stack_is_created_once_and_its_locks_are_given_back() {
    for bucket in Bucket::both() {
        let stack = bucket.open().await.stack(&stack("s"));
        let holder = Holder { pid: 7, user: "bo".into(), host: "here".into(), started: None };
        for kind in [None, Some(ErrorKind::Exists)] {
            let lock = Arc::new(stack.lock(&holder, &LockOptions::default()).await.unwrap());
            let created = stack.create(Arc::clone(&lock) as _, None).await;
            lock.release().await.unwrap();
            assert_eq!(created.err().map(|error| error.kind()), kind);
            assert_eq!(bucket.text(CHECKPOINT).await.as_deref(), Some(EMPTY));
            assert!(stack.locks().await.unwrap().is_empty());
        }
    }
}

#[tokio::test]
async fn a_stack_with_resources_is_removed_by_force_only() {
    for bucket in Bucket::both() {
        let stack = bucket.open().await.stack(&stack("s"));
        for (text, kind) in [(document("1"), ErrorKind::Invalid), ("{".to_owned(), ErrorKind::Corrupt)] {
            fill(&bucket, &text).await;
            let before = bucket.names().await;
            let error = stack.remove(&Unguarded, &RemoveOptions::default()).await.unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            let refused = "refusing to remove stack because it still contains resources";
            assert_eq!(error.to_string().contains(refused), kind == ErrorKind::Invalid, "{error}");
            assert_eq!((bucket.names().await, bucket.text(CHECKPOINT).await), (before, Some(text.clone())));
            let removed = stack.remove(&Unguarded, &RemoveOptions::default().force()).await.unwrap();
            assert_eq!(removed.kept, [BAK]);
            assert_eq!(bucket.text(BAK).await, Some(text));
        }
    }
}

#[tokio::test]
async fn copies_stay_unless_they_are_to_be_removed() {
    for bucket in Bucket::both() {
        let stack = bucket.open().await.stack(&stack("s"));
        fill(&bucket, &root_only()).await;
        stack.remove(&Unguarded, &RemoveOptions::default()).await.unwrap();
        assert_eq!(bucket.text(BAK).await, Some(root_only()));
        assert_eq!(of_the_stack(&bucket).await, [REST[2], REST[3], BAK]);
        let again = stack.remove(&Unguarded, &RemoveOptions::default()).await.unwrap_err();
        assert_eq!(again.kind(), ErrorKind::NotFound);
        fill(&bucket, &root_only()).await;
        stack.remove(&Unguarded, &RemoveOptions::default().backups()).await.unwrap();
        assert!(of_the_stack(&bucket).await.is_empty());
        assert!(bucket.text(".pulumi/stacks/p/s2.json").await.is_some());
    }
}

#[tokio::test]
async fn a_removal_that_is_killed_at_any_request_is_ended_by_the_same_one() {
    for options in [RemoveOptions::default(), RemoveOptions::default().backups()] {
        for at in 0.. {
            let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
            let plain = Bucket::memory().through(Arc::new(blobs.inner().clone()));
            fill(&plain, &root_only()).await;
            plain.open().await;
            let killed = Bucket::memory().through(Arc::new(blobs.clone()));
            let killed = killed.open().await.stack(&stack("s"));
            blobs.fail_at(at, Fault::Down);
            let done = killed.remove(&Unguarded, &options).await.is_ok();
            let stack = plain.open().await.stack(&stack("s"));
            if !done {
                let again = stack.remove(&Unguarded, &options).await;
                again.unwrap();
            }
            let left = of_the_stack(&plain).await;
            assert_eq!(left.is_empty(), options.backups, "request {at}: {left:?}");
            assert!(!stack.exists().await.unwrap());
            if !options.backups {
                assert_eq!(plain.text(BAK).await, Some(root_only()));
            }
            if done {
                assert!(at > 5);
                break;
            }
        }
    }
}

#[tokio::test]
async fn pending_operations_and_journals_need_force_and_the_journal_stays() {
    for bucket in Bucket::both() {
        let stack = bucket.open().await.stack(&stack("s"));
        let marks = ".pulumi/groundstate/marks/organization/p/s.json";
        fill(&bucket, &root_only()).await;
        bucket.put(marks, r#"{"checkpoints":[]}"#).await;
        let error = stack.remove(&Unguarded, &RemoveOptions::default()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Changed);
        assert_eq!(bucket.text(CHECKPOINT).await, Some(root_only()));
        let removed = stack.remove(&Unguarded, &RemoveOptions::default().force()).await.unwrap();
        assert!(removed.has_journal && bucket.text(marks).await.is_some());
        bucket
            .store
            .delete(
                &groundstate_pulumi_diy::blobs::Key::parse(marks).unwrap(),
                &groundstate_pulumi_diy::blobs::DeleteOptions::default(),
            )
            .await
            .unwrap();
        let pending = r#""pending_operations":[{"resource":{"urn":"urn:pulumi:s::p::a:b:C::c","custom":false,"type":"a:b:C"},"type":"creating"}],"metadata""#;
        fill(&bucket, &root_only().replace(r#""metadata""#, pending)).await;
        let error = stack.remove(&Unguarded, &RemoveOptions::default()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }
}
