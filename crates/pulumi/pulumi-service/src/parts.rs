//! Reading a blob part by part, as long as it stays the same.

use std::fmt;

use bytes::Bytes;
use groundstate_blobs::{BlobVersion, ErrorKind as BlobKind, GetOptions, Key};

use crate::error::{Error, Result};
use crate::op::Op;
use crate::stacks::Stacks;

/// Bytes that are read at a time.
const PART: u64 = 4 << 20;

/// Next part of a blob.
pub(crate) enum Part {
    /// The bytes that follow.
    Bytes(Bytes),
    /// There are no more.
    End,
    /// Another content was stored since the first part.
    Replaced,
    /// The blob is not there, or not any more.
    Gone,
}

/// Reader of one blob.
pub(crate) struct Parts<'a> {
    stacks: &'a Stacks,
    op: Op,
    place: &'a str,
    key: Key,
    /// The content that is read, and its size.
    version: Option<(BlobVersion, u64)>,
    at: u64,
}

impl<'a> Parts<'a> {
    /// Reads the blob of this key from its beginning.
    pub(crate) async fn open(stacks: &'a Stacks, op: Op, place: &'a str, key: &str) -> Result<Self> {
        let key = stacks.blob_key(op, place, key)?;
        Ok(Self { stacks, op, place, key, version: None, at: 0 })
    }

    pub(crate) async fn next(&mut self) -> Result<Part> {
        if self.version.as_ref().is_some_and(|(_, size)| self.at >= *size) {
            return Ok(Part::End);
        }
        let mut options = GetOptions::default().range(self.at..self.at.saturating_add(PART));
        if let Some((version, _)) = &self.version {
            options = options.if_match(version);
        }
        let blob = match self.stacks.blobs().get(&self.key, &options).await {
            Ok(Some(blob)) => blob,
            Ok(None) => return Ok(Part::Gone),
            Err(error) if error.kind() == BlobKind::PreconditionFailed => return Ok(Part::Replaced),
            Err(error) => return Err(Error::of_blobs(self.op, self.place, error)),
        };
        if blob.bytes.is_empty() {
            self.version = Some((blob.version().clone(), self.at));
            return Ok(if self.at < blob.meta.size { Part::Replaced } else { Part::End });
        }
        self.at = self.at.saturating_add(blob.bytes.len() as u64);
        self.version = Some((blob.version().clone(), blob.meta.size));
        Ok(Part::Bytes(blob.bytes))
    }
}

impl fmt::Debug for Parts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts").field("key", &self.key).field("at", &self.at).finish_non_exhaustive()
    }
}
