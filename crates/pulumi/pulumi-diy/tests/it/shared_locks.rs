//! Locks that several processes of one service know by their ids.

use std::sync::Arc;
use std::time::Duration;

use groundstate_common::{FixedClock, SequenceIds, Timestamp};
use groundstate_pulumi_diy::blobs::{Context, MemoryBlobs};
use groundstate_pulumi_diy::{Backend, ErrorKind, Guard, Holder, LockOptions, Options, Stack, StackRef};

const LEASE: Duration = Duration::from_secs(300);

fn holder(user: &str) -> Holder {
    Holder { pid: 1, user: user.to_owned(), host: "h".to_owned(), started: None }
}

async fn stack(bucket: &Arc<MemoryBlobs>) -> Stack {
    let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
    let context = Context::new(Arc::<FixedClock>::clone(&clock), clock, Arc::new(SequenceIds::new()));
    let bucket = Arc::clone(bucket);
    let backend = Backend::open(bucket, context, Options::default()).await.unwrap();
    backend.stack(&StackRef::parse("organization/p/s", None).unwrap())
}

#[tokio::test]
async fn what_one_process_locks_another_one_renews_takes_over_and_releases_by_the_id() {
    let bucket = Arc::new(MemoryBlobs::new("b"));
    let [one, other] = [stack(&bucket).await, stack(&bucket).await];
    let options = LockOptions::default().id("update-1");
    let first = one.lock(&holder("ann"), &options).await.unwrap();
    assert!(first.key().as_str().ends_with("/update-1.json"), "{}", first.key());
    let held = other.held_lock("update-1", LEASE).await.unwrap().unwrap();
    held.renew().await.unwrap();
    held.check().await.unwrap();
    // Taken once more, it is a later holder's, and the former one finds that out.
    let again = other.lock(&holder("ann"), &options).await.unwrap();
    assert!(again.token() > first.token());
    assert_eq!(first.check().await.unwrap_err().kind(), ErrorKind::LockLost);
    assert_eq!(one.locks().await.unwrap().len(), 2);
    one.release_lock("update-1").await.unwrap();
    one.release_lock("update-1").await.unwrap();
    assert!(other.locks().await.unwrap().is_empty());
    assert!(other.held_lock("update-1", LEASE).await.unwrap().is_none());
}

#[tokio::test]
async fn locks_of_other_ids_are_neither_found_nor_released() {
    let bucket = Arc::new(MemoryBlobs::new("b"));
    let stack = stack(&bucket).await;
    let held = stack.lock(&holder("bea"), &LockOptions::default()).await.unwrap();
    assert!(stack.held_lock("update-1", LEASE).await.unwrap().is_none());
    stack.release_lock("update-1").await.unwrap();
    held.check().await.unwrap();
    let refused = stack.lock(&holder("ann"), &LockOptions::default().id("update-1")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Locked);
    for id in ["", "a/b", "..", "a.json", "ä", &"a".repeat(65)] {
        let refused = stack.held_lock(id, LEASE).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Invalid, "{id}");
    }
    held.release().await.unwrap();
}

#[tokio::test]
async fn each_half_of_a_lock_that_a_dead_process_left_is_taken_over_and_released() {
    let bucket = Arc::new(MemoryBlobs::new("b"));
    let stack = stack(&bucket).await;
    let options = LockOptions::default().id("update-1");
    let held = stack.lock(&holder("ann"), &options).await.unwrap();
    // Only the lease is left.
    let key = held.key().clone();
    use groundstate_pulumi_diy::blobs::BlobStore as _;
    bucket.delete(&key, &Default::default()).await.unwrap();
    assert!(stack.held_lock("update-1", LEASE).await.unwrap().is_none());
    let held = stack.lock(&holder("ann"), &options).await.unwrap();
    held.check().await.unwrap();
    bucket.delete(&key, &Default::default()).await.unwrap();
    stack.release_lock("update-1").await.unwrap();
    stack.lock(&holder("bea"), &LockOptions::default()).await.unwrap().release().await.unwrap();
}
