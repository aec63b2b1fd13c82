//! Exports, imports, restored copies and the removal of old ones.

use std::sync::Arc;
use std::time::Duration;

use groundstate_conformance::{Fault, FaultyBlobs};
use groundstate_pulumi_diy::blobs::{BlobStore, DeleteOptions, Key, MemoryBlobs};
use groundstate_pulumi_diy::{
    CopySource, ErrorKind, ImportOptions, Options, PruneRules, Result, Stack, Unguarded, Update,
};

use crate::support::{Bucket, document, stack};

const KEY: &str = ".pulumi/stacks/p/s.json";

async fn save(stack: &Stack, text: &str) {
    stack.writer(Arc::new(Unguarded)).save(text.to_owned().into()).await.unwrap();
}

async fn import(stack: &Stack, text: &str, options: ImportOptions) -> Result<Vec<String>> {
    stack.import(text.as_bytes(), &options, Arc::new(Unguarded)).await.map(|imported| imported.warnings)
}

async fn read(stack: &Stack) -> String {
    String::from_utf8(stack.read().await.unwrap().unwrap().bytes.to_vec()).unwrap()
}

/// Restores what `.bak` has.
async fn restore_previous(stack: &Stack) -> Result<()> {
    let copies = stack.copies().await?;
    let copy = copies.iter().find(|copy| copy.source == CopySource::Previous).unwrap();
    stack.restore(copy, &ImportOptions::default(), Arc::new(Unguarded)).await.map(drop)
}

#[tokio::test]
async fn an_export_that_is_imported_keeps_every_member() {
    for bucket in Bucket::both() {
        let stack = bucket.open().await.stack(&stack("s"));
        let text = document("<a&b>").replace("\"urn\"", "\"futureKey\":{\"z\":1.50},\"urn\"");
        save(&stack, &text).await;
        let export = String::from_utf8(stack.export().await.unwrap()).unwrap();
        assert!(export.starts_with("{\n    \"version\": 3,\n    \"deployment\": {\n"), "{export}");
        assert!(export.contains("\"note\": \"<a&b>\"") && export.contains("1.50"), "{export}");
        let changed = export.replace("<a&b>", "changed");
        assert_eq!(import(&stack, &changed, ImportOptions::default()).await.unwrap(), [""; 0]);
        assert_eq!(read(&stack).await, text.replace("<a&b>", "changed"));
        assert_eq!(stack.export().await.unwrap(), changed.as_bytes());
        assert_eq!(bucket.text(&format!("{KEY}.bak")).await, Some(text));
    }
}

#[tokio::test]
async fn foreign_and_broken_deployments_are_imported_by_force_only() {
    for bucket in Bucket::both() {
        let stack = bucket.open().await.stack(&stack("s"));
        let before = document("before");
        let missing = import(&stack, &before, ImportOptions::default()).await.unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
        assert!(bucket.text(KEY).await.is_none());
        save(&stack, &before).await;
        let foreign = before.replace("urn:pulumi:s::", "urn:pulumi:other::");
        let broken = before.replace("\"parent\":\"urn:pulumi:s::p", "\"parent\":\"urn:pulumi:s::gone");
        for (text, said) in [(&foreign, "is from a different stack (other != s)"), (&broken, "gone")] {
            let error = import(&stack, text, ImportOptions::default()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Broken);
            assert!(error.to_string().contains(said), "{error}");
            assert_eq!(read(&stack).await, before);
            import(&stack, text, ImportOptions::default().force()).await.unwrap();
            assert_eq!(read(&stack).await, *text);
            bucket.put(KEY, before.clone()).await;
        }
        let nonsense = import(&stack, "{}", ImportOptions::default().force()).await.unwrap_err();
        assert_eq!((nonsense.kind(), read(&stack).await), (ErrorKind::Invalid, before));
    }
}

#[tokio::test]
async fn an_import_removes_pending_operations_and_says_so() {
    let bucket = Bucket::memory();
    let stack = bucket.open().await.stack(&stack("s"));
    let clean = document("x").replace("\"urn\"", "\"futureKey\":1.50,\"urn\"");
    save(&stack, &clean).await;
    let urn = "urn:pulumi:s::p::a:b:C::pending";
    let pending = format!(
        r#""pending_operations":[{{"resource":{{"urn":"{urn}","custom":true,"type":"a:b:C"}},"type":"creating"}}],"metadata""#
    );
    let text = clean.replace("\"metadata\"", &pending);
    let warnings = import(&stack, &text, ImportOptions::default()).await.unwrap();
    assert_eq!(warnings, [format!("removing pending operation 'creating' on '{urn}' from snapshot")]);
    let stored = read(&stack).await;
    assert!(!stored.contains("creating") && stored.contains("\"futureKey\":1.50"), "{stored}");
}

#[tokio::test]
async fn restoring_exchanges_the_state_and_its_copy() {
    for bucket in Bucket::both() {
        let stack = bucket.open().await.stack(&stack("s"));
        save(&stack, &document("good")).await;
        save(&stack, &document("bad")).await;
        bucket.put(KEY, "{ damaged").await;
        restore_previous(&stack).await.unwrap();
        assert_eq!(read(&stack).await, document("good"));
        assert_eq!(bucket.text(&format!("{KEY}.bak")).await.unwrap(), "{ damaged");
        let error = restore_previous(&stack).await.unwrap_err();
        assert_eq!((error.kind(), read(&stack).await), (ErrorKind::Corrupt, document("good")));
        assert_eq!(stack.copies().await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_copy_from_before_a_rename_is_refused() {
    let bucket = Bucket::memory();
    let stack = bucket.open().await.stack(&stack("s"));
    save(&stack, &document("now")).await;
    let foreign = document("then").replace("urn:pulumi:s::", "urn:pulumi:other::");
    bucket.put(&format!("{KEY}.bak"), foreign).await;
    let error = restore_previous(&stack).await.unwrap_err();
    assert_eq!((error.kind(), read(&stack).await), (ErrorKind::Broken, document("now")));
}

#[tokio::test]
async fn a_restore_that_is_killed_at_any_request_loses_neither_state() {
    let mut request = 0;
    loop {
        let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
        let bucket = Bucket::memory().through(Arc::new(blobs.clone()));
        let stack = bucket.open().await.stack(&stack("s"));
        save(&stack, &document("good")).await;
        save(&stack, &document("bad")).await;
        blobs.fail_at(request, Fault::Down);
        let result = restore_previous(&stack).await;
        if blobs.calls().len() <= request {
            result.unwrap();
            break;
        }
        let bucket = bucket.through(Arc::new(blobs.inner().clone()));
        let stack = bucket.open().await.stack(stack.reference());
        let mut texts = vec![read(&stack).await];
        for copy in stack.copies().await.unwrap() {
            let read = stack.read_copy(&copy).await.unwrap();
            texts.push(String::from_utf8(read.bytes.to_vec()).unwrap());
        }
        for note in ["good", "bad"] {
            assert!(texts.contains(&document(note)), "{note} is lost by a kill at {request}");
        }
        request += 1;
    }
    assert!(request > 5, "{request}");
}

/// A stack with five updates, a second between two of them.
async fn with_updates(bucket: &Bucket) -> Stack {
    let mut options = Options::default();
    options.retain_checkpoints = true;
    let stack = bucket.open_with(options).await.unwrap().stack(&stack("s"));
    for number in 0..5 {
        save(&stack, &document(&number.to_string())).await;
        stack.record(&Update::default(), &Unguarded).await.unwrap();
        bucket.tick();
    }
    stack
}

/// How many copies each source but `.bak` has.
async fn counts(stack: &Stack) -> [usize; 3] {
    let copies = stack.copies().await.unwrap();
    [CopySource::Backup, CopySource::History, CopySource::Retained]
        .map(|source| copies.iter().filter(|copy| copy.source == source).count())
}

#[tokio::test]
async fn a_prune_keeps_what_the_rules_keep_and_always_the_newest() {
    for (rules, left) in [
        (PruneRules::default().keep(2), 2),
        (PruneRules::default().keep(0), 1),
        (PruneRules::default().keep(9), 5),
        (PruneRules::default().older_than(Duration::from_millis(2500)), 2),
        (PruneRules::default().older_than(Duration::ZERO), 1),
        (PruneRules::default().keep(3).older_than(Duration::from_millis(1500)), 3),
        (PruneRules::default().keep(1).older_than(Duration::from_secs(60)), 5),
    ] {
        for bucket in Bucket::both() {
            let stack = with_updates(&bucket).await;
            let old = stack.old_copies(&rules).await.unwrap();
            assert_eq!(counts(&stack).await, [5; 3], "looking removes nothing");
            stack.prune(&old, &Unguarded).await.unwrap();
            assert_eq!(counts(&stack).await, [left; 3], "{rules:?}");
            let history = stack.history(1, 0).await.unwrap();
            assert_eq!(history.total, left);
            let newest = stack.history_checkpoint(&history.entries[0]).await.unwrap().unwrap();
            assert_eq!(newest.bytes, document("4"));
            assert_eq!(read(&stack).await, document("4"));
            assert!(bucket.text(&format!("{KEY}.bak")).await.is_some());
        }
    }
    let stack = with_updates(&Bucket::memory()).await;
    let error = stack.old_copies(&PruneRules::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

/// The state of an entry is written before the entry.
#[tokio::test]
async fn a_prune_keeps_as_many_updates_when_a_kill_left_half_of_one() {
    let bucket = Bucket::memory();
    let stack = with_updates(&bucket).await;
    let newest = stack.history(1, 1).await.unwrap().entries.remove(0).key;
    bucket.store.delete(&newest, &DeleteOptions::default()).await.unwrap();
    let old = stack.old_copies(&PruneRules::default().keep(2)).await.unwrap();
    stack.prune(&old, &Unguarded).await.unwrap();
    assert_eq!(stack.history(1, 0).await.unwrap().total, 2);
    // The half is newer than both, and is removed when they are old.
    assert_eq!(counts(&stack).await, [2, 3, 2]);
    bucket.tick();
    for _ in 0..2 {
        stack.record(&Update::default(), &Unguarded).await.unwrap();
    }
    let old = stack.old_copies(&PruneRules::default().keep(2)).await.unwrap();
    stack.prune(&old, &Unguarded).await.unwrap();
    assert_eq!(counts(&stack).await, [2; 3]);
}

#[tokio::test]
async fn a_prune_that_is_killed_at_any_request_is_repeated() {
    let rules = PruneRules::default().keep(2);
    let mut request = 0;
    loop {
        let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
        let bucket = Bucket::memory().through(Arc::new(blobs.clone()));
        let stack = with_updates(&bucket).await;
        let old = stack.old_copies(&rules).await.unwrap();
        let before = stack.history(1, 0).await.unwrap().entries;
        let before: Vec<&Key> = before.iter().map(|entry| &entry.key).collect();
        blobs.fail_at(request, Fault::Down);
        let result = stack.prune(&old, &Unguarded).await;
        if blobs.calls().len() <= request {
            result.unwrap();
            break;
        }
        result.unwrap_err();
        let bucket = bucket.through(Arc::new(blobs.inner().clone()));
        let stack = bucket.open().await.stack(stack.reference());
        let history = stack.history(1, 0).await.unwrap();
        assert!(history.entries.iter().all(|entry| entry.checkpoint.is_some()), "{request}");
        let newest_first = history.entries.iter().map(|entry| &entry.key).collect::<Vec<_>>();
        assert!(newest_first == before[..newest_first.len()], "{request}: a gap in {newest_first:?}");
        let old = stack.old_copies(&rules).await.unwrap();
        stack.prune(&old, &Unguarded).await.unwrap();
        assert_eq!(counts(&stack).await, [2; 3], "{request}");
        request += 1;
    }
    assert_eq!(request, 12, "three of each source, and the entries of the history");
}
