//! To another bucket.

use std::sync::Arc;

use groundstate_blobs_fs::FileBlobs;
use groundstate_conformance::{Fault, FaultyBlobs};
use groundstate_pulumi_diy::blobs::MemoryBlobs;
use groundstate_pulumi_diy::{ErrorKind, RelocateOptions, Stack, Unguarded};

use super::{BELONGINGS, RECORDS, contents, fill};
use crate::support::{Bucket, document, stack};

async fn migrate(from: &Stack, to: &Stack, options: RelocateOptions) -> groundstate_pulumi_diy::Result<()> {
    from.relocation(to, options).await?.carry_out(&Unguarded).await.map(drop)
}

fn other() -> (Bucket, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = FileBlobs::open(folder.path()).unwrap();
    (Bucket::memory().through(Arc::new(store)), folder)
}

#[tokio::test]
async fn a_copy_in_another_bucket_has_the_same_bytes_and_the_source_stays() {
    let (from, (to, _folder)) = (Bucket::memory(), other());
    fill(&from).await;
    let before = contents(&from).await;
    let (source, target) = (from.open().await.stack(&stack("s")), to.open().await.stack(&stack("s")));
    migrate(&source, &target, RelocateOptions::default().keep_source()).await.unwrap();
    assert_eq!(contents(&from).await, before);
    let mut copied: Vec<_> = contents(&to).await;
    copied.sort();
    let mut expected: Vec<_> = BELONGINGS.map(|(key, text)| (key.to_owned(), text.to_owned())).to_vec();
    expected.push((".pulumi/stacks/p/s.json".to_owned(), document("1")));
    expected.sort();
    assert_eq!(copied, expected);
    let error = migrate(&source, &target, RelocateOptions::default().keep_source()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Exists, "{error}");
}

#[tokio::test]
async fn a_migration_that_is_killed_on_either_side_is_ended_by_the_same_one() {
    for keeps in [true, false] {
        for is_source in [true, false] {
            for at in 0.. {
                let [one, two] = ["one", "two"].map(|name| FaultyBlobs::new(MemoryBlobs::new(name)));
                let through = |blobs: &FaultyBlobs| Bucket::memory().through(Arc::new(blobs.clone()));
                let plain = |blobs: &FaultyBlobs| Bucket::memory().through(Arc::new(blobs.inner().clone()));
                let (from, to) = (plain(&one), plain(&two));
                fill(&from).await;
                let source = through(&one).open().await.stack(&stack("s"));
                let target = through(&two).open().await.stack(&stack("s"));
                let options = RelocateOptions::default();
                let options = if keeps { options.keep_source() } else { options };
                if is_source { &one } else { &two }.fail_at(at, Fault::Down);
                let done = migrate(&source, &target, options).await.is_ok();
                let (source, target) =
                    (from.open().await.stack(&stack("s")), to.open().await.stack(&stack("s")));
                let is_there = target.exists().await.unwrap();
                assert!(is_there || source.exists().await.unwrap());
                if !done {
                    migrate(&source, &target, options).await.unwrap();
                }
                assert_eq!(to.text(".pulumi/stacks/p/s.json").await, Some(document("1")));
                assert_eq!(source.exists().await.unwrap(), keeps);
                for (key, text) in BELONGINGS {
                    assert_eq!(to.text(key).await.as_deref(), Some(text), "request {at}, {key}");
                    assert_eq!(from.text(key).await.is_some(), keeps, "request {at}, {key}");
                }
                assert!(!to.names().await.iter().any(|name| name.starts_with(RECORDS)));
                if done {
                    assert!(at > 10);
                    break;
                }
            }
        }
    }
}

#[tokio::test]
async fn the_name_may_change_on_the_way() {
    let (from, (to, _folder)) = (Bucket::memory(), other());
    fill(&from).await;
    let (source, target) = (from.open().await.stack(&stack("s")), to.open().await.stack(&stack("t")));
    migrate(&source, &target, RelocateOptions::default()).await.unwrap();
    let text = to.text(".pulumi/stacks/p/t.json").await.unwrap();
    assert!(text.contains("urn:pulumi:t::p::pulumi:pulumi:Stack::p-t"), "{text}");
    assert!(!source.exists().await.unwrap());
    let error = migrate(&target, &to.open().await.stack(&stack("t")), RelocateOptions::default()).await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Invalid);
}
