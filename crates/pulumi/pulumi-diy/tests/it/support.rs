//! Buckets in memory and in directories.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use groundstate_blobs_fs::FileBlobs;
use groundstate_common::{Clock, FixedClock, SequenceIds, Timestamp};
use groundstate_pulumi_diy::blobs::{
    self, Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, Context, DeleteOptions, GetOptions, Key,
    Leases, ListOptions, Listed, MemoryBlobs, Page, PutOptions,
};
use groundstate_pulumi_diy::{Backend, Options, Result, StackRef};

/// A bucket with the time it has.
pub(crate) struct Bucket {
    pub(crate) store: Arc<dyn BlobStore>,
    pub(crate) clock: Arc<FixedClock>,
    _folder: Option<tempfile::TempDir>,
}

impl Bucket {
    /// An empty one in memory.
    pub(crate) fn memory() -> Self {
        let clock = Arc::new(FixedClock::new(Timestamp::from_unix(1_800_000_000, 0).unwrap()));
        let times: Arc<FixedClock> = Arc::clone(&clock);
        Self { store: Arc::new(MemoryBlobs::with_clock("bucket", times)), clock, _folder: None }
    }

    /// An empty one in a directory.
    pub(crate) fn directory() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(FileBlobs::open(folder.path()).unwrap());
        Self { store, _folder: Some(folder), ..Self::memory() }
    }

    /// One of each.
    pub(crate) fn both() -> [Self; 2] {
        [Self::memory(), Self::directory()]
    }

    /// The same bucket by another client.
    pub(crate) fn through(&self, store: Arc<dyn BlobStore>) -> Self {
        Self { store, clock: Arc::clone(&self.clock), _folder: None }
    }

    pub(crate) fn context(&self) -> Context {
        let clock: Arc<FixedClock> = Arc::clone(&self.clock);
        Context::new(clock, Arc::clone(&self.clock) as _, Arc::new(SequenceIds::new()))
    }

    pub(crate) async fn open(&self) -> Backend {
        self.open_with(Options::default()).await.unwrap()
    }

    pub(crate) async fn open_with(&self, options: Options) -> Result<Backend> {
        Backend::open(Arc::clone(&self.store), self.context(), options).await
    }

    pub(crate) async fn put(&self, key: &str, text: impl Into<Vec<u8>>) {
        let key = Key::parse(key).unwrap();
        self.store.put(&key, text.into().into(), &PutOptions::default()).await.unwrap();
    }

    pub(crate) async fn text(&self, key: &str) -> Option<String> {
        let blob = self.store.get(&Key::parse(key).unwrap(), &GetOptions::default()).await.unwrap();
        blob.map(|blob| String::from_utf8_lossy(&blob.bytes).into_owned())
    }

    pub(crate) async fn bytes(&self, key: &str) -> Option<Vec<u8>> {
        let blob = self.store.get(&Key::parse(key).unwrap(), &GetOptions::default()).await.unwrap();
        blob.map(|blob| blob.bytes.to_vec())
    }

    /// The clock of the bucket.
    pub(crate) fn time(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock) as _
    }

    /// Lets a second pass.
    pub(crate) fn tick(&self) {
        self.clock.advance(std::time::Duration::from_secs(1));
    }

    /// The names of all objects.
    pub(crate) async fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut options = ListOptions::default();
        loop {
            let page = self.store.list("", &options).await.unwrap();
            names.extend(page.blobs.into_iter().map(|listed| listed.name));
            match page.next {
                Some(next) => options = options.page(Some(next)),
                None => return names,
            }
        }
    }
}

/// `organization/p/NAME`.
pub(crate) fn stack(name: &str) -> StackRef {
    StackRef::parse(&format!("organization/p/{name}"), None).unwrap()
}

/// The checkpoint of `organization/p/s` with the stack's own resource, which says `note`.
pub(crate) fn document(note: &str) -> String {
    let urn = "urn:pulumi:s::p::pulumi:pulumi:Stack::p-s";
    let root = format!(
        r#"{{"urn":"{urn}","custom":false,"type":"pulumi:pulumi:Stack","outputs":{{"note":"{note}"}}}}"#
    );
    let child = "urn:pulumi:s::p::pulumi:pulumi:Stack$a:b:C::c";
    let child = format!(r#"{{"urn":"{child}","custom":false,"type":"a:b:C","parent":"{urn}"}}"#);
    let manifest = r#"{"time":"2026-01-02T03:04:05.6Z","magic":"","version":""}"#;
    format!(
        r#"{{"version":3,"checkpoint":{{"stack":"organization/p/s","latest":{{"manifest":{manifest},"resources":[{root},{child}],"metadata":{{}}}}}}}}"#
    )
}

/// Gives way to other tasks for a moment; the waits of many contenders are short here.
#[derive(Debug)]
struct ShortWaits;

impl groundstate_common::Sleeper for ShortWaits {
    fn sleep<'life0, 'async_trait>(
        &'life0 self,
        wait: std::time::Duration,
    ) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(tokio::time::sleep(wait / 100))
    }
}

/// What one of many contenders has: the real time, and ids that begin at `first`.
pub(crate) fn contender(first: u64) -> Context {
    let clock = Arc::new(groundstate_common::SystemClock);
    Context::new(clock, Arc::new(ShortWaits), Arc::new(SequenceIds::starting_at(first)))
}

/// A bucket with objects whose names no client of ours could have written.
#[derive(Debug)]
pub(crate) struct WithNames(MemoryBlobs, Vec<&'static str>);

impl WithNames {
    pub(crate) fn new(names: Vec<&'static str>) -> Self {
        Self(MemoryBlobs::new("bucket"), names)
    }
}

impl fmt::Display for WithNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[async_trait]
impl BlobStore for WithNames {
    fn capabilities(&self) -> BlobCapabilities {
        self.0.capabilities()
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> blobs::Result<Option<Blob>> {
        self.0.get(key, options).await
    }

    async fn head(&self, key: &Key) -> blobs::Result<Option<BlobMeta>> {
        self.0.head(key).await
    }

    async fn put(&self, key: &Key, bytes: bytes::Bytes, options: &PutOptions) -> blobs::Result<BlobVersion> {
        self.0.put(key, bytes, options).await
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> blobs::Result<bool> {
        self.0.delete(key, options).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> blobs::Result<Page> {
        let mut page = self.0.list(prefix, options).await?;
        for name in self.1.iter().filter(|name| name.starts_with(prefix)) {
            match name[prefix.len()..].find('/').filter(|_| options.delimiter) {
                Some(slash) => page.prefixes.push(name[..=prefix.len() + slash].to_owned()),
                None => page.blobs.push(Listed::new(*name, BlobMeta::new(BlobVersion::default(), 1))),
            }
        }
        Ok(page)
    }

    fn leases(&self) -> Option<&dyn Leases> {
        None
    }
}
