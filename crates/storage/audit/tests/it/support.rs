//! Logs in memory and what tests do with them.

use std::sync::Arc;
use std::time::Duration;

use groundstate_audit::{AuditLog, Event, Location, Outcome, Recorder, Report, verify};
use groundstate_blobs::{
    BlobStore, Context, DeleteOptions, GetOptions, Key, ListOptions, MemoryBlobs, PutOptions,
};
use groundstate_common::{OsIds, Sleeper, SystemClock};

pub(crate) type Outcomes<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Real time, which tokio lets pass.
#[derive(Debug)]
pub(crate) struct TokioSleeper;

impl Sleeper for TokioSleeper {
    fn sleep<'life0, 'async_trait>(
        &'life0 self,
        duration: Duration,
    ) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        // Tests wait for conditions, so a tenth of the time will do.
        Box::pin(tokio::time::sleep(duration / 10))
    }
}

pub(crate) fn context() -> Context {
    Context::new(Arc::new(SystemClock), Arc::new(TokioSleeper), Arc::new(OsIds))
}

pub(crate) fn location(store: &Arc<dyn BlobStore>) -> Location {
    Location::new(Arc::clone(store), "audit/").unwrap()
}

pub(crate) fn memory() -> Arc<dyn BlobStore> {
    Arc::new(MemoryBlobs::new("tests"))
}

/// A log whose segments hold some entries each.
pub(crate) fn open(store: &Arc<dyn BlobStore>, node: &str) -> (AuditLog, Recorder) {
    let (log, recorder) = AuditLog::open(location(store), node, context()).unwrap();
    (log, recorder.segment_bytes(1500).interval(Duration::from_millis(20)))
}

pub(crate) fn event(number: u64) -> Event {
    Event::new("token:ci", "state.write", format!("web/state-{number}"), Outcome::Done)
        .reason(format!("serial {number}"))
}

/// Records this many events, one batch each, and ends.
pub(crate) async fn record(store: &Arc<dyn BlobStore>, node: &str, count: u64) {
    let (log, recorder) = open(store, node);
    let work = async move {
        for number in 1..=count {
            log.record(event(number)).await.unwrap();
        }
    };
    tokio::join!(work, recorder.run());
}

pub(crate) async fn verified(store: &Arc<dyn BlobStore>) -> Report {
    verify(&location(store), None).await.unwrap()
}

/// The names of all objects that begin so, in order.
pub(crate) async fn names(store: &Arc<dyn BlobStore>, prefix: &str) -> Vec<String> {
    let (mut names, mut options) = (Vec::new(), ListOptions::default());
    loop {
        let page = store.list(prefix, &options).await.unwrap();
        names.extend(page.blobs.into_iter().map(|blob| blob.name));
        match page.next {
            Some(next) => options.page = Some(next),
            None => return names,
        }
    }
}

pub(crate) async fn read(store: &Arc<dyn BlobStore>, name: &str) -> String {
    let blob = store.get(&Key::parse(name).unwrap(), &GetOptions::default()).await.unwrap().unwrap();
    String::from_utf8(blob.bytes.to_vec()).unwrap()
}

pub(crate) async fn write(store: &Arc<dyn BlobStore>, name: &str, text: impl Into<Vec<u8>>) {
    let bytes: Vec<u8> = text.into();
    store.put(&Key::parse(name).unwrap(), bytes.into(), &PutOptions::default()).await.unwrap();
}

pub(crate) async fn delete(store: &Arc<dyn BlobStore>, name: &str) {
    assert!(store.delete(&Key::parse(name).unwrap(), &DeleteOptions::default()).await.unwrap());
}

/// Another store with the same objects.
pub(crate) async fn copy(store: &Arc<dyn BlobStore>) -> Arc<dyn BlobStore> {
    let other = memory();
    for name in names(store, "").await {
        write(&other, &name, read(store, &name).await).await;
    }
    other
}
