//! Any store of the crate `object_store` as a blob store: one that the caller wrote, configured or wrapped.

mod listing;
mod translate;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, Error, ErrorKind, GetOptions,
    Key, Leases, ListOptions, Op, Page, Precondition, PutOptions, Result,
};
use object_store::path::Path;
use object_store::{GetRange, ObjectStore, ObjectStoreExt};

const NO_LEASES: &str = "stores of `object_store` have no leases";

/// A store of the crate `object_store`.
///
/// It has what that crate's interface has: no leases, no conditional deletions, lists that are sorted here. S3, Google Cloud
/// Storage and Azure have stores of their own that do more; this is for all others, and for wrappers. Give it a store without
/// retries and put [`Retry`](groundstate_blobs::Retry) around this one: the retries inside may take a write of their own for another client's.
///
/// ```
/// use std::sync::Arc;
///
/// use groundstate_blobs::{BlobStore, GetOptions, Key, Precondition, PutOptions};
/// use groundstate_blobs_cloud::ObjectStoreBlobs;
/// use object_store::memory::InMemory;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> groundstate_blobs::Result<()> {
/// let store = ObjectStoreBlobs::new(Arc::new(InMemory::new()));
/// let key = Key::parse("env:/dev/net.tfstate")?;
/// let version = store.put(&key, "{}".into(), &PutOptions::expecting(Precondition::Absent)).await?;
/// let blob = store.get(&key, &GetOptions::default()).await?.expect("it was written");
/// assert!(blob.version().same_as(&version));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ObjectStoreBlobs {
    inner: Arc<dyn ObjectStore>,
    can: BlobCapabilities,
    name: Arc<str>,
}

impl ObjectStoreBlobs {
    /// A store that writes under conditions, and keeps content types and metadata.
    pub fn new(inner: Arc<dyn ObjectStore>) -> Self {
        // What it calls itself may show how it was configured, so messages have the kind of store alone.
        let name = inner.to_string();
        let name = name.split(['(', ' ', ':', '{']).next().unwrap_or_default().into();
        let mut can = BlobCapabilities::none();
        can.conditional_put = true;
        can.ranges = true;
        can.attributes = true;
        can.nested_keys = true;
        Self { inner, can, name }
    }

    /// Sets whether it writes under conditions; a local file system of `object_store` does not.
    #[must_use]
    pub fn conditional_put(mut self, yes: bool) -> Self {
        self.can.conditional_put = yes;
        self
    }

    /// Sets whether it keeps content types and metadata; a local file system of `object_store` does not.
    #[must_use]
    pub fn attributes(mut self, yes: bool) -> Self {
        self.can.attributes = yes;
        self
    }

    /// Sets what messages call it.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    fn at(&self, key: &Key) -> String {
        format!("{self}/{key}")
    }

    /// The same name there; what cannot be kept as it is is refused.
    fn path(&self, op: Op, key: &Key) -> Result<Path> {
        let refused = || {
            Error::new(ErrorKind::InvalidKey, op, self.at(key))
                .because("a store of `object_store` cannot have a blob of this name")
        };
        let path = Path::parse(key.as_str()).map_err(|error| refused().with_source(error))?;
        if path.as_ref() == key.as_str() { Ok(path) } else { Err(refused()) }
    }

    fn needs(&self, can: bool, op: Op, key: &Key, what: &str) -> Result<()> {
        if can { Ok(()) } else { Err(Error::unsupported(op, self.at(key)).because(what)) }
    }

    /// The description, under the conditions that are asked for.
    async fn described(
        &self,
        op: Op,
        key: &Key,
        path: &Path,
        asked: object_store::GetOptions,
    ) -> Result<Option<BlobMeta>> {
        let options = object_store::GetOptions { head: true, ..asked };
        match self.inner.get_opts(path, options).await {
            Ok(found) => Ok(Some(translate::meta(&found.meta, &found.attributes))),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(translate::error(op, self.at(key), error, false)),
        }
    }
}

impl fmt::Display for ObjectStoreBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

impl fmt::Debug for ObjectStoreBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectStoreBlobs")
            .field("name", &self.name)
            .field("can", &self.can)
            .finish_non_exhaustive()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl BlobStore for ObjectStoreBlobs {
    fn capabilities(&self) -> BlobCapabilities {
        self.can
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        const OP: Op = Op::Read;
        self.needs(options.lease.is_none(), OP, key, NO_LEASES)?;
        let path = self.path(OP, key)?;
        let mut asked = object_store::GetOptions {
            if_match: options.if_match.as_ref().map(translate::e_tag),
            if_none_match: options.if_none_match.as_ref().map(translate::e_tag),
            ..object_store::GetOptions::default()
        };
        if let Some(range) = &options.range {
            // What lies behind the end is no error here, so the size comes first.
            let Some(meta) = self.described(OP, key, &path, asked.clone()).await? else { return Ok(None) };
            let end = range.end.min(meta.size);
            if range.start >= end {
                return Ok(Some(Blob::part(Bytes::new(), range.start.min(meta.size), meta)));
            }
            asked.range = Some(GetRange::Bounded(range.start..end));
            // Both answers are about one content.
            asked.if_match = asked.if_match.or_else(|| meta.version.e_tag().map(str::to_owned));
        }
        let found = match self.inner.get_opts(&path, asked).await {
            Ok(found) => found,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(translate::error(OP, self.at(key), error, false)),
        };
        let (meta, start) = (translate::meta(&found.meta, &found.attributes), found.range.start);
        let bytes = found.bytes().await.map_err(|error| translate::error(OP, self.at(key), error, false))?;
        Ok(Some(if options.range.is_some() {
            Blob::part(bytes, start, meta)
        } else {
            Blob::whole(bytes, meta)
        }))
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        const OP: Op = Op::LookAt;
        self.described(OP, key, &self.path(OP, key)?, object_store::GetOptions::default()).await
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        const OP: Op = Op::Write;
        let PutOptions { precondition, lease, attributes, .. } = options;
        self.needs(lease.is_none(), OP, key, NO_LEASES)?;
        let conditional = *precondition != Precondition::Any;
        self.needs(
            !conditional || self.can.conditional_put,
            OP,
            key,
            "it is said to write without conditions",
        )?;
        self.needs(
            attributes.is_empty() || self.can.attributes,
            OP,
            key,
            "it is said to keep neither content types nor metadata",
        )?;
        let how = object_store::PutOptions {
            mode: translate::mode(precondition),
            attributes: translate::attributes(attributes),
            ..object_store::PutOptions::default()
        };
        let written = self.inner.put_opts(&self.path(OP, key)?, bytes.into(), how).await;
        let written = written.map_err(|error| translate::error(OP, self.at(key), error, true))?;
        Ok(translate::version(written.e_tag.as_deref(), written.version.as_deref()))
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        const OP: Op = Op::Delete;
        self.needs(options.lease.is_none(), OP, key, NO_LEASES)?;
        options.check(self.at(key))?;
        let is_unconditional = options.precondition == Precondition::Any;
        self.needs(is_unconditional, OP, key, "stores of `object_store` delete without conditions")?;
        match self.inner.delete(&self.path(OP, key)?).await {
            Ok(()) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(translate::error(OP, self.at(key), error, true)),
        }
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        self.page(prefix, options).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        None
    }
}
