//! What a bucket may hold that no `pulumi` wrote, and rights that are missing: each is named, nothing is lost, other stacks are usable.

use std::sync::Arc;

use groundstate_blobs_fs::BucketFiles;
use groundstate_conformance::FaultyBlobs;
use groundstate_pulumi_diy::blobs::MemoryBlobs;
use groundstate_pulumi_diy::{
    Compression, Error, ErrorKind, Holder, ImportOptions, JournalOptions, LeftoverKind, LockOptions, Options,
    PruneRules, RemoveOptions, Stack, StackFilter, Unguarded,
};

use crate::support::{Bucket, WithNames, document, stack};

const PLAIN: &str = ".pulumi/stacks/p/s.json";
const OTHER: &str = ".pulumi/stacks/p/other.json";

fn holder() -> Holder {
    Holder { pid: 7, user: "bo".into(), host: "here".into(), started: None }
}

async fn save(stack: &Stack, note: &str) -> Result<groundstate_pulumi_diy::Saved, Error> {
    stack.writer(Arc::new(Unguarded)).save(document(note).into()).await
}

/// Why a stack cannot be used, if it cannot.
async fn problem(stack: &Stack) -> Option<Error> {
    match stack.read().await {
        Ok(read) => read.expect("it exists").decode().err(),
        Err(error) => Some(error),
    }
}

#[tokio::test]
async fn a_checkpoint_that_is_cut_anywhere_is_named_with_its_copy_and_hides_no_other_stack() {
    for compression in Compression::ALL {
        let bucket = Bucket::memory();
        let options = Options::default().compression(compression);
        let backend = bucket.open_with(options).await.unwrap();
        let stack = backend.stack(&stack("s"));
        save(&stack, "1").await.unwrap();
        let key = save(&stack, "2").await.unwrap().key;
        bucket.put(OTHER, document("other")).await;
        let whole = bucket.bytes(key.as_str()).await.unwrap();
        for cut in 0..whole.len() {
            bucket.put(key.as_str(), &whole[..cut]).await;
            let error =
                problem(&stack).await.unwrap_or_else(|| panic!("{compression:?} cut at {cut} is read"));
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{compression:?} at {cut}: {error}");
            assert!(error.to_string().contains(&format!("{key}.bak")), "{error}");
        }
        let all = backend.stacks(&StackFilter::default()).await.unwrap();
        let readable: Vec<bool> = all.iter().map(|one| one.details.is_ok()).collect();
        assert_eq!(readable, [true, false]);
        // What is damaged is kept when something else takes its place.
        let copy = stack.copies().await.unwrap().into_iter().next().unwrap();
        stack.restore(&copy, &ImportOptions::default(), Arc::new(Unguarded)).await.unwrap();
        assert_eq!(stack.read().await.unwrap().unwrap().bytes, document("1"));
        assert_eq!(bucket.bytes(copy.key.as_str()).await.unwrap(), whole[..whole.len() - 1]);
    }
}

#[tokio::test]
async fn files_of_other_programs_are_named_and_stay_as_they_are() {
    let bucket = Bucket::memory();
    let backend = bucket.open().await;
    let stack = backend.stack(&stack("s"));
    bucket.put(OTHER, document("other")).await;
    let deep = format!(r#"{{"version":3,"checkpoint":{}1{}}}"#, "[".repeat(200_000), "]".repeat(200_000));
    let utf16: Vec<u8> = document("x").encode_utf16().flat_map(u16::to_le_bytes).collect();
    for text in [
        b"<!DOCTYPE html><title>403 Forbidden</title>".to_vec(),
        br#"{"version":4,"terraform_version":"1.9.0","serial":1,"lineage":"x","outputs":{},"resources":[]}"#
            .to_vec(),
        b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n".to_vec(),
        b"<<<<<<< HEAD\n{}\n=======\n".to_vec(),
        vec![0; 4096],
        vec![0x1f, 0x8b, 0x08],
        vec![0x28, 0xb5, 0x2f, 0xfd, 0xff, 0xff],
        b"[]".to_vec(),
        b"7".to_vec(),
        b"\"text\"".to_vec(),
        br#"{"version":"3","checkpoint":{}}"#.to_vec(),
        br#"{"version":-1,"checkpoint":{}}"#.to_vec(),
        br#"{"version":3,"checkpoint":{"latest":{"resources":{}}}}"#.to_vec(),
        br#"{"version":3,"checkpoint":{"latest":{"resources":[1]}}}"#.to_vec(),
        deep.into_bytes(),
        utf16,
    ] {
        bucket.put(PLAIN, text.clone()).await;
        let shown = String::from_utf8_lossy(&text[..text.len().min(60)]).into_owned();
        let error = problem(&stack).await.unwrap_or_else(|| panic!("{shown} is read"));
        let kinds = [ErrorKind::Corrupt, ErrorKind::Unsupported];
        assert!(kinds.contains(&error.kind()), "{shown}: {error}");
        assert!(error.to_string().contains(PLAIN) && error.step().is_some(), "{shown}: {error}");
        let refused = stack.remove(&Unguarded, &RemoveOptions::default()).await.unwrap_err();
        assert_eq!(refused.kind(), error.kind(), "{shown}");
        let created = stack.create(Arc::new(Unguarded), None).await.unwrap_err();
        assert_eq!(created.kind(), ErrorKind::Exists, "{shown}");
        assert_eq!(bucket.bytes(PLAIN).await.unwrap(), text, "{shown}");
        let all = backend.stacks(&StackFilter::default()).await.unwrap();
        assert_eq!(all.iter().filter(|one| one.details.is_ok()).count(), 1, "{shown}");
    }
}

#[tokio::test]
async fn names_that_lead_out_of_the_layout_are_no_stacks_and_no_copies() {
    let names = vec![
        ".pulumi/stacks/../../etc.json",
        ".pulumi/stacks/./s.json",
        ".pulumi/stacks/p/..json",
        ".pulumi/stacks/p/...json",
        ".pulumi/stacks/p//s.json",
        ".pulumi/stacks/p/s\n.json",
        ".pulumi/stacks/p/s.json\u{1b}[2J.bak",
        ".pulumi/history/p/s/s-1\u{7}.history.json",
        ".pulumi/history/p/s/s-2\u{7}.checkpoint.json",
        ".pulumi/history/p/../s-1.history.json",
        ".pulumi/backups/p/s/s.\u{7}1.json",
        ".pulumi/locks/organization/p/../1.json",
        ".pulumi/groundstate/locks/organization/p/...json",
        ".pulumi/groundstate/marks/organization/../p.json",
    ];
    let bucket = Bucket::memory().through(Arc::new(WithNames::new(names.clone())));
    let backend = bucket.open().await;
    let stack_s = backend.stack(&stack("s"));
    save(&stack_s, "1").await.unwrap();
    save(&stack_s, "2").await.unwrap();
    stack_s.record(&Default::default(), &Unguarded).await.unwrap();
    assert_eq!(backend.stack_names(&StackFilter::default()).await.unwrap(), [stack("s")]);
    assert_eq!(backend.projects().await.unwrap().len(), 1);
    let history = stack_s.history(1, 0).await.unwrap();
    assert_eq!((history.total, history.entries.len()), (1, 1), "{history:?}");
    assert_eq!(stack_s.copies().await.unwrap().len(), 3);
    let old = stack_s.old_copies(&PruneRules::default().keep(0)).await.unwrap();
    assert!(old.is_empty(), "{old:?}");
    let left = backend.leftovers().await.unwrap();
    assert!(left.failed.is_empty() && left.found.iter().all(|one| one.kind == LeftoverKind::ForeignObject));
    for name in &names[..7] {
        assert!(left.found.iter().any(|one| one.key == *name), "{name:?} is not named: {left:?}");
    }
    let shown = left.found.iter().map(ToString::to_string).collect::<String>();
    assert!(!shown.contains(char::is_control), "{shown:?}");
    assert_eq!(stack_s.leftovers().await.unwrap().found.len(), 3);
    let removed = stack_s.remove(&Unguarded, &RemoveOptions::default().force().backups()).await.unwrap();
    assert!(removed.keys.iter().all(|key| !names.contains(&key.as_str())));
    assert!(
        bucket.names().await.iter().all(|name| names.contains(&name.as_str()) || name.ends_with("meta.yaml"))
    );
}

/// A bucket with a stack, its history and tags, by a client whose rights can be taken away.
async fn filled() -> (FaultyBlobs, Bucket) {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let bucket = Bucket::memory().through(Arc::new(blobs.clone()));
    let stack = bucket.open().await.stack(&stack("s"));
    for note in ["1", "2", "3"] {
        save(&stack, note).await.unwrap();
        stack.record(&Default::default(), &Unguarded).await.unwrap();
        bucket.tick();
    }
    let mut tags = stack.tags().await.unwrap();
    tags.set("env", "prod").unwrap();
    stack.save_tags(&tags, &Unguarded).await.unwrap();
    bucket.put(OTHER, document("other")).await;
    (blobs, bucket)
}

/// Everything that is stored, with its bytes.
async fn contents(blobs: &FaultyBlobs) -> Vec<(String, Vec<u8>)> {
    let bucket = Bucket::memory().through(Arc::new(blobs.inner().clone()));
    let mut all = Vec::new();
    for name in bucket.names().await {
        let bytes = bucket.bytes(&name).await.unwrap();
        all.push((name, bytes));
    }
    all
}

#[tokio::test]
async fn without_the_right_to_list_everything_that_needs_it_is_refused_by_name_and_nothing_is_written() {
    let (blobs, bucket) = filled().await;
    blobs.deny(&["list"]);
    let backend = bucket.open().await;
    assert!(backend.warnings().iter().any(|warning| warning.to_string().contains("could not be looked for")));
    let stack = backend.stack(&stack("s"));
    let before = contents(&blobs).await;
    let all = StackFilter::default();
    let remove = RemoveOptions::default().force();
    for (what, error) in [
        ("names", backend.stack_names(&all).await.err()),
        ("stacks", backend.stacks(&all).await.err()),
        ("leftovers", backend.leftovers().await.err()),
        ("read", stack.read().await.err()),
        ("save", save(&stack, "4").await.err()),
        ("create", stack.create(Arc::new(Unguarded), None).await.err()),
        ("remove", stack.remove(&Unguarded, &remove).await.err()),
        ("history", stack.history(1, 0).await.err()),
        ("copies", stack.copies().await.err()),
        ("record", stack.record(&Default::default(), &Unguarded).await.err()),
        ("cancel", stack.cancel().await.err()),
    ] {
        let error = error.unwrap_or_else(|| panic!("{what} is done"));
        assert_eq!(error.kind(), ErrorKind::Denied, "{what}: {error}");
        assert!(error.to_string().contains("bucket/.pulumi/"), "{what}: {error}");
    }
    assert_eq!(contents(&blobs).await, before);
    // A lock is not taken blindly, and its lease is given back.
    let error = stack.lock(&holder(), &LockOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(error.to_string().contains(".pulumi/locks/organization/p/s/"), "{error}");
    assert_eq!(stack.tags().await.unwrap().get("env"), Some("prod"), "tags need no list");
    blobs.deny(&[]);
    stack.lock(&holder(), &LockOptions::default()).await.unwrap().release().await.unwrap();
}

#[tokio::test]
async fn without_the_right_to_delete_states_are_saved_and_what_stays_is_named() {
    let (blobs, bucket) = filled().await;
    blobs.deny(&["delete"]);
    let stack_s = bucket.open().await.stack(&stack("s"));
    let lock = stack_s.lock(&holder(), &LockOptions::default()).await.unwrap();
    save(&stack_s, "4").await.unwrap();
    let error = lock.release().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert!(error.to_string().contains(lock.key().as_str()), "{error}");
    assert!(error.to_string().contains("manual clean up may be required"), "{error}");
    // The lease is free, the lock is not: it is named by who asks next, and by its key.
    let error = stack_s.lock(&holder(), &LockOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked);
    let cancelled = stack_s.cancel().await.unwrap();
    assert_eq!((cancelled.removed.len(), cancelled.failed.len()), (0, 1), "{cancelled:?}");

    let before = contents(&blobs).await;
    let kinds = |error: Option<Error>| error.map(|error| (error.kind(), error.to_string()));
    let prune = stack_s.old_copies(&PruneRules::default().keep(1)).await.unwrap();
    let mut tags = stack_s.tags().await.unwrap();
    tags.remove("env");
    for (what, error) in [
        ("prune", kinds(stack_s.prune(&prune, &Unguarded).await.err())),
        ("tags", kinds(stack_s.save_tags(&tags, &Unguarded).await.err())),
    ] {
        let (kind, text) = error.unwrap_or_else(|| panic!("{what} is done"));
        assert_eq!(kind, ErrorKind::Denied, "{what}");
        assert!(text.contains("bucket/.pulumi/"), "{what}: {text}");
    }
    assert_eq!(contents(&blobs).await, before);
    let error = stack_s.remove(&Unguarded, &RemoveOptions::default().force()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert_eq!(stack_s.read().await.unwrap().unwrap().bytes, document("4"));

    // A change of compression leaves the old variant, which does not count.
    bucket.tick();
    let options = Options::default().compression(Compression::Gzip);
    let gzip = bucket.open_with(options).await.unwrap().stack(&stack("s"));
    let saved = save(&gzip, "5").await.unwrap();
    assert!(saved.warnings.iter().any(|warning| warning.to_string().contains(PLAIN)), "{saved:?}");
    assert_eq!(gzip.read().await.unwrap().unwrap().bytes, document("5"));
    let left = gzip.leftovers().await.unwrap().found;
    assert!(left.iter().any(|one| one.kind == LeftoverKind::SecondVariant), "{left:?}");

    // What an update did is saved, although its journal cannot be cleared.
    let journal = JournalOptions::new("bo@here", "v3.259.0", "mytool up");
    let error = gzip.journal(Arc::new(Unguarded), journal.clone()).await.err();
    let recovered = gzip.recover(Arc::new(Unguarded), &journal).await;
    assert!(error.is_none() && recovered.is_err_and(|error| error.kind() == ErrorKind::Denied));
    assert_eq!(gzip.read().await.unwrap().unwrap().bytes, document("5"));
    blobs.deny(&[]);
    gzip.recover(Arc::new(Unguarded), &journal).await.unwrap();
    save(&gzip, "6").await.unwrap();
    assert!(gzip.select().await.unwrap().others.is_empty());
}

#[tokio::test]
async fn a_file_where_a_folder_belongs_is_named_and_the_other_stacks_are_usable() {
    let folder = tempfile::tempdir().unwrap();
    let path = |below: &str| folder.path().join(".pulumi").join(below);
    let bucket = Bucket::memory().through(Arc::new(BucketFiles::open(folder.path()).unwrap()));
    let backend = bucket.open().await;
    let (good, mut seen) = (backend.stack(&stack("good")), 0);
    save(&good, "1").await.unwrap();
    std::fs::write(path("stacks/q"), "a file").unwrap();
    std::fs::create_dir_all(path("stacks/p/folder.json")).unwrap();
    std::fs::write(path("stacks/p/folder.json/x"), "").unwrap();
    let in_file = backend.stack(&backend.reference("organization/q/s", None).unwrap());
    for stack in [in_file, backend.stack(&stack("folder"))] {
        assert!(!stack.exists().await.unwrap());
        let error = stack.create(Arc::new(Unguarded), None).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.to_string().contains(&stack.reference().to_string()[13..]), "{error}");
    }
    let names = backend.stack_names(&StackFilter::default()).await.unwrap();
    assert_eq!(names, [stack("good")]);
    let left = backend.leftovers().await.unwrap().found;
    assert_eq!(left.iter().filter(|one| one.kind == LeftoverKind::ForeignObject).count(), 2, "{left:?}");

    // The folders of one kind are files; the state is saved and read nevertheless.
    for (below, key) in
        [("history", ".pulumi/history"), ("backups", ".pulumi/backups"), ("locks", ".pulumi/locks")]
    {
        drop(std::fs::remove_dir_all(path(below)));
        std::fs::write(path(below), "a file").unwrap();
        let failed = match below {
            "locks" => good.lock(&holder(), &LockOptions::default()).await.map(drop),
            _ => good.record(&Default::default(), &Unguarded).await.map(drop),
        };
        let error = failed.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.to_string().contains(key), "{error}");
        seen += 1;
        save(&good, &seen.to_string()).await.unwrap();
        assert_eq!(good.read().await.unwrap().unwrap().bytes, document(&seen.to_string()));
        assert!(backend.leftovers().await.unwrap().failed.is_empty());
        std::fs::remove_file(path(below)).unwrap();
    }
    good.lock(&holder(), &LockOptions::default()).await.unwrap().release().await.unwrap();
}
