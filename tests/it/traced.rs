//! What libraries tell a subscriber of their operations: names, numbers and kinds, and nothing of what is stored.

use std::future::Future;
use std::sync::Arc;

use groundstate_blobs::{
    Attributes, BlobStore, Context, Key, MemoryBlobs, Precondition, PutOptions, Retry, RetryPolicy,
};
use groundstate_common::{FixedClock, OsIds, Timestamp};
use groundstate_pulumi_journal::{Base, State, Step, StepKind};
use groundstate_pulumi_snapshot::{Resource, Snapshot};
use groundstate_pulumi_stackmgr::{FullSnapshotManager, MemorySnapshots, Options, SnapshotManager};
use groundstate_testkit::Traced;
use groundstate_wal::blobs::BlobJournal;
use groundstate_wal::fs::FsJournal;
use groundstate_wal::{JournalStore, OpenOptions, Record};
use serde_json::Value;

/// What may not be shown.
const SECRET: &str = "hunter2";

/// The spans that ended while the work was done, at every level.
async fn spans(work: impl Future<Output = ()>) -> Vec<Value> {
    let traced = Traced::spans();
    work.await;
    let text = traced.text();
    assert!(!text.contains(SECRET), "{text}");
    text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["span"].clone()).collect()
}

fn of<'s>(spans: &'s [Value], op: &str) -> &'s Value {
    spans.iter().find(|span| span["op"] == op).unwrap_or_else(|| panic!("{op} is not in {spans:?}"))
}

fn context() -> Context {
    let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
    Context::new(Arc::<FixedClock>::clone(&clock), clock, Arc::new(OsIds))
}

#[tokio::test]
async fn blobs_have_versions_and_no_metadata() {
    let store = Retry::new(MemoryBlobs::new("bucket"), RetryPolicy::default(), context());
    let key = Key::parse("a/b").unwrap();
    let attributes = Attributes::content_type("text/plain").with_metadata("note", SECRET);
    let spans = spans(async {
        let options = PutOptions::expecting(Precondition::Absent).attributes(attributes);
        store.put(&key, SECRET.into(), &options).await.unwrap();
        store
            .put(&key, SECRET.into(), &PutOptions::expecting(Precondition::Absent).contended())
            .await
            .unwrap_err();
        store.get(&key, &Default::default()).await.unwrap();
    })
    .await;
    let (write, read) = (of(&spans, "write"), of(&spans, "read"));
    assert_eq!((&write["key"], &write["place"]), (&"a/b".into(), &store.to_string().into()));
    assert!(write["version"].is_string() && write["version"] == read["version"], "{spans:?}");
    let refused = spans.iter().find(|span| span["error"].is_string());
    assert_eq!(refused.map(|span| &span["error"]), Some(&"PreconditionFailed".into()), "{spans:?}");
}

#[tokio::test]
async fn journals_have_fences_and_positions_and_no_records() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Arc::new(MemoryBlobs::new("bucket"));
    let stores: [Box<dyn JournalStore>; 2] = [
        Box::new(FsJournal::new(folder.path().join("journal"))),
        Box::new(BlobJournal::new(blobs, "journal/", Arc::new(OsIds)).unwrap()),
    ];
    for store in stores {
        let spans = spans(async {
            let first = store.open(&OpenOptions::new("ana@build-7")).await.unwrap();
            first.begin(&Record::from(SECRET.as_bytes())).await.unwrap();
            let batch = [Record::from(SECRET.as_bytes()), Record::from(SECRET.as_bytes())];
            first.append(&batch).await.unwrap();
            let second = store.open(&OpenOptions::new("bob").take_over(true)).await.unwrap();
            first.append(&batch).await.unwrap_err();
            second.clear().await.unwrap();
            second.close().await.unwrap();
        })
        .await;
        let opened: Vec<&Value> = spans.iter().filter(|span| span["op"] == "open").collect();
        let [first, second] = opened.as_slice() else { panic!("{spans:?}") };
        assert_eq!((&first["owner"], &second["take_over"]), (&"ana@build-7".into(), &true.into()));
        assert!(second["fence"].as_u64() > first["fence"].as_u64(), "{spans:?}");
        let append = of(&spans, "append to");
        assert_eq!((&append["records"], &append["bytes"]), (&2.into(), &14.into()));
        assert_eq!((&append["position"], &append["place"]), (&0.into(), &store.to_string().into()));
        assert!(spans.iter().any(|span| span["op"] == "append to" && span["error"] == "Fenced"), "{spans:?}");
        of(&spans, "clear");
    }
}

#[tokio::test]
async fn snapshots_have_their_size_and_no_resources() {
    let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
    let options = Options::new(clock, "v3.259.0", "mytool up");
    let manager = FullSnapshotManager::new(
        Base::new(Snapshot::default()),
        Arc::new(MemorySnapshots::default()),
        options,
    );
    let resource = Resource::new("urn:pulumi:d::p::t:t:T::hunter2", "t:t:T");
    let state = State::new(resource);
    let spans = spans(async {
        let step = manager.begin(Step::new(StepKind::Create, None, Some(&state))).await.unwrap();
        manager.end(step, true).await.unwrap();
        manager.close().await.unwrap();
    })
    .await;
    let last = spans.iter().rfind(|span| span["name"] == "snapshot").unwrap();
    assert_eq!(
        (&last["op"], &last["resources"], &last["broken"]),
        (&"save".into(), &1.into(), &false.into())
    );
}
