//! What crashed and foreign processes left: found by lists, named, and told from what is in use.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use groundstate_common::{Clock, SystemClock};
use groundstate_conformance::{Fault, FaultyBlobs};
use groundstate_pulumi_diy::blobs::MemoryBlobs;
use groundstate_pulumi_diy::{
    Backend, CopySource, ErrorKind, Holder, JournalOptions, LeftoverKind, Leftovers, LockOptions, Options,
    PruneRules, Stack, StackRef, Unguarded,
};

use crate::moves::rename;
use crate::support::{Bucket, WithNames, document, stack};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const LOCKS: &str = ".pulumi/locks/organization/p/s/";
const FOREIGN: &str =
    r#"{"pid":4711,"username":"ana","hostname":"build-7","timestamp":"2026-11-23T04:00:00Z"}"#;

fn holder() -> Holder {
    Holder { pid: 7, user: "bo".into(), host: "here".into(), started: None }
}

/// What was found, as `CODE stack key`; nothing may have failed.
fn told(leftovers: &Leftovers) -> Vec<String> {
    assert!(leftovers.failed.is_empty(), "{:?}", leftovers.failed);
    let stack = |stack: &Option<StackRef>| stack.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    let found = leftovers.found.iter();
    found.map(|one| format!("{} {} {}", one.kind, stack(&one.stack), one.key)).collect()
}

async fn of_bucket(backend: &Backend) -> Vec<String> {
    told(&backend.leftovers().await.unwrap())
}

async fn of_stack(stack: &Stack) -> Vec<String> {
    told(&stack.leftovers().await.unwrap())
}

/// One in memory, and one in a directory, whose files have the time of this machine.
fn both_at_one_time() -> [Bucket; 2] {
    Bucket::both().map(|bucket| {
        bucket.clock.set(SystemClock.now());
        bucket
    })
}

#[tokio::test]
async fn a_bucket_in_use_has_none() {
    for bucket in both_at_one_time() {
        let backend = bucket.open_with(Options::default().retain_checkpoints()).await.unwrap();
        let stack = backend.stack(&stack("s"));
        let lock = Arc::new(stack.lock(&holder(), &LockOptions::default()).await.unwrap());
        for note in ["1", "2"] {
            stack.writer(Arc::clone(&lock) as _).save(document(note).into()).await.unwrap();
        }
        let mut tags = stack.tags().await.unwrap();
        tags.set("env", "prod").unwrap();
        stack.save_tags(&tags, &lock).await.unwrap();
        stack.record(&Default::default(), &lock).await.unwrap();
        // An update that runs, and a write of another program that has just begun.
        let options = JournalOptions::new("bo@here", "v3.259.0", "mytool up");
        let _running = stack.journal(Arc::clone(&lock) as _, options).await.unwrap();
        bucket.put(&format!("{LOCKS}a.json.17ab.tmp"), "").await;
        bucket.put(".pulumi/stacks/p/s.json.17ab.tmp", "").await;
        bucket.put(".pulumi/locks/organization/p/new/a.json", FOREIGN).await;
        assert_eq!((of_bucket(&backend).await, of_stack(&stack).await), (vec![], vec![]));
    }
}

#[tokio::test]
async fn files_of_killed_writes_are_found_when_they_are_old() {
    for bucket in both_at_one_time() {
        let backend = bucket.open().await;
        for key in [
            ".pulumi/stacks/p/s.json.17ab.tmp",
            ".pulumi/stacks/p/s.pulumi-tags.17ab.tmp",
            ".pulumi/history/p/s/s-1.history.json.17ab.tmp",
            ".pulumi/backups/p/s/s.1.json.17ab.tmp",
            ".pulumi/locks/organization/p/s/a.json.17ab.tmp",
        ] {
            bucket.put(key, "{").await;
        }
        bucket.put(".pulumi/stacks/p/s.json", document("x")).await;
        bucket.put(".pulumi/stacks/p/other.json.17ab.tmp", "{").await;
        let stack = backend.stack(&stack("s"));
        assert!(of_stack(&stack).await.is_empty(), "they may belong to a process that is at work");
        bucket.clock.advance(DAY * 2);
        assert_eq!(
            of_stack(&stack).await,
            [
                "GS0801 organization/p/s .pulumi/backups/p/s/s.1.json.17ab.tmp",
                "GS0801 organization/p/s .pulumi/history/p/s/s-1.history.json.17ab.tmp",
                "GS0801 organization/p/s .pulumi/stacks/p/s.json.17ab.tmp",
                "GS0801 organization/p/s .pulumi/stacks/p/s.pulumi-tags.17ab.tmp",
                "GS0802 organization/p/s .pulumi/locks/organization/p/s/a.json.17ab.tmp",
            ]
        );
        assert_eq!(
            of_bucket(&backend).await,
            [
                "GS0801 organization/p/other .pulumi/stacks/p/other.json.17ab.tmp",
                "GS0801 organization/p/s .pulumi/stacks/p/s.json.17ab.tmp",
                "GS0801 organization/p/s .pulumi/stacks/p/s.pulumi-tags.17ab.tmp",
                "GS0802 organization/p/s .pulumi/locks/organization/p/s/a.json.17ab.tmp",
            ]
        );
        let old = stack.old_copies(&PruneRules::default().keep(9)).await.unwrap();
        assert!(old.len() == 4 && old.iter().all(|one| one.source == CopySource::Temporary), "{old:?}");
        stack.prune(&old, &Unguarded).await.unwrap();
        assert_eq!(
            of_stack(&stack).await,
            ["GS0802 organization/p/s .pulumi/locks/organization/p/s/a.json.17ab.tmp"]
        );
        assert_eq!(stack.read().await.unwrap().unwrap().bytes, document("x"));
    }
}

#[tokio::test]
async fn locks_that_hold_nothing_are_told_from_those_that_do() {
    let bucket = Bucket::memory();
    let backend = bucket.open().await;
    bucket.put(".pulumi/stacks/p/s.json", document("x")).await;
    let stack_s = backend.stack(&stack("s"));
    let killed = stack_s.lock(&holder(), &LockOptions::default()).await.unwrap();
    bucket.put(&format!("{LOCKS}0.json"), "").await;
    bucket.put(".pulumi/groundstate/locks/organization/p/torn.json", "{\"token\":").await;
    bucket.put(".pulumi/groundstate/locks/organization/p/empty.json", "").await;
    bucket.put(".pulumi/locks/organization/p/gone/1.json", FOREIGN).await;
    bucket.put(".pulumi/locks/organization/p/t/1.json", FOREIGN).await;
    bucket.put(".pulumi/stacks/p/t.json", document("x")).await;
    let garbage = format!("GS0803 organization/p/s {LOCKS}0.json");
    assert_eq!(of_stack(&stack_s).await, std::slice::from_ref(&garbage));
    bucket.clock.advance(DAY * 2);
    let expired = format!("GS0804 organization/p/s {}", killed.key());
    assert_eq!(of_stack(&stack_s).await, [garbage.clone(), expired.clone()], "its lease is not named again");
    let lease = "GS0803 organization/p/empty .pulumi/groundstate/locks/organization/p/empty.json".to_owned();
    let torn = "GS0803 organization/p/torn .pulumi/groundstate/locks/organization/p/torn.json".to_owned();
    let init = "GS0805 organization/p/gone .pulumi/locks/organization/p/gone/1.json".to_owned();
    assert_eq!(of_bucket(&backend).await, [lease, torn, garbage, expired, init]);
    // Without its lock a lease that ended is named by itself, and one that was given back is not.
    let key = groundstate_pulumi_diy::blobs::Key::parse(killed.key().as_str()).unwrap();
    bucket.store.delete(&key, &Default::default()).await.unwrap();
    let lease = "GS0804 organization/p/s .pulumi/groundstate/locks/organization/p/s.json".to_owned();
    assert!(of_stack(&stack_s).await.contains(&lease));
    assert_eq!(stack_s.cancel().await.unwrap().removed.len(), 2);
    assert!(of_stack(&stack_s).await.is_empty());
    assert!(of_stack(&backend.stack(&stack("t"))).await.is_empty(), "a lock of pulumi has no end");
}

#[tokio::test]
async fn an_update_that_was_killed_is_named_until_it_is_recovered() {
    let memory = Bucket::memory();
    let blobs = FaultyBlobs::new(MemoryBlobs::with_clock("bucket", memory.time()));
    let bucket = memory.through(Arc::new(blobs.clone()));
    let backend = bucket.open().await;
    let stack = backend.stack(&stack("s"));
    stack.writer(Arc::new(Unguarded)).save(document("x").into()).await.unwrap();
    let options = || JournalOptions::new("bo@here", "v3.259.0", "mytool up");
    let lock = Arc::new(stack.lock(&holder(), &LockOptions::default()).await.unwrap());
    drop(stack.journal(Arc::clone(&lock) as _, options()).await.unwrap());
    assert!(of_stack(&stack).await.is_empty(), "its lease is in force");
    lock.release().await.unwrap();
    let killed = "GS0807 organization/p/s .pulumi/groundstate/marks/organization/p/s.json";
    assert_eq!(
        (of_stack(&stack).await, of_bucket(&backend).await),
        (vec![killed.into()], vec![killed.into()])
    );
    stack.recover(Arc::new(Unguarded), &options()).await.unwrap();
    assert_eq!((of_stack(&stack).await, of_bucket(&backend).await), (vec![], vec![]));
}

#[tokio::test]
async fn a_rename_that_was_killed_is_named_until_it_is_ended() {
    let mut named = 0;
    for request in 0.. {
        let memory = Bucket::memory();
        let blobs = FaultyBlobs::new(MemoryBlobs::with_clock("bucket", memory.time()));
        let bucket = memory.through(Arc::new(blobs.clone()));
        let backend = bucket.open().await;
        let (old, new) = (stack("s"), stack("t"));
        backend.stack(&old).writer(Arc::new(Unguarded)).save(document("x").into()).await.unwrap();
        blobs.fail_at(request, Fault::Down);
        let is_done = rename(&backend, &old, &new).await.is_ok();
        blobs.fail_at(usize::MAX, Fault::Down);
        let record =
            bucket.names().await.into_iter().find(|name| name.starts_with(".pulumi/groundstate/moves/"));
        let expected: Vec<String> =
            record.iter().map(|key| format!("GS0809 organization/p/t {key}")).collect();
        let is_move = |found: &String| found.starts_with("GS0809");
        let of_bucket: Vec<String> = of_bucket(&backend).await.into_iter().filter(is_move).collect();
        let of_stack: Vec<String> =
            of_stack(&backend.stack(&new)).await.into_iter().filter(is_move).collect();
        assert_eq!((&of_bucket, &of_stack), (&expected, &expected), "killed at {request}");
        named += expected.len();
        if is_done {
            break;
        }
        rename(&backend, &old, &new).await.unwrap();
        assert!(told(&backend.leftovers().await.unwrap()).iter().all(|found| !is_move(found)));
    }
    assert!(named > 2, "{named}");
}

#[tokio::test]
async fn what_belongs_to_no_stack_is_named_by_what_it_was() {
    for bucket in Bucket::both() {
        let backend = bucket.open().await;
        for (key, text) in [
            (".pulumi/stacks/p/s.json", document("old")),
            (".pulumi/stacks/p/gone.json.bak", "12345".into()),
            (".pulumi/stacks/p/gone.json.1700000000000000000", "123".into()),
            (".pulumi/stacks/p/gone.pulumi-tags", "{}".into()),
            (".pulumi/history/p/gone/gone-1.history.json", "{}".into()),
            (".pulumi/history/p/gone/gone-1.checkpoint.json", "{}".into()),
            (".pulumi/history/p/s/s-1.history.json", "{}".into()),
            (".pulumi/backups/p/gone/gone.1.json", "{}".into()),
            (".pulumi/backups/older/older.1.json", "{}".into()),
            (".pulumi/backups/p/s/s.1.json", "{}".into()),
            (".pulumi/stacks/p/notes.txt", "by hand".into()),
            (".pulumi/stacks/p/deep/er.json", "{}".into()),
            (".pulumi/locks/readme", "by hand".into()),
        ] {
            bucket.put(key, text).await;
        }
        bucket.tick();
        bucket.put(".pulumi/stacks/p/s.json.gz", document("new")).await;
        assert_eq!(
            of_bucket(&backend).await,
            [
                "GS0808 organization/p/s .pulumi/stacks/p/s.json",
                "GS0820 older .pulumi/backups/older/",
                "GS0820 organization/p/gone .pulumi/backups/p/gone/",
                "GS0820 organization/p/gone .pulumi/stacks/p/gone.json.1700000000000000000",
                "GS0821 organization/p/gone .pulumi/history/p/gone/",
                "GS0822 organization/p/gone .pulumi/stacks/p/gone.pulumi-tags",
                "GS0825 - .pulumi/locks/readme",
                "GS0825 - .pulumi/stacks/p/deep/er.json",
                "GS0825 - .pulumi/stacks/p/notes.txt",
            ]
        );
        let all = backend.leftovers().await.unwrap().found;
        let copies = all.iter().find(|one| one.key.ends_with("000")).unwrap();
        assert_eq!((copies.objects, copies.size), (2, 8));
        assert!(copies.to_string().contains("(2 objects, 8 bytes, written "), "{copies}");
        assert!(all[0].to_string().contains("p/s.json: .pulumi/stacks/p/s.json.gz is newer and counts ("));
        let of_gone = of_stack(&backend.stack(&stack("gone"))).await;
        assert_eq!(of_gone.len(), 4, "{of_gone:?}");
        assert_eq!(of_stack(&backend.stack(&stack("s"))).await.len(), 1);
    }
}

#[tokio::test]
async fn a_state_that_was_recorded_without_its_entry_is_named() {
    let bucket = Bucket::memory();
    let backend = bucket.open().await;
    bucket.put(".pulumi/stacks/p/s.json", document("x")).await;
    for stem in ["s-1.history.json", "s-1.checkpoint.json.gz", "s-2.checkpoint.json"] {
        bucket.put(&format!(".pulumi/history/p/s/{stem}"), "{}").await;
    }
    let stack = backend.stack(&stack("s"));
    assert!(of_stack(&stack).await.is_empty(), "the entry may follow");
    bucket.clock.advance(DAY * 2);
    assert_eq!(of_stack(&stack).await, ["GS0823 organization/p/s .pulumi/history/p/s/s-2.checkpoint.json"]);
}

#[tokio::test]
async fn markers_of_folders_are_told_by_whether_they_lock() {
    let markers = vec![
        ".pulumi/locks/",
        ".pulumi/locks/organization/",
        LOCKS,
        ".pulumi/stacks/",
        ".pulumi/stacks/p/",
        ".pulumi/history/p/s/",
    ];
    let bucket = Bucket::memory().through(Arc::new(WithNames::new(markers)));
    let backend = bucket.open().await;
    bucket.put(".pulumi/stacks/p/s.json", document("x")).await;
    let lock = "GS0806 organization/p/s .pulumi/locks/organization/p/s/".to_owned();
    assert_eq!(
        of_bucket(&backend).await,
        [
            lock.as_str(),
            "GS0824 - .pulumi/locks/",
            "GS0824 - .pulumi/locks/organization/",
            "GS0824 - .pulumi/stacks/",
            "GS0824 - .pulumi/stacks/p/",
        ]
    );
    let of_s = of_stack(&backend.stack(&stack("s"))).await;
    assert_eq!(of_s, [lock.as_str(), "GS0824 organization/p/s .pulumi/history/p/s/"]);
}

#[tokio::test]
async fn legacy_buckets_are_looked_at_by_their_own_layout() {
    let bucket = Bucket::memory();
    for key in [
        ".pulumi/stacks/a.json",
        ".pulumi/stacks/b.json.bak",
        ".pulumi/history/b/b-1.history.json",
        ".pulumi/history/a/a-1.history.json",
        ".pulumi/locks/a/1.json",
    ] {
        bucket.put(key, "{}").await;
    }
    let backend = bucket.open_with(Options::default().allow_legacy()).await.unwrap();
    let found = of_bucket(&backend).await;
    assert_eq!(
        found,
        [
            "GS0803 a .pulumi/locks/a/1.json",
            "GS0820 b .pulumi/stacks/b.json.bak",
            "GS0821 b .pulumi/history/b/",
        ]
    );
    assert_eq!(of_stack(&backend.stack(&StackRef::legacy("a").unwrap())).await, found[..1]);
}

#[tokio::test]
async fn what_cannot_be_looked_at_is_said_and_the_rest_is_found() {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let bucket = Bucket::memory().through(Arc::new(blobs.clone()));
    let backend = bucket.open().await;
    bucket.put(".pulumi/stacks/p/gone.json.bak", "{}").await;
    bucket.put(".pulumi/history/p/gone/gone-1.history.json", "{}").await;
    bucket.put(&format!("{LOCKS}0.json"), "").await;
    blobs.calls();
    let all = backend.leftovers().await.unwrap();
    assert_eq!(all.found.len(), 3);
    let calls = blobs.calls();
    assert_eq!(calls.iter().filter(|call| **call == "get").count(), 1, "one lock is read: {calls:?}");
    assert!(calls.iter().all(|call| matches!(*call, "list" | "get")), "{calls:?}");
    for request in 0..calls.len() {
        blobs.fail_at(request, Fault::Deny);
        match backend.leftovers().await {
            Err(error) => assert_eq!((request, error.kind()), (0, ErrorKind::Denied)),
            Ok(rest) => {
                assert_eq!(rest.failed.len(), 1, "request {request}");
                assert!(rest.failed[0].to_string().contains(".pulumi/"), "{}", rest.failed[0]);
                assert!(rest.found.len() >= 2, "request {request}: {:?}", rest.found);
            }
        }
    }
}

#[test]
fn every_kind_has_a_chapter_and_a_code_of_its_own() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/checks-pulumi.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    let headings: Vec<&str> = docs.lines().filter_map(|line| line.strip_prefix("### GS08")).collect();
    let heading =
        |kind: &LeftoverKind| format!("{} {} ({})", kind.id().split_off(4), kind.title(), kind.severity());
    let expected: Vec<String> = LeftoverKind::ALL.iter().map(heading).collect();
    assert_eq!(headings, expected);
    let helps: BTreeMap<&str, usize> = LeftoverKind::ALL.iter().map(|kind| (kind.help(), 1)).collect();
    assert!(helps.keys().all(|help| !help.is_empty() && !help.ends_with('.')));
}
