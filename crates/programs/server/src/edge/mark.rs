//! The mark of a store: the version of its layout, and the id by which a server knows it again.

use std::fmt;

use groundstate_blobs::sealed::{seal, unseal};
use groundstate_blobs::{
    BlobStore, BlobVersion, Error as BlobError, GetOptions, Key, ListOptions, Precondition, PutOptions,
};
use serde::{Deserialize, Serialize};

use crate::AUDIT_PREFIX;
use crate::app::DOCUMENTS;

/// The blob that has the mark.
pub(crate) const LAYOUT: &str = "groundstate/layout.json";

/// The layout of this server. It grows when an older server would misread what a newer one has written.
pub(super) const VERSION: u64 = 1;

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

/// What the blob says.
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

/// Whether anything lies in the store that servers keep.
pub(super) async fn has_data(store: &dyn BlobStore) -> Result<bool, BlobError> {
    for prefix in KEPT {
        let page = store.list(prefix, &ListOptions::default().limit(1)).await?;
        if !page.blobs.is_empty() || page.next.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
