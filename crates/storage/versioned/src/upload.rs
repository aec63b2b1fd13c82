//! Storing a content piece by piece.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::content::{Content, Inner};
use crate::digest::{Digests, Sha256};
use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::ids::UploadId;
use crate::op::Op;
use crate::record::{Body, Part};

/// The number of a part has six digits, and the list of them is read at once.
const MOST_PARTS: usize = 100_000;

/// A content that comes in pieces of any size. One part of it is in memory at a time.
///
/// Dropping it leaves the parts that are stored already for a sweep.
pub struct Upload {
    document: Document,
    digests: Digests,
    /// What is not stored yet, less than a part.
    rest: Vec<u8>,
    parts: Vec<Part>,
    id: Option<UploadId>,
}

impl Upload {
    pub(crate) fn new(document: Document) -> Self {
        Self { document, digests: Digests::default(), rest: Vec::new(), parts: Vec::new(), id: None }
    }

    /// The size so far.
    pub fn size(&self) -> u64 {
        self.digests.size
    }

    /// Takes the next piece, and stores each part that is complete.
    ///
    /// # Errors
    ///
    /// `TooLarge` for more than 100,000 parts, and those of the store. After an error the upload is of no use.
    pub async fn push(&mut self, bytes: impl Into<Bytes>) -> Result<()> {
        let mut bytes: Bytes = bytes.into();
        let part = self.document.settings().part_size();
        self.digests.update(&bytes);
        while self.rest.len() + bytes.len() > part {
            let piece = bytes.split_to(part - self.rest.len());
            if self.rest.is_empty() {
                self.store(piece).await?;
            } else {
                self.rest.extend_from_slice(&piece);
                let whole = std::mem::take(&mut self.rest);
                self.store(whole.into()).await?;
            }
        }
        self.rest.extend_from_slice(&bytes);
        Ok(())
    }

    /// Stores what is left, and gives the content.
    ///
    /// # Errors
    ///
    /// Those of [`push`](Self::push).
    pub async fn finish(mut self) -> Result<Content> {
        let rest = Bytes::from(std::mem::take(&mut self.rest));
        let is_small = self.parts.is_empty() && rest.len() <= self.document.settings().inline_limit();
        if !is_small {
            self.store(rest.clone()).await?;
        }
        let size = self.digests.size;
        let (sha256, md5) = self.digests.finish();
        let body = if is_small { Body::Inline(rest) } else { Body::Parts(self.parts) };
        let document = self.document.name().clone();
        Ok(Content(Arc::new(Inner { document, size, sha256, md5, upload: self.id, body })))
    }

    async fn store(&mut self, bytes: Bytes) -> Result<()> {
        if self.parts.len() == MOST_PARTS {
            let error = Error::new(ErrorKind::TooLarge, Op::Upload, self.document.place());
            return Err(error.because(format!("a content has at most {MOST_PARTS} parts")));
        }
        let id = match &self.id {
            Some(id) => id.clone(),
            None => self.id.insert(self.document.begin_upload().await?).clone(),
        };
        let part = Part { size: bytes.len() as u64, sha256: Sha256::of(&bytes) };
        let key = self.document.layout().part(&id, self.parts.len() + 1);
        self.document.put_once(Op::Upload, &key, bytes).await?;
        self.parts.push(part);
        Ok(())
    }
}

impl fmt::Debug for Upload {
    /// Shows sizes only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upload")
            .field("document", self.document.name())
            .field("size", &self.size())
            .field("parts", &self.parts.len())
            .finish_non_exhaustive()
    }
}
