//! The entries of a history as blobs under a prefix of their own.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{
    Attributes, BlobStore, DeleteOptions, GetOptions, Key, ListOptions, Precondition, PutOptions,
};
use groundstate_statemgr::{
    Error, ErrorKind, History, HistoryEntry, HistoryId, Op, Result, Stored, Version, traced,
};

use super::name::{Digest, EntryName};
use crate::failure::failed;

/// What stands between the key of a state and the names of its entries.
const FOLDER: &str = ".history/";

/// The earlier snapshots of one state, as blobs beside it.
///
/// The entries of the state `KEY` are the blobs `KEY.history/TIME_SERIAL_DIGEST_LINEAGE.snapshot`. No layout of Terraform
/// or OpenTofu takes such a blob for a workspace: S3 looks for `PREFIX/NAME/KEY` exactly, Google for `*.tfstate` without a
/// further slash, Azure for `KEYenv:NAME` without a slash.
///
/// This client reads; [`WithHistory`](super::WithHistory) is what adds entries.
#[derive(Clone)]
pub struct BlobHistory {
    blobs: Arc<dyn BlobStore>,
    prefix: String,
}

impl BlobHistory {
    /// The history of the state at `key`.
    pub fn new(blobs: Arc<dyn BlobStore>, key: &Key) -> Self {
        Self { blobs, prefix: format!("{key}{FOLDER}") }
    }

    /// What the names of all its blobs begin with.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The entries and their sizes, the oldest first.
    pub(super) async fn entries(&self) -> Result<Vec<(EntryName, u64)>> {
        let (mut entries, mut page) = (Vec::new(), None);
        loop {
            let options = ListOptions::default().page(page);
            let listed = self.blobs.list(&self.prefix, &options).await;
            let listed = listed.map_err(|error| failed(Op::ListHistory, self, error))?;
            entries.extend(listed.blobs.iter().filter_map(|blob| {
                let name = EntryName::parse(blob.name.strip_prefix(&self.prefix)?)?;
                Some((name, blob.meta.size))
            }));
            page = listed.next;
            if page.is_none() {
                break;
            }
        }
        entries.sort();
        Ok(entries)
    }

    /// Stores an entry, once.
    pub(super) async fn keep(&self, name: &EntryName, bytes: Bytes) -> Result<(), groundstate_blobs::Error> {
        let options = PutOptions::expecting(Precondition::Absent)
            .attributes(Attributes::content_type("application/json"));
        self.blobs.put(&self.key(name)?, bytes, &options).await.map(drop)
    }

    pub(super) async fn remove(&self, name: &EntryName) -> Result<(), groundstate_blobs::Error> {
        self.blobs.delete(&self.key(name)?, &DeleteOptions::default()).await.map(drop)
    }

    fn key(&self, name: &EntryName) -> Result<Key, groundstate_blobs::Error> {
        Key::parse(&format!("{}{name}", self.prefix))
    }
}

impl fmt::Display for BlobHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.blobs, self.prefix)
    }
}

impl fmt::Debug for BlobHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlobHistory").field("blobs", &self.blobs).field("prefix", &self.prefix).finish()
    }
}

#[async_trait]
impl History for BlobHistory {
    async fn list(&self) -> Result<Vec<HistoryEntry>> {
        traced::backend(Op::ListHistory, self, None, self.list_kept()).await
    }

    async fn read(&self, id: &HistoryId) -> Result<Stored> {
        traced::backend(Op::ReadHistory, self, None, self.read_kept(id)).await
    }
}

impl BlobHistory {
    async fn list_kept(&self) -> Result<Vec<HistoryEntry>> {
        let entries = self.entries().await?;
        let listed = entries.into_iter().rev().map(|(name, size)| {
            HistoryEntry::new(HistoryId::new(&name.to_string()), name.kept_at, size)
                .serial(name.serial)
                .lineage(name.lineage)
        });
        Ok(listed.collect())
    }

    async fn read_kept(&self, id: &HistoryId) -> Result<Stored> {
        const OP: Op = Op::ReadHistory;
        let missing = || Error::new(ErrorKind::NotFound, OP, self).because(format!("there is no entry {id}"));
        let name = EntryName::parse(id.as_str()).ok_or_else(missing)?;
        let key = self.key(&name).map_err(|error| failed(OP, self, error))?;
        let blob = self.blobs.get(&key, &GetOptions::default()).await;
        let blob = blob.map_err(|error| failed(OP, self, error))?.ok_or_else(missing)?;
        if Digest::of(&blob.bytes) != name.digest {
            let why = format!("the entry {id} has not the content that its name tells, use another one");
            return Err(Error::new(ErrorKind::Corrupt, OP, self).because(why));
        }
        Ok(Stored::new(blob.bytes.to_vec(), Version::new(&blob.version().to_string())))
    }
}
