//! Locks: both protocols, who wins in which order, and what a failure leaves.

use std::sync::Arc;
use std::time::Duration;

use groundstate_common::Timestamp;
use groundstate_conformance::{Fault, FaultyBlobs};
use groundstate_pulumi_diy::blobs::{BlobCapabilities, BlobStore, DeleteOptions, Key, MemoryBlobs};
use groundstate_pulumi_diy::{
    Backend, Error, ErrorKind, Guard, Holder, LockConflict, LockContent, LockOptions,
};

use crate::support::{Bucket, WithNames, stack};

const FOLDER: &str = ".pulumi/locks/organization/p/s/";
const LEASE: &str = ".pulumi/groundstate/locks/organization/p/s.json";
/// As `pulumi` writes it.
const FOREIGN: &str =
    r#"{"pid":4711,"username":"ana","hostname":"build-7","timestamp":"2026-11-23T04:00:00.123456789+01:00"}"#;

fn holder(pid: u32) -> Holder {
    let started = Timestamp::from_unix(1_799_999_000, 0).ok();
    Holder { pid, user: "bo".to_owned(), host: "here".to_owned(), started }
}

fn foreign() -> String {
    format!("{FOLDER}0b5e.json")
}

async fn remove(bucket: &Bucket, key: &str) {
    bucket.store.delete(&Key::parse(key).unwrap(), &DeleteOptions::default()).await.unwrap();
}

fn without_conditions() -> Bucket {
    let mut can = BlobCapabilities::all();
    (can.conditional_put, can.conditional_delete) = (false, false);
    Bucket::memory().through(Arc::new(MemoryBlobs::new("bucket").limited_to(can)))
}

fn conflict(error: &Error) -> &LockConflict {
    std::error::Error::source(error).and_then(|source| source.downcast_ref()).unwrap()
}

async fn lock_names(bucket: &Bucket) -> Vec<String> {
    bucket.names().await.into_iter().filter(|name| name.starts_with(".pulumi/locks/")).collect()
}

#[tokio::test]
async fn the_lock_is_what_pulumi_writes_with_a_heartbeat_that_it_ignores() {
    for bucket in Bucket::both() {
        let lock =
            bucket.open().await.stack(&stack("s")).lock(&holder(7), &LockOptions::default()).await.unwrap();
        let text = bucket.text(lock.key().as_str()).await.unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&value["pid"], &value["username"], &value["hostname"]),
            (&7.into(), &"bo".into(), &"here".into())
        );
        assert!(Timestamp::parse(value["timestamp"].as_str().unwrap()).is_ok());
        assert_eq!(value["groundstate"]["token"], lock.token().unwrap());
        assert_eq!(value["groundstate"]["expires"], "2027-01-15T08:05:00Z");
        assert_eq!(value.as_object().unwrap().len(), 5);
        lock.release().await.unwrap();
        assert!(lock_names(&bucket).await.is_empty());
    }
}

#[tokio::test]
async fn a_lock_of_pulumi_is_honoured_for_ever_and_said_in_its_words() {
    for bucket in [Bucket::memory(), Bucket::directory(), without_conditions()] {
        bucket.put(&foreign(), FOREIGN).await;
        let stack = bucket.open().await.stack(&stack("s"));
        bucket.clock.advance(Duration::from_secs(1_000_000_000));
        let options = LockOptions::default().take_over_expired();
        let error = stack.lock(&holder(7), &options).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Locked);
        let text = error.to_string();
        assert!(
            text.contains("the stack is currently locked by 1 lock(s). Either wait for the other"),
            "{text}"
        );
        assert!(
            text.contains("0b5e.json: created by ana@build-7 (pid 4711) at 2026-11-23T03:00:00Z"),
            "{text}"
        );
        assert_eq!(lock_names(&bucket).await, [foreign()], "the own lock is given back");
        assert_eq!(stack.locks().await.unwrap().len(), 1, "the lease is given back");
        remove(&bucket, &foreign()).await;
        stack.lock(&holder(7), &LockOptions::default()).await.unwrap().release().await.unwrap();
    }
}

#[tokio::test]
async fn pulumi_that_locks_between_the_checks_makes_us_give_way() {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let bucket = Bucket::memory().through(Arc::new(blobs.clone()));
    let stack = bucket.open().await.stack(&stack("s"));
    // Reading and writing the lease, listing, writing the lock; the second list is the fifth request.
    blobs.meanwhile(4, Key::parse(&foreign()).unwrap(), FOREIGN.into());
    let error = stack.lock(&holder(7), &LockOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked);
    assert_eq!(blobs.calls()[..5], ["get", "put", "list", "put", "list"]);
    assert_eq!(lock_names(&bucket).await, [foreign()]);
}

#[tokio::test]
async fn of_two_of_ours_the_second_is_refused_and_writes_no_lock() {
    for bucket in Bucket::both() {
        let stack = bucket.open().await.stack(&stack("s"));
        let first = stack.lock(&holder(7), &LockOptions::default()).await.unwrap();
        let error = stack.lock(&holder(8), &LockOptions::default()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Locked);
        assert!(error.to_string().contains("created by bo@here (pid 7)"), "{error}");
        first.check().await.unwrap();
        assert_eq!(lock_names(&bucket).await, [first.key().as_str()]);
        let token = first.token().unwrap();
        first.release().await.unwrap();
        let second = stack.lock(&holder(8), &LockOptions::default()).await.unwrap();
        assert!(second.token().unwrap() > token);
        assert_eq!(first.check().await.unwrap_err().kind(), ErrorKind::LockLost);
        first.release().await.unwrap();
        second.check().await.unwrap();
    }
}

#[tokio::test]
async fn without_conditional_writes_the_protocol_of_pulumi_stands_alone() {
    let bucket = without_conditions();
    let stack = bucket.open().await.stack(&stack("s"));
    let first = stack.lock(&holder(7), &LockOptions::default()).await.unwrap();
    assert_eq!((first.token(), first.expires()), (None, None));
    assert_eq!(bucket.text(LEASE).await, None);
    assert!(!bucket.text(first.key().as_str()).await.unwrap().contains("groundstate"));
    let error = stack.lock(&holder(8), &LockOptions::default()).await.unwrap_err();
    assert_eq!(conflict(&error).locks().len(), 1);
    first.renew().await.unwrap();
    remove(&bucket, first.key().as_str()).await;
    assert_eq!(first.check().await.unwrap_err().kind(), ErrorKind::LockLost);
    assert_eq!(first.renew().await.unwrap_err().kind(), ErrorKind::LockLost);
}

#[tokio::test]
async fn pulumi_cancel_stops_us_before_the_next_write_and_no_renewal_brings_the_lock_back() {
    for bucket in Bucket::both() {
        let stack = bucket.open().await.stack(&stack("s"));
        let lock = stack.lock(&holder(7), &LockOptions::default()).await.unwrap();
        remove(&bucket, lock.key().as_str()).await;
        assert_eq!(lock.check().await.unwrap_err().kind(), ErrorKind::LockLost);
        assert_eq!(lock.renew().await.unwrap_err().kind(), ErrorKind::LockLost);
        assert!(lock_names(&bucket).await.is_empty());
        lock.release().await.unwrap();
        assert!(stack.locks().await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn checks_renew_the_lease_in_its_second_half() {
    for bucket in Bucket::both() {
        let stack = bucket.open().await.stack(&stack("s"));
        let lock =
            stack.lock(&holder(7), &LockOptions::default().lease(Duration::from_secs(600))).await.unwrap();
        let ends = lock.expires().unwrap();
        bucket.clock.advance(Duration::from_secs(240));
        lock.check().await.unwrap();
        assert_eq!(lock.expires().unwrap(), ends);
        bucket.clock.advance(Duration::from_secs(240));
        lock.check().await.unwrap();
        assert_eq!(lock.expires().unwrap().duration_since(ends), Some(Duration::from_secs(480)));
        let found = stack.locks().await.unwrap();
        assert!(found.iter().all(|found| found.expires == lock.expires()) && found.len() == 2, "{found:?}");
        bucket.clock.advance(Duration::from_secs(240));
        let error = stack.lock(&holder(8), &LockOptions::default().take_over_expired()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Locked);
    }
}

#[tokio::test]
async fn a_killed_holder_is_reported_and_taken_over_only_when_its_lease_ended_and_that_is_allowed() {
    for bucket in Bucket::both() {
        let stack = bucket.open().await.stack(&stack("s"));
        let killed = stack.lock(&holder(7), &LockOptions::default()).await.unwrap();
        let allowed = LockOptions::default().take_over_expired();
        assert_eq!(stack.lock(&holder(8), &allowed).await.unwrap_err().kind(), ErrorKind::Locked);
        bucket.clock.advance(Duration::from_secs(360));
        let error = stack.lock(&holder(8), &LockOptions::default()).await.unwrap_err();
        assert!(error.to_string().contains("pid 7"), "{error}");
        let next = stack.lock(&holder(8), &allowed).await.unwrap();
        assert_eq!(lock_names(&bucket).await, [next.key().as_str()]);
        assert!(next.token() > killed.token());
        assert_eq!(killed.check().await.unwrap_err().kind(), ErrorKind::LockLost);
        assert_eq!(killed.renew().await.unwrap_err().kind(), ErrorKind::LockLost);
        next.check().await.unwrap();
    }
}

#[tokio::test]
async fn a_dead_process_of_this_machine_is_named_and_removed_by_its_keys() {
    let bucket = Bucket::memory();
    let stack = bucket.open().await.stack(&stack("s"));
    let _killed = stack.lock(&holder(7), &LockOptions::default()).await.unwrap();
    let found = stack.locks().await.unwrap();
    assert!(found.iter().all(|lock| lock.pid_on("here") == Some(7) && lock.pid_on("build-7").is_none()));
    let options = found.iter().fold(LockOptions::default(), |options, lock| options.abandoned(&lock.key));
    let next = stack.lock(&holder(8), &options).await.unwrap();
    assert_eq!(lock_names(&bucket).await, [next.key().as_str()]);
}

#[tokio::test]
async fn waiting_ends_when_the_lock_is_free_or_the_time_is_up() {
    let bucket = Bucket::memory();
    let stack = bucket.open().await.stack(&stack("s"));
    bucket.put(&foreign(), FOREIGN).await;
    let begun =
        bucket.store.head(&Key::parse(&foreign()).unwrap()).await.unwrap().unwrap().last_modified.unwrap();
    let options = LockOptions::default().timeout(Duration::from_secs(60));
    let error = stack.lock(&holder(7), &options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked);
    let now = groundstate_common::Clock::now(&*bucket.clock);
    assert_eq!(now.duration_since(begun), Some(Duration::from_secs(60)));
}

#[tokio::test]
async fn unreadable_locks_and_leftovers_are_locks_and_markers_are_none() {
    let bucket = Bucket::memory();
    let backend = bucket.open().await;
    let stack = backend.stack(&stack("s"));
    for name in ["empty.json", "garbage.json", "a.json.17ab.tmp"] {
        bucket.put(&format!("{FOLDER}{name}"), if name == "garbage.json" { "{" } else { "" }).await;
    }
    let error = stack.lock(&holder(7), &LockOptions::default()).await.unwrap_err();
    let text = error.to_string();
    assert_eq!(conflict(&error).locks().len(), 3);
    assert!(
        text.contains("empty.json: unreadable lock") && text.contains("garbage.json: unreadable lock"),
        "{text}"
    );
    assert!(text.contains("a.json.17ab.tmp: stale temporary file"), "{text}");
    assert_eq!(backend.locks().await.unwrap().len(), 3);
    let cancelled = stack.cancel().await.unwrap();
    assert_eq!((cancelled.removed.len(), cancelled.failed.len()), (3, 0));
    assert!(cancelled.removed.iter().any(|lock| lock.content == LockContent::Temporary));
    stack.lock(&holder(7), &LockOptions::default()).await.unwrap().release().await.unwrap();
}

#[tokio::test]
async fn a_lock_that_was_cancelled_while_it_was_held_was_not_kept() {
    for bucket in [Bucket::memory(), Bucket::directory(), without_conditions()] {
        let stack = bucket.open().await.stack(&stack("s"));
        let lock = stack.lock(&holder(7), &LockOptions::default()).await.unwrap();
        lock.kept().await.unwrap();
        remove(&bucket, lock.key().as_str()).await;
        assert_eq!(lock.kept().await.unwrap_err().kind(), ErrorKind::LockLost);
        lock.release().await.unwrap();
        assert!(stack.locks().await.unwrap().is_empty());
        let next = stack.lock(&holder(8), &LockOptions::default()).await.unwrap();
        next.release().await.unwrap();
    }
}

#[tokio::test]
async fn a_lease_has_the_id_of_its_lock_and_goes_with_its_stack() {
    let bucket = Bucket::memory();
    let stack = bucket.open().await.stack(&stack("s"));
    let lock = stack.lock(&holder(7), &LockOptions::default()).await.unwrap();
    let ids: Vec<String> = stack.locks().await.unwrap().into_iter().map(|lock| lock.id).collect();
    assert_eq!(ids.len(), 2);
    assert!(ids.iter().all(|id| lock.key().as_str().ends_with(&format!("/{id}.json"))), "{ids:?}");
    assert!(!stack.forget_lease().await.unwrap(), "it is held");
    lock.release().await.unwrap();
    assert!(stack.forget_lease().await.unwrap(), "the stack does not exist");
    assert!(!stack.forget_lease().await.unwrap(), "it is gone");
    let next = stack.lock(&holder(7), &LockOptions::default()).await.unwrap();
    assert!(next.token() >= lock.token());
    next.release().await.unwrap();
}

#[tokio::test]
async fn folder_markers_lock_nothing_and_a_lock_that_vanishes_is_no_obstacle_to_cancelling() {
    let vanished = ".pulumi/locks/organization/p/s/vanished.json";
    let markers = [".pulumi/locks/", ".pulumi/locks/organization/p/s/"];
    let bucket = Bucket::memory().through(Arc::new(WithNames::new(markers.to_vec())));
    let lock =
        bucket.open().await.stack(&stack("s")).lock(&holder(7), &LockOptions::default()).await.unwrap();
    lock.release().await.unwrap();

    // It is listed, and gone when it is read.
    let bucket = Bucket::memory().through(Arc::new(WithNames::new(vec![vanished])));
    let stack = bucket.open().await.stack(&stack("s"));
    bucket.put(&format!("{FOLDER}a.json"), FOREIGN).await;
    bucket.put(&format!("{FOLDER}z.json"), FOREIGN).await;
    let cancelled = stack.cancel().await.unwrap();
    assert_eq!((cancelled.removed.len(), cancelled.failed.len()), (2, 0), "{cancelled:?}");
    stack.lock(&holder(7), &LockOptions::default()).await.unwrap().release().await.unwrap();
}

#[tokio::test]
async fn a_damaged_lease_locks_until_it_is_cancelled_and_tokens_go_on() {
    let bucket = Bucket::memory();
    let stack = bucket.open().await.stack(&stack("s"));
    let before = stack.lock(&holder(7), &LockOptions::default()).await.unwrap();
    before.release().await.unwrap();
    bucket.put(LEASE, "").await;
    let error = stack.lock(&holder(7), &LockOptions::default().take_over_expired()).await.unwrap_err();
    assert!(error.to_string().contains("unreadable lock"), "{error}");
    assert_eq!(stack.cancel().await.unwrap().removed.len(), 1);
    let after = stack.lock(&holder(7), &LockOptions::default()).await.unwrap();
    assert!(after.token() >= before.token());
}

#[tokio::test]
async fn cancel_needs_no_stack_and_says_whether_there_was_anything() {
    for bucket in Bucket::both() {
        let stack = bucket.open().await.stack(&stack("s"));
        assert!(stack.cancel().await.unwrap().removed.is_empty());
        bucket.put(&foreign(), FOREIGN).await;
        bucket.put(&format!("{FOLDER}1.json"), FOREIGN).await;
        assert_eq!(stack.cancel().await.unwrap().removed.len(), 2);
        let ours = stack.lock(&holder(7), &LockOptions::default()).await.unwrap();
        assert_eq!(stack.cancel().await.unwrap().removed.len(), 2);
        assert_eq!(ours.check().await.unwrap_err().kind(), ErrorKind::LockLost);
        assert!(stack.locks().await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn cancel_goes_on_behind_a_lock_that_it_cannot_remove() {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let bucket = Bucket::memory().through(Arc::new(blobs.clone()));
    let stack = bucket.open().await.stack(&stack("s"));
    for name in ["0.json", "1.json"] {
        bucket.put(&format!("{FOLDER}{name}"), FOREIGN).await;
    }
    // A list, two reads, and the lease; then the first deletion.
    blobs.fail_at(4, Fault::Deny);
    let cancelled = stack.cancel().await.unwrap();
    assert_eq!(cancelled.failed[0].0.key, format!("{FOLDER}0.json"));
    assert_eq!(cancelled.failed[0].1.kind(), ErrorKind::Denied);
    assert_eq!(cancelled.removed[0].key, format!("{FOLDER}1.json"));
    assert_eq!(lock_names(&bucket).await, [format!("{FOLDER}0.json")]);
}

/// Takes and releases a lock over a store that fails at `request`. `None` if that request never came.
async fn with_fault(request: usize, fault: Fault) -> Option<(Bucket, Result<(), Error>)> {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let bucket = Bucket::memory().through(Arc::new(blobs.clone()));
    let stack = bucket.open().await.stack(&stack("s"));
    blobs.fail_at(request, fault);
    let result = match stack.lock(&holder(7), &LockOptions::default()).await {
        Ok(lock) => lock.release().await,
        Err(error) => Err(error),
    };
    let came = blobs.calls().len() > request;
    let inner = bucket.through(Arc::new(blobs.inner().clone()));
    came.then_some((inner, result))
}

#[tokio::test]
async fn after_a_kill_at_any_request_cancel_frees_the_stack() {
    let mut request = 0;
    while let Some((bucket, result)) = with_fault(request, Fault::Down).await {
        assert!(result.is_err(), "request {request}");
        let stack = bucket.open().await.stack(&stack("s"));
        let left = stack.locks().await.unwrap();
        assert_eq!(stack.cancel().await.unwrap().removed, left, "request {request}");
        stack.lock(&holder(8), &LockOptions::default()).await.unwrap().release().await.unwrap();
        request += 1;
    }
    assert_eq!(request, 7, "two requests for the lease, three for the protocol, two to release");
}

#[tokio::test]
async fn a_fault_while_locking_leaves_nothing_or_names_it() {
    for fault in [Fault::Refuse, Fault::LoseRequest, Fault::LoseAnswer, Fault::Deny] {
        let mut request = 0;
        while let Some((bucket, result)) = with_fault(request, fault).await {
            let left = bucket.open().await.stack(&stack("s")).locks().await.unwrap();
            let text = result.as_ref().err().map(ToString::to_string).unwrap_or_default();
            for lock in &left {
                assert!(text.contains(&lock.key), "{fault:?} at {request}: {text:?} does not name {lock}");
            }
            request += 1;
        }
        assert!(request >= 7, "{fault:?}: {request}");
    }
}

/// Many tasks, each with a client of its own, take the lock some times.
async fn contend(bucket: &Bucket) {
    let inside = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for pid in 0..20 {
        let store: Arc<dyn BlobStore> = Arc::clone(&bucket.store);
        let context = crate::support::contender(u64::from(pid) << 32);
        let inside = Arc::clone(&inside);
        tasks.spawn(async move {
            let backend =
                Backend::open(store, context, groundstate_pulumi_diy::Options::default()).await.unwrap();
            let stack = backend.stack(&stack("s"));
            let options = LockOptions::default().timeout(Duration::from_secs(600));
            for _ in 0..3 {
                let lock = stack.lock(&holder(pid), &options).await.unwrap();
                assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0, "two hold the lock");
                lock.check().await.unwrap();
                tokio::task::yield_now().await;
                assert_eq!(inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst), 1);
                lock.release().await.unwrap();
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    assert!(lock_names(bucket).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_twenty_contenders_one_holds_the_lock_and_each_gets_it() {
    for bucket in [Bucket::memory(), Bucket::directory()] {
        contend(&bucket).await;
    }
}
