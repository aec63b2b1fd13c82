//! Stores, clocks and short forms.

use std::sync::Arc;

use groundstate_versioned::blobs::{BlobStore, Context, Key, MemoryBlobs, PutOptions};
use groundstate_versioned::common::{Clock, FixedClock, SequenceIds, Timestamp};
use groundstate_versioned::{Document, Documents, Name, Settings, Version, WriteOptions, WriteOutcome};

/// Documents in memory, and the clock that moves their time.
pub(crate) struct Bench {
    pub(crate) blobs: MemoryBlobs,
    pub(crate) clock: Arc<FixedClock>,
    pub(crate) documents: Documents,
}

pub(crate) fn bench() -> Bench {
    bench_with(Settings::default())
}

pub(crate) fn bench_with(settings: Settings) -> Bench {
    let clock = Arc::new(FixedClock::new(Timestamp::parse("2026-03-01T12:00:00Z").unwrap()));
    let blobs = MemoryBlobs::with_clock("tests", Arc::<FixedClock>::clone(&clock));
    let documents = open(Arc::new(blobs.clone()), &clock, settings);
    Bench { blobs, clock, documents }
}

pub(crate) fn open(store: Arc<dyn BlobStore>, clock: &Arc<FixedClock>, settings: Settings) -> Documents {
    let context = Context::new(
        Arc::<FixedClock>::clone(clock),
        Arc::<FixedClock>::clone(clock),
        Arc::new(SequenceIds::new()),
    );
    Documents::open(store, context, settings).unwrap()
}

impl Bench {
    pub(crate) fn document(&self, name: &str) -> Document {
        self.documents.document(&Name::parse(name).unwrap())
    }

    pub(crate) fn clock_time(&self) -> Timestamp {
        self.clock.now()
    }

    /// Replaces a blob by what nothing can read.
    pub(crate) async fn damage(&self, key: &str) {
        let key = Key::parse(key).unwrap();
        assert!(self.blobs.head(&key).await.unwrap().is_some(), "{key}");
        self.blobs.put(&key, "{".into(), &PutOptions::default()).await.unwrap();
    }
}

/// Writes without a lock.
pub(crate) async fn write(document: &Document, bytes: &'static str) -> Version {
    written(document, bytes, &WriteOptions::default()).await
}

pub(crate) async fn written(document: &Document, bytes: &'static str, options: &WriteOptions) -> Version {
    let content = document.content(bytes).await.unwrap();
    match document.write(&content, options).await.unwrap() {
        WriteOutcome::Written(version) => version,
        outcome => panic!("{outcome:?}"),
    }
}

pub(crate) async fn text(document: &Document) -> Option<String> {
    let reader = document.read().await.unwrap()?;
    Some(String::from_utf8(reader.collect(1 << 20).await.unwrap().to_vec()).unwrap())
}

/// A number that a campaign sets.
pub(crate) fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().map_or(otherwise, |text| text.parse().unwrap())
}
