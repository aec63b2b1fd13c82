//! To another name in the same bucket.

use std::sync::Arc;

use groundstate_conformance::{Fault, FaultyBlobs};
use groundstate_pulumi_diy::blobs::MemoryBlobs;
use groundstate_pulumi_diy::{ErrorKind, Holder, LockOptions, RelocateOptions, StackRef};

use super::{OTHERS, RECORDS, contents, fill, rename, rename_under};
use crate::support::{Bucket, document, stack};

fn holder() -> Holder {
    Holder { pid: 7, user: "bo".into(), host: "here".into(), started: None }
}

/// The state of [`document`] in stack `t`.
fn renamed(note: &str) -> String {
    document(note).replace("urn:pulumi:s::", "urn:pulumi:t::").replace("p-s", "p-t").replace("/p/s", "/p/t")
}

#[tokio::test]
async fn everything_of_a_stack_gets_the_new_name_and_nothing_else_does() {
    for bucket in Bucket::both() {
        fill(&bucket).await;
        let backend = bucket.open().await;
        let (from, to) = (backend.stack(&stack("s")), backend.stack(&stack("t")));
        let held = from.lock_with(&to, &holder(), &LockOptions::default()).await.unwrap();
        let plan = from.relocation(&to, RelocateOptions::default()).await.unwrap();
        assert_eq!((plan.changed(), plan.objects().len(), plan.is_resumed()), (2, 8, false));
        let done = plan.carry_out(&held).await.unwrap();
        held.release().await.unwrap();
        assert_eq!((done.changed, done.objects, &*done.warnings), (2, 8, &[] as &[String]));

        let left: Vec<_> = contents(&bucket).await;
        let texts = |name: &str| left.iter().find(|(key, _)| key == name).map(|(_, text)| text.clone());
        for (key, text) in [
            (".pulumi/stacks/p/t.json", &*renamed("1")),
            (".pulumi/stacks/p/t.json.bak", &document("1")),
            (".pulumi/stacks/p/t.pulumi-tags", r#"{"version":1,"tags":{"a":"b"}}"#),
            (".pulumi/history/p/t/t-1700000000000000001.history.json", "{}"),
            (".pulumi/history/p/t/t-1700000000000000001.checkpoint.json", "old"),
            (".pulumi/history/p/t/before-1600000000000000001.history.json", "{}"),
            (".pulumi/backups/p/t/t.1700000000000000002.json.gz", "backup"),
            (".pulumi/stacks/p/t.json.1700000000000000003", "retained"),
        ] {
            assert_eq!(texts(key).as_deref(), Some(text), "{key}");
        }
        let aside: Vec<_> = left.iter().filter(|(_, text)| text.ends_with("bak")).collect();
        assert_eq!(aside.len(), 2, "the copies before are retained: {aside:?}");
        assert!(aside.iter().all(|(key, _)| key.starts_with(".pulumi/stacks/p/t.json")), "{aside:?}");
        for key in OTHERS {
            assert_eq!(texts(key).as_deref(), Some("other"));
        }
        let old = left.iter().filter(|(key, _)| key.contains("/p/s.json") || key.contains("/p/s/"));
        let old: Vec<_> = old.filter(|(key, _)| !OTHERS.contains(&&**key)).collect();
        assert!(old.iter().all(|(key, _)| key.contains("/groundstate/locks/")), "{old:?}");
        let read = to.history(1, 0).await.unwrap();
        assert_eq!(read.total, 2);
    }
}

#[tokio::test]
async fn another_project_may_be_named_and_urns_of_other_stacks_stay() {
    let bucket = Bucket::memory();
    let foreign = r#""outputs":{"other":"urn:pulumi:u::p::a:b:C::c","note":"x"}"#;
    let text = document("1").replace(r#""outputs":{"note":"1"}"#, foreign);
    bucket.put(".pulumi/stacks/p/s.json", text).await;
    let to = StackRef::parse("organization/q/s", None).unwrap();
    rename(&bucket.open().await, &stack("s"), &to).await.unwrap();
    let text = bucket.text(".pulumi/stacks/q/s.json").await.unwrap();
    assert!(text.contains("urn:pulumi:s::q::pulumi:pulumi:Stack::q-s"), "{text}");
    assert!(text.contains(r#""stack":"organization/q/s""#) && text.contains("urn:pulumi:u::p::a:b:C::c"));
    assert!(!text.contains("::p::pulumi"), "{text}");
}

#[tokio::test]
async fn what_is_not_understood_and_how_it_is_compressed_stay() {
    let bucket = Bucket::memory();
    let text = document("1").replace(r#""type":"a:b:C""#, r#""type":"a:b:C","futureKey":{"b":1,"a":[1.0]}"#);
    let packed = groundstate_pulumi_diy::Compression::Zstd.pack(text.as_bytes()).unwrap().into_owned();
    bucket.put(".pulumi/stacks/p/s.json.zst", packed).await;
    rename(&bucket.open().await, &stack("s"), &stack("t")).await.unwrap();
    let packed = bucket.bytes(".pulumi/stacks/p/t.json.zst").await.unwrap();
    let text = groundstate_pulumi_diy::Compression::unpack(&packed).unwrap();
    let text = String::from_utf8_lossy(&text);
    assert!(text.contains(r#""futureKey":{"b":1,"a":[1.0]}"#), "{text}");
}

#[tokio::test]
async fn a_name_that_is_taken_and_a_stack_that_is_not_there_are_refused_and_nothing_changes() {
    for bucket in Bucket::both() {
        fill(&bucket).await;
        bucket.put(".pulumi/stacks/p/t.json.gz", "whatever").await;
        bucket.put(".pulumi/stacks/p/damaged.json", "{").await;
        let backend = bucket.open().await;
        let before = contents(&bucket).await;
        for (from, to, kind) in [
            ("s", "t", ErrorKind::Exists),
            ("s", "s", ErrorKind::Invalid),
            ("none", "new", ErrorKind::NotFound),
            ("damaged", "new", ErrorKind::Corrupt),
        ] {
            let error = rename(&backend, &stack(from), &stack(to)).await.unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
        }
        assert_eq!(contents(&bucket).await, before);
    }
}

#[tokio::test]
async fn a_rename_that_is_killed_at_any_request_is_ended_by_the_same_one_and_loses_nothing() {
    for fault in [Fault::Down, Fault::LoseAnswer] {
        for at in 0.. {
            let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
            let plain = Bucket::memory().through(Arc::new(blobs.inner().clone()));
            fill(&plain).await;
            let backend = plain.open().await;
            let killed = Bucket::memory().through(Arc::new(blobs.clone())).open().await;
            blobs.fail_at(at, fault);
            let done = rename(&killed, &stack("s"), &stack("t")).await;
            let both = [backend.stack(&stack("s")), backend.stack(&stack("t"))];
            // Whatever happened, one of them is whole.
            let mut whole = 0;
            for stack in &both {
                let read = stack.read().await.unwrap();
                whole += usize::from(read.is_some_and(|read| read.decode().unwrap().snapshot.is_some()));
            }
            assert!(whole > 0, "request {at}");
            if done.is_err() {
                rename(&backend, &stack("s"), &stack("t")).await.unwrap();
            }
            let left = contents(&plain).await;
            assert!(!left.iter().any(|(key, _)| key.starts_with(RECORDS)), "request {at}: {left:?}");
            let count = |part: &str| left.iter().filter(|(key, _)| key.contains(part)).count();
            assert_eq!(
                (count("/p/t.") + count("/p/t/"), count("/p/s.") + count("/p/s/")),
                (10, 1),
                "{at}: {left:?}"
            );
            assert_eq!(plain.text(".pulumi/stacks/p/t.json").await, Some(renamed("1")));
            assert_eq!(plain.text(".pulumi/stacks/p/t.json.bak").await, Some(document("1")));
            // A lost answer may be found out, so that the rename goes on.
            if done.is_ok() && (fault == Fault::Down || at > 80) {
                assert!(at > 20);
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_rename_that_was_killed_is_not_mixed_with_another_one() {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let plain = Bucket::memory().through(Arc::new(blobs.inner().clone()));
    fill(&plain).await;
    plain.put(".pulumi/stacks/p/x.json", document("x")).await;
    let backend = plain.open().await;
    let killed = Bucket::memory().through(Arc::new(blobs.clone())).open().await;
    for at in 0.. {
        blobs.fail_at(at, Fault::Down);
        assert!(rename(&killed, &stack("s"), &stack("t")).await.is_err());
        if backend.stack(&stack("t")).exists().await.unwrap() {
            break;
        }
    }
    for (from, to) in [("s", "u"), ("x", "t"), ("x", "s"), ("t", "u")] {
        let error = rename(&backend, &stack(from), &stack(to)).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Changed | ErrorKind::Exists), "{from} {to}: {error}");
    }
    // Both have a state of their own once the old one is updated.
    plain.put(".pulumi/stacks/p/s.json", document("2")).await;
    let error = rename(&backend, &stack("s"), &stack("t")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Changed, "{error}");
    // The new one may be updated meanwhile.
    plain.put(".pulumi/stacks/p/s.json", document("1")).await;
    plain.put(".pulumi/stacks/p/t.json", renamed("3")).await;
    assert!(rename(&backend, &stack("s"), &stack("t")).await.unwrap().is_resumed);
    assert_eq!(plain.text(".pulumi/stacks/p/t.json").await, Some(renamed("3")));
    assert!(!backend.stack(&stack("s")).exists().await.unwrap());
}

#[tokio::test]
async fn a_lock_that_is_lost_ends_the_rename_before_the_next_write() {
    let bucket = Bucket::memory();
    fill(&bucket).await;
    let backend = bucket.open().await;
    let (from, to) = (backend.stack(&stack("s")), backend.stack(&stack("t")));
    let held = from.lock_with(&to, &holder(), &LockOptions::default()).await.unwrap();
    assert_eq!(to.lock(&holder(), &LockOptions::default()).await.unwrap_err().kind(), ErrorKind::Locked);
    let cancelled = to.cancel().await.unwrap();
    assert!(!cancelled.removed.is_empty());
    let before = contents(&bucket).await;
    let error = rename_under(&backend, &stack("s"), &stack("t"), &held).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LockLost, "{error}");
    assert_eq!(contents(&bucket).await, before);
}
