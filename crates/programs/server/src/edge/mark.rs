//! The mark of a store: the version of its layout, and the id by which a server knows it again.

use std::fmt;

use groundstate_blobs::sealed::{seal, unseal};
use groundstate_blobs::{
    BlobStore, BlobVersion, Error as BlobError, ErrorKind, GetOptions, Key, ListOptions, Precondition,
    PutOptions,
};
use serde::{Deserialize, Serialize};

use crate::AUDIT_PREFIX;
use crate::app::DOCUMENTS;

/// The blob that has the mark.
pub(crate) const LAYOUT: &str = "groundstate/layout.json";

/// The layout of this server. It grows when an older server would misread what a newer one has written: in layout 2 documents are encrypted.
pub(super) const VERSION: u64 = 2;
/// The layout of a store that is not encrypted.
pub(super) const READABLE: u64 = 1;

/// Where a server keeps what is not made again when it is lost.
const KEPT: [&str; 3] = [DOCUMENTS, AUDIT_PREFIX, "auth/tokens/"];

/// The id of a store, which no other store has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StoreId(String);

impl StoreId {
    pub(super) fn new(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Content of the blob.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Mark {
    pub(super) layout: u64,
    /// Stores of earlier releases have none until a server of this one starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<StoreId>,
}

/// A mark as it is stored.
#[derive(Debug)]
pub(super) struct StoredMark {
    /// None if the blob is damaged.
    pub(super) mark: Option<Mark>,
    pub(super) version: BlobVersion,
}

impl Mark {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let unsealed = unseal(bytes).ok()?;
        let mark: Self = serde_json::from_slice(unsealed.as_deref().unwrap_or(bytes)).ok()?;
        // A mark with an id was written with a checksum.
        (mark.id.is_none() || unsealed.is_some()).then_some(mark)
    }

    pub(super) fn key() -> Result<Key, BlobError> {
        Key::parse(LAYOUT)
    }

    /// The mark of a store; none if it has none.
    pub(super) async fn read(store: &dyn BlobStore) -> Result<Option<StoredMark>, BlobError> {
        let found = store.get(&Self::key()?, &GetOptions::default()).await?;
        Ok(found.map(|blob| StoredMark { mark: Self::parse(&blob.bytes), version: blob.meta.version }))
    }

    /// Puts a mark in the place of what was read.
    pub(super) async fn write(
        &self,
        store: &dyn BlobStore,
        instead_of: Option<&BlobVersion>,
    ) -> Result<(), BlobError> {
        let text = seal(&serde_json::to_string(self).unwrap_or_default());
        let options = PutOptions::expecting(Precondition::of(instead_of));
        store.put(&Self::key()?, text.into(), &options).await.map(drop)
    }
}

/// Returns `true` if the mark says that the store is encrypted.
pub(crate) async fn says_encrypted(store: &dyn BlobStore) -> Result<bool, BlobError> {
    let mark = Mark::read(store).await?.and_then(|stored| stored.mark);
    Ok(mark.is_some_and(|mark| mark.layout > READABLE))
}

/// Marks a store as encrypted, so that servers of earlier releases leave it alone, and a lost keyring is noticed.
pub(crate) async fn mark_encrypted(store: &dyn BlobStore) -> Result<(), BlobError> {
    let Some(StoredMark { mark: Some(mark), version }) = Mark::read(store).await? else { return Ok(()) };
    if mark.layout > READABLE {
        return Ok(());
    }
    match (Mark { layout: VERSION, ..mark }).write(store, Some(&version)).await {
        // Another node was quicker.
        Err(error) if error.kind() == ErrorKind::PreconditionFailed => Ok(()),
        written => written,
    }
}

/// Returns `true` if the store holds anything that servers keep.
pub(super) async fn has_data(store: &dyn BlobStore) -> Result<bool, BlobError> {
    for prefix in KEPT {
        let page = store.list(prefix, &ListOptions::default().limit(1)).await?;
        if !page.blobs.is_empty() || page.next.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
