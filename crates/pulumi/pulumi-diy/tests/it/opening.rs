//! Opening buckets of every kind.

use std::sync::Arc;

use groundstate_conformance::{Fault, FaultyBlobs};
use groundstate_pulumi_diy::blobs::MemoryBlobs;
use groundstate_pulumi_diy::{Backend, ErrorKind, Layout, Options, Warning};

use crate::support::{Bucket, stack};

fn legacy_for_new() -> Options {
    let set = ["PULUMI_DIY_BACKEND_LEGACY_LAYOUT", "PULUMI_DIY_BACKEND_IGNORE_DEPRECATION_ERROR"];
    Options::from_variables(|name| set.contains(&name).then(|| "1".to_owned())).unwrap()
}

#[tokio::test]
async fn a_fresh_bucket_gets_a_marker_and_nothing_else() {
    for bucket in Bucket::both() {
        let backend = bucket.open().await;
        assert_eq!(backend.layout(), Layout::Projects);
        assert_eq!(bucket.names().await, [Layout::META]);
        assert_eq!(bucket.text(Layout::META).await.as_deref(), Some("version: 1\n"));
        assert_eq!(bucket.open().await.warnings(), []);
    }
}

#[tokio::test]
async fn reading_commands_write_no_marker() {
    for bucket in Bucket::both() {
        let store = Arc::clone(&bucket.store);
        let backend = Backend::open_existing(store, bucket.context(), Options::default()).await.unwrap();
        assert_eq!(backend.layout(), Layout::Projects);
        assert!(bucket.names().await.is_empty());
    }
}

#[tokio::test]
async fn a_fresh_bucket_can_have_the_old_layout() {
    for bucket in Bucket::both() {
        let backend = bucket.open_with(legacy_for_new()).await.unwrap();
        assert_eq!(backend.layout(), Layout::Legacy);
        assert!(bucket.names().await.is_empty());
        let reference = backend.reference("s", None).unwrap();
        assert_eq!(backend.layout().checkpoint(&reference), ".pulumi/stacks/s.json");
        assert!(backend.reference("organization/p/s", None).is_err());
    }
}

#[tokio::test]
async fn stacks_without_projects_make_a_legacy_bucket_that_has_to_be_allowed() {
    for file in ["s.json", "s.json.gz", "s.json.zst", "s.yaml"] {
        for bucket in Bucket::both() {
            let key = format!(".pulumi/stacks/{file}");
            bucket.put(&key, "{}").await;
            let error = bucket.open_with(Options::default()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Legacy, "{file}");
            assert!(error.step().unwrap().contains("pulumi state upgrade"), "{error}");
            let backend = bucket.open_with(Options::default().allow_legacy()).await.unwrap();
            assert_eq!(backend.layout(), Layout::Legacy);
            assert_eq!(bucket.names().await, [key]);
        }
    }
}

#[tokio::test]
async fn copies_tags_and_leftovers_make_no_legacy_bucket() {
    for file in ["s.json.bak", "s.json.1700000000000000000", "s.pulumi-tags", "s.json.17ab.tmp", "p/s.json"] {
        for bucket in Bucket::both() {
            bucket.put(&format!(".pulumi/stacks/{file}"), "{}").await;
            assert_eq!(bucket.open().await.layout(), Layout::Projects, "{file}");
            assert_eq!(bucket.text(Layout::META).await.as_deref(), Some("version: 1\n"));
        }
    }
}

#[tokio::test]
async fn markers_that_say_nothing_are_refused_and_kept() {
    for (content, kind, text) in [
        ("", ErrorKind::Corrupt, "corrupt store: missing version"),
        ("other: 1\n", ErrorKind::Corrupt, "corrupt store: missing version"),
        ("version:\n", ErrorKind::Corrupt, "corrupt store: missing version"),
        ("{", ErrorKind::Corrupt, "corrupt store: unmarshal"),
        ("version", ErrorKind::Corrupt, "corrupt store: unmarshal"),
        ("version: one\n", ErrorKind::Corrupt, "corrupt store: unmarshal"),
        ("version: 2\n", ErrorKind::Unsupported, "'meta.yaml' version (2) is not supported"),
        ("version: -1\n", ErrorKind::Unsupported, "'meta.yaml' version (-1) is not supported"),
    ] {
        for bucket in Bucket::both() {
            bucket.put(Layout::META, content).await;
            let error = bucket.open_with(Options::default().allow_legacy()).await.unwrap_err();
            assert_eq!(error.kind(), kind, "{content:?}: {error}");
            assert!(error.to_string().contains(text), "{error}");
            assert_eq!(bucket.text(Layout::META).await.as_deref(), Some(content));
            assert_eq!(bucket.names().await.len(), 1);
        }
    }
}

#[tokio::test]
async fn markers_say_which_layout_a_bucket_has() {
    for (content, layout) in [
        ("version: 0\n", Layout::Legacy),
        ("version: 1", Layout::Projects),
        ("# ours\nother: x\nversion: 1\n", Layout::Projects),
        ("{\"version\": 1}", Layout::Projects),
    ] {
        for bucket in Bucket::both() {
            bucket.put(Layout::META, content).await;
            let backend = bucket.open_with(Options::default().allow_legacy()).await.unwrap();
            assert_eq!(backend.layout(), layout, "{content:?}");
            assert_eq!(bucket.text(Layout::META).await.as_deref(), Some(content));
        }
    }
}

#[tokio::test]
async fn stacks_that_were_left_behind_are_a_warning_that_can_be_silenced() {
    for bucket in Bucket::both() {
        bucket.put(Layout::META, "version: 1\n").await;
        bucket.put(".pulumi/stacks/old.json", "{}").await;
        bucket.put(".pulumi/stacks/old.json.gz", "{}").await;
        let warnings = [Warning::LegacyStacks(vec!["old".to_owned()])];
        assert_eq!(bucket.open().await.warnings(), warnings);
        let silent = |name: &str| (name == "PULUMI_DIY_BACKEND_NO_LEGACY_WARNING").then(|| "1".to_owned());
        let silent = Options::from_variables(silent).unwrap();
        assert_eq!(bucket.open_with(silent).await.unwrap().warnings(), []);
    }
}

#[tokio::test]
async fn a_store_that_fails_is_never_taken_for_an_empty_one() {
    let bucket = Bucket::memory();
    bucket.put(".pulumi/stacks/s.json", "{}").await;
    for request in 0..2 {
        let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
        blobs.fail_at(request, Fault::Deny);
        let store = Arc::new(blobs.clone());
        let error = Backend::open(store, bucket.context(), Options::default()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied, "request {request}");
        assert_eq!(blobs.calls().last(), Some(&["get", "list"][request]), "nothing was written");
    }
}

#[tokio::test]
async fn the_marker_of_another_process_counts() {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("bucket"));
    let key = groundstate_pulumi_diy::blobs::Key::parse(Layout::META).unwrap();
    blobs.meanwhile(2, key, "version: 2\n".into());
    let bucket = Bucket::memory().through(Arc::new(blobs));
    let error = bucket.open_with(Options::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(bucket.text(Layout::META).await.as_deref(), Some("version: 2\n"));
}

#[tokio::test]
async fn no_two_times_in_names_are_equal() {
    let bucket = Bucket::memory();
    let backend = bucket.open().await;
    let (first, second) = (backend.stamp(), backend.stamp());
    assert_eq!((first, second), (1_800_000_000_000_000_000, 1_800_000_000_000_000_001));
    assert_eq!(backend.stack(&stack("s")).to_string(), format!("stack organization/p/s in {backend}"));
}
