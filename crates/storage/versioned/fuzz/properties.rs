//! What has to hold for any bytes in a store. The fuzz targets call these, and `tests/it/fuzzed.rs` with the inputs of the corpus.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use groundstate_versioned::blobs::{
    BlobStore, Context, GetOptions, Key, ListOptions, MemoryBlobs, PutOptions,
};
use groundstate_versioned::common::{FixedClock, SequenceIds, Timestamp};
use groundstate_versioned::{
    Document, Documents, ListFilter, LockOutcome, Name, NewLock, Retention, Settings, SweepOptions,
    WriteOptions,
};

const HEAD: &str = "heads/prod!.json";
const CONTENT: &str = "the content of the only version";

/// Runs what a store in memory never keeps waiting.
fn run<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut TaskContext::from_waker(Waker::noop())) {
            return output;
        }
    }
}

fn store() -> (MemoryBlobs, Documents) {
    let blobs = MemoryBlobs::new("fuzz");
    let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
    let sleeper = Arc::<FixedClock>::clone(&clock);
    let context = Context::new(clock, sleeper, Arc::new(SequenceIds::new()));
    let settings = Settings::default().with_inline_limit(64).with_part_size(4);
    let documents =
        Documents::open(Arc::new(blobs.clone()), context, settings).expect("memory has conditions");
    (blobs, documents)
}

fn document(documents: &Documents) -> Document {
    documents.document(&Name::parse("prod").expect("it is a name"))
}

async fn put(blobs: &MemoryBlobs, key: &str, bytes: &[u8]) {
    let key = Key::parse(key).expect("it is a key");
    blobs.put(&key, bytes.to_vec().into(), &PutOptions::default()).await.expect("memory takes it");
}

/// As a head: what is read can be changed and is read again, with the token no smaller, and what is refused stays as it is.
pub(crate) fn head_read(data: &[u8]) {
    let (blobs, documents) = store();
    let document = document(&documents);
    run(async {
        put(&blobs, HEAD, data).await;
        let before = document.head().await;
        let locked = document.lock(&NewLock::new("fuzz")).await;
        drop(document.versions(None, 10).await);
        drop(document.read().await);
        drop(document.pin(1, true).await);
        let retention = Retention::Newest { count: 1, younger: Some(Duration::ZERO) };
        drop(document.sweep(&SweepOptions::default().retention(retention).grace(Duration::ZERO)).await);
        match (before, locked) {
            (Ok(before), Ok(LockOutcome::Locked(lock))) => {
                let after = document.head().await.expect("what was written is read");
                assert!(lock.token > before.token() || before.lock_of("fuzz").is_some());
                assert_eq!((after.number(), after.token()), (before.number(), lock.token));
            }
            (Ok(before), Ok(LockOutcome::Held(held))) => {
                assert_eq!(before.lock().map(|lock| &lock.id), Some(&held.id))
            }
            // A number at the end of its range.
            (Ok(_), _) => {}
            (Err(_), outcome) => {
                assert!(outcome.is_err());
                let key = Key::parse(HEAD).expect("it is a key");
                let blob = blobs.get(&key, &GetOptions::default()).await.expect("memory answers");
                assert_eq!(blob.map(|blob| blob.bytes.to_vec()).as_deref(), Some(data));
            }
        }
    });
}

/// As the record of the only version: its content is read as it was written, or not at all.
pub(crate) fn record_read(data: &[u8]) {
    let (blobs, documents) = store();
    let document = document(&documents);
    run(async {
        let content = document.content(CONTENT).await.expect("memory takes it");
        document.write(&content, &WriteOptions::default()).await.expect("memory takes it");
        let page = blobs.list("data/", &ListOptions::default()).await.expect("memory answers");
        for record in &page.blobs {
            put(&blobs, &record.name, data).await;
        }
        if let Ok(Some(reader)) = document.read().await
            && let Ok(bytes) = reader.collect(1 << 20).await
        {
            assert_eq!(bytes, CONTENT);
        }
        drop(document.versions(None, 10).await);
        drop(document.restore(1, &WriteOptions::default()).await);
    });
}

/// As the names of blobs: a list reads each as one name or as none, and a sweep leaves alone what is none of its own.
pub(crate) fn key_read(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (blobs, documents) = store();
    run(async {
        if let Ok(name) = Name::parse(text) {
            let document = documents.document(&name);
            let content = document.content("x").await.expect("memory takes it");
            document.write(&content, &WriteOptions::default()).await.expect("every name is a key");
            let page = documents.list(&ListFilter::prefix(text)).await.expect("memory answers");
            assert_eq!(page.documents.iter().map(|listed| &listed.name).collect::<Vec<_>>(), [&name]);
        }
        let foreign =
            [format!("heads/{text}"), format!("data/{text}"), format!("data/prod!/versions/{text}")];
        for name in foreign.iter().filter(|name| Key::parse(name).is_ok()) {
            put(&blobs, name, b"{").await;
        }
        drop(documents.list(&ListFilter::default()).await);
        drop(document(&documents).versions(None, 10).await);
        let report =
            documents.sweep(&SweepOptions::default().grace(Duration::ZERO)).await.expect("memory answers");
        assert_eq!(report.swept.versions, 0);
    });
}
