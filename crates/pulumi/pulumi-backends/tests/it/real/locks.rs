//! The table of locks in `docs/backends/pulumi.md`, row by row.

use std::sync::Arc;
use std::time::Duration;

use groundstate_common::{Clock, SystemClock, Timestamp};
use groundstate_pulumi_backends::blobs::{GetOptions, Key};
use groundstate_pulumi_backends::pulumi_diy::{
    Backend, ErrorKind, FoundLock, Guard, HeldLock, LockOptions, Result, Stack,
};
use groundstate_testkit::{PulumiPlace, PulumiProject, pulumi_takes_part};
use serde_json::Value;

use super::{NAMES, in_each_place, names, ours};
use crate::support::{edit, holder, in_the_way, pid, reference};

in_each_place! {
    pulumi_holds_and_ours_waits_for_its_end
    ours_holds_and_pulumi_is_refused_until_it_cancels
    a_killed_pulumi_holds_until_it_is_cancelled
}

/// Takes the lock, or not, at once.
pub(super) async fn lock(stack: &Stack) -> Result<HeldLock> {
    stack.lock(&holder(), &LockOptions::default()).await
}

/// The locks that are in the way.
#[track_caller]
pub(super) fn conflict(refused: Result<HeldLock>) -> Vec<FoundLock> {
    let error = refused.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked, "{error}");
    in_the_way(&error).to_vec()
}

/// What both say of a lock behind its place.
fn line(lock: &FoundLock) -> String {
    let text = lock.to_string();
    text[text.find("created by").unwrap()..].to_owned()
}

fn up(project: &PulumiProject) -> groundstate_testkit::Ran {
    project.pulumi(&["up", "--yes", "--skip-preview", "--stack", "dev"])
}

/// A stack without resources, and this library beside it.
async fn project(place: &PulumiPlace) -> (PulumiProject, Backend, Stack) {
    let project = PulumiProject::new(place);
    project.pulumi(&["stack", "init", "dev"]).succeeds();
    let backend = ours(place).await;
    let stack = backend.stack(&reference("dev"));
    (project, backend, stack)
}

async fn pulumi_holds_and_ours_waits_for_its_end(place: &PulumiPlace) {
    let (project, _, stack) = project(place).await;
    let held = project.holds("dev");
    let found = conflict(lock(&stack).await);
    assert_eq!((found.len(), pid(&found[0])), (1, i64::from(held.id())));
    assert_eq!(found[0].expires, None, "its locks have no end");
    // User, machine and time are those of which pulumi speaks.
    let refused = up(&project).fails();
    assert!(refused.contains(&line(&found[0])), "{refused}\n{}", found[0]);
    // A cancelled pulumi writes on to the end of its update, and then finds that its lock is gone.
    let cancelled = stack.cancel().await.unwrap();
    assert_eq!((cancelled.removed.len(), cancelled.failed.len()), (1, 0), "{cancelled:?}");
    let ran = held.release();
    let text = format!("{}{}", ran.stdout, ran.stderr);
    assert!(text.contains("there was a problem deleting the lock"), "{ran}");
    assert_eq!(names(&stack).await, NAMES);

    let held = project.holds("dev");
    let releasing = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        held.release().succeeds()
    });
    let options = LockOptions::default().timeout(Duration::from_secs(60));
    let ours = stack.lock(&holder(), &options).await.unwrap();
    releasing.join().unwrap();
    ours.release().await.unwrap();
}

async fn ours_holds_and_pulumi_is_refused_until_it_cancels(place: &PulumiPlace) {
    let (project, backend, stack) = project(place).await;
    let held = Arc::new(lock(&stack).await.unwrap());
    // Every key that pulumi has is there; it ignores the others.
    let stored = backend.store().get(held.key(), &GetOptions::default()).await.unwrap().unwrap();
    let object: Value = serde_json::from_slice(&stored.bytes).unwrap();
    assert_eq!(object["pid"], std::process::id());
    assert_eq!((&object["username"], &object["hostname"]), (&"ann".into(), &"build-7".into()));
    let since = object["timestamp"].as_str().unwrap();
    assert!(Timestamp::parse(since).is_ok(), "{since}");
    assert!(object["groundstate"]["token"].as_u64() == held.token() && held.token().is_some(), "{object}");

    let refused = up(&project).fails();
    let found =
        stack.locks().await.unwrap().into_iter().find(|lock| lock.key == held.key().as_str()).unwrap();
    assert!(refused.contains("the stack is currently locked by 1 lock(s)"), "{refused}");
    assert!(refused.contains(&line(&found)), "{refused}\n{found}");
    assert!(line(&found).starts_with(&format!("created by ann@build-7 (pid {})", std::process::id())));
    // Another process of ours is refused by the lease, and writes nothing.
    let before = keys(&stack).await;
    let conflict_of_ours = conflict(lock(&stack).await);
    assert_eq!(pid(&conflict_of_ours[0]), i64::from(std::process::id()));
    assert_eq!(keys(&stack).await, before);

    project.pulumi(&["cancel", "--yes", "dev"]).succeeds();
    let error = held.check().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LockLost, "{error}");
    let mut writer = stack.writer(Arc::clone(&held) as _);
    assert_eq!(writer.save(stack.new_document()).await.unwrap_err().kind(), ErrorKind::LockLost);
    up(&project).succeeds();
    // The lease is nothing that pulumi knows of: it stays until it is released or cancelled.
    assert!(conflict(lock(&stack).await)[0].key.contains(".pulumi/groundstate/locks/"));
    held.release().await.unwrap();
    lock(&stack).await.unwrap().release().await.unwrap();
    assert_eq!(stack.locks().await.unwrap(), []);
}

async fn keys(stack: &Stack) -> Vec<String> {
    stack.locks().await.unwrap().into_iter().map(|lock| lock.key).collect()
}

async fn a_killed_pulumi_holds_until_it_is_cancelled(place: &PulumiPlace) {
    let (project, backend, stack) = project(place).await;
    let held = project.holds("dev");
    let killed = i64::from(held.id());
    held.kill();
    let found = conflict(lock(&stack).await);
    assert_eq!(found.iter().map(pid).collect::<Vec<_>>(), [killed]);
    // No end comes by itself: what allows a take-over of ended leases takes nothing.
    let options = LockOptions::default().take_over_expired();
    assert_eq!(conflict(stack.lock(&holder(), &options).await), found);
    let cancelled = stack.cancel().await.unwrap();
    assert_eq!(cancelled.removed, found);
    // The kill may have cut a write to a directory: see `what_a_killed_pulumi_cannot_read_past_ends_with_the_next_save`.
    edit(&stack, |_| {}).await;

    // One of ours that was killed: its lock has an end for ours, and none for pulumi.
    let options = LockOptions::default().lease(Duration::from_millis(300));
    let dead = stack.lock(&holder(), &options).await.unwrap();
    while SystemClock.now() <= dead.expires().unwrap() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let refused = up(&project).fails();
    assert!(refused.contains("created by ann@build-7"), "{refused}");
    assert_eq!(keys_of(conflict(lock(&stack).await)), [dead.key().as_str()]);
    let options = LockOptions::default().take_over_expired();
    let next = stack.lock(&holder(), &options).await.unwrap();
    assert!(next.token() > dead.token());
    assert_eq!(dead.check().await.unwrap_err().kind(), ErrorKind::LockLost);
    let left = Key::parse(dead.key().as_str()).unwrap();
    assert!(backend.store().head(&left).await.unwrap().is_none());
    next.release().await.unwrap();
    up(&project).succeeds();
}

/// Pulumi writes `dev.json.attrs` in place, so a kill can leave it empty. Pulumi then reads neither file; ours needs only one of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_pulumi_cannot_read_past_ends_with_the_next_save() {
    if !pulumi_takes_part() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let place = PulumiPlace::folder(folder.path());
    let (project, _, stack) = project(&place).await;
    let cut = folder.path().join(".pulumi/stacks/shop/dev.json.attrs");
    assert!(cut.exists(), "pulumi describes its checkpoint in another file");
    std::fs::write(&cut, "").unwrap();
    let said = up(&project).fails();
    assert!(said.contains("failed to load checkpoint: EOF"), "{said}");
    edit(&stack, |_| {}).await;
    up(&project).succeeds();
    assert_eq!(names(&stack).await, NAMES);
}

fn keys_of(locks: Vec<FoundLock>) -> Vec<String> {
    locks.into_iter().map(|lock| lock.key).collect()
}
