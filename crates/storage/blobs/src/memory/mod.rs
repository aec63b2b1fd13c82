//! The reference store: blobs in memory, with everything that a store can have.

mod contents;
mod leases;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_common::{Clock, FixedClock, Timestamp};

use crate::blob::{Blob, BlobMeta, Page};
use crate::capabilities::BlobCapabilities;
use crate::error::{Error, ErrorKind, Result};
use crate::key::Key;
use crate::lease::Leases;
use crate::op::Op;
use crate::options::{DeleteOptions, GetOptions, ListOptions, Precondition, PutOptions};
use crate::store::BlobStore;
use crate::version::BlobVersion;

use contents::{Contents, Stored};

/// A client of a container in memory; clones are further clients of the same one.
///
/// ```
/// use groundstate_blobs::{BlobStore, GetOptions, Key, MemoryBlobs, Precondition, PutOptions};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> groundstate_blobs::Result<()> {
/// let (mine, key) = (MemoryBlobs::new("tests"), Key::parse("a")?);
/// let yours = mine.clone();
/// let once = PutOptions::expecting(Precondition::Absent);
/// let version = mine.put(&key, "1".into(), &once).await?;
/// let blob = yours.get(&key, &GetOptions::default()).await?.expect("it was just written");
/// assert_eq!((&blob.bytes[..], blob.version()), (&b"1"[..], &version));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct MemoryBlobs {
    name: Arc<str>,
    can: BlobCapabilities,
    clock: Arc<dyn Clock>,
    contents: Arc<Mutex<Contents>>,
}

impl MemoryBlobs {
    /// An empty container that can do everything, at a time that stands still.
    pub fn new(name: &str) -> Self {
        Self::with_clock(name, Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH)))
    }

    /// An empty container that can do everything; the clock ends leases and dates writes.
    pub fn with_clock(name: &str, clock: Arc<dyn Clock>) -> Self {
        Self { name: name.into(), can: BlobCapabilities::all(), clock, contents: Arc::default() }
    }

    /// Does without what these capabilities lack, as another service would.
    #[must_use]
    pub fn limited_to(mut self, capabilities: BlobCapabilities) -> Self {
        self.can = capabilities;
        self
    }

    /// The snapshots that were taken of a blob, the oldest first, with their names.
    pub fn snapshots(&self, key: &Key) -> Vec<(String, Bytes)> {
        self.contents().snapshots(key)
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        // Nothing that can panic runs while the lock is held, so what is inside is whole.
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        contents.expire(self.clock.now());
        contents
    }

    fn at(&self, key: &Key) -> String {
        format!("{self}/{key}")
    }

    fn needs(&self, can: bool, op: Op, key: &Key, what: &str) -> Result<()> {
        if can { Ok(()) } else { Err(Error::unsupported(op, self.at(key)).because(what)) }
    }

    fn meta(&self, stored: &Stored) -> BlobMeta {
        let mut meta = stored.meta.clone();
        meta.lease = self.can.leases.then(|| stored.lease_state());
        if !self.can.generations {
            meta.version = meta.version.without_generation();
        }
        meta
    }

    /// Refuses what the condition does not allow.
    fn check(&self, op: Op, key: &Key, condition: &Precondition, stored: Option<&Stored>) -> Result<()> {
        if condition.is_met_by(stored.map(|stored| &stored.meta.version)) {
            return Ok(());
        }
        let found = stored.map(|stored| Blob::whole(stored.bytes.clone(), self.meta(stored)));
        let there = found.as_ref().map_or_else(|| "nothing".to_owned(), |blob| blob.version().to_string());
        Err(Error::new(ErrorKind::PreconditionFailed, op, self.at(key))
            .because(format!("{there} is stored where {condition} was expected"))
            .with_found(found))
    }
}

impl fmt::Display for MemoryBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "memory://{}", self.name)
    }
}

const NO_CONDITIONS: &str = "the store knows no conditions";
const NO_LEASES: &str = "the store has no leases";
const NO_ATTRIBUTES: &str = "the store keeps no content types and no metadata";

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl BlobStore for MemoryBlobs {
    fn capabilities(&self) -> BlobCapabilities {
        self.can
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        self.needs(options.lease.is_none() || self.can.leases, Op::Read, key, NO_LEASES)?;
        let contents = self.contents();
        let Some(stored) = contents.get(key) else { return Ok(None) };
        stored.check_reader(options.lease.as_ref(), || self.at(key))?;
        let meta = self.meta(stored);
        if let Some(expected) = &options.if_match {
            self.check(Op::Read, key, &Precondition::Version(expected.clone()), Some(stored))?;
        }
        if options.if_none_match.as_ref().is_some_and(|known| known.same_as(&meta.version)) {
            return Err(Error::new(ErrorKind::NotModified, Op::Read, self.at(key)));
        }
        let Some(range) = &options.range else { return Ok(Some(Blob::whole(stored.bytes.clone(), meta))) };
        let (start, bytes) = slice(&stored.bytes, range);
        Ok(Some(Blob::part(bytes, start, meta)))
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        Ok(self.contents().get(key).map(|stored| self.meta(stored)))
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        let PutOptions { precondition, lease, attributes, role: _, contended: _ } = options;
        self.needs(
            *precondition == Precondition::Any || self.can.conditional_put,
            Op::Write,
            key,
            NO_CONDITIONS,
        )?;
        self.needs(lease.is_none() || self.can.leases, Op::Write, key, NO_LEASES)?;
        self.needs(attributes.is_empty() || self.can.attributes, Op::Write, key, NO_ATTRIBUTES)?;
        let mut contents = self.contents();
        let stored = contents.get(key);
        Stored::check_writer(Op::Write, stored, lease.as_ref(), || self.at(key))?;
        self.check(Op::Write, key, precondition, stored)?;
        let stored = contents.put(key, bytes, attributes.clone(), self.clock.now());
        Ok(self.meta(stored).version)
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        options.check(self.at(key))?;
        let DeleteOptions { precondition, lease } = options;
        let needs_more = *precondition != Precondition::Any && !self.can.conditional_delete;
        self.needs(!needs_more, Op::Delete, key, NO_CONDITIONS)?;
        self.needs(lease.is_none() || self.can.leases, Op::Delete, key, NO_LEASES)?;
        let mut contents = self.contents();
        let Some(stored) = contents.get(key) else { return Ok(false) };
        Stored::check_writer(Op::Delete, Some(stored), lease.as_ref(), || self.at(key))?;
        self.check(Op::Delete, key, precondition, Some(stored))?;
        Ok(contents.remove(key))
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        Ok(self.contents().list(prefix, options, |stored| {
            let meta = self.meta(stored);
            BlobMeta { attributes: Default::default(), ..meta }
        }))
    }

    fn leases(&self) -> Option<&dyn Leases> {
        self.can.leases.then_some(self as &dyn Leases)
    }
}

/// The part of `bytes` that lies in `range`, and where it begins.
fn slice(bytes: &Bytes, range: &std::ops::Range<u64>) -> (u64, Bytes) {
    let end = bytes.len().min(usize::try_from(range.end).unwrap_or(usize::MAX));
    let start = end.min(usize::try_from(range.start).unwrap_or(usize::MAX));
    (start as u64, bytes.slice(start..end))
}
