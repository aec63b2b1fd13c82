//! Reading a content part by part.

use std::fmt;

use bytes::{Bytes, BytesMut};
use groundstate_blobs::GetOptions;

use crate::digest::{Digests, Sha256};
use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::ids::UploadId;
use crate::layout::RecordKey;
use crate::op::Op;
use crate::record::{self, Body, Part};
use crate::version::Version;

/// The content of a version, which is read part by part; each part is checked before it is given.
pub struct Reader {
    document: Document,
    version: Version,
    rest: Rest,
    digests: Digests,
}

enum Rest {
    Inline(Bytes),
    Parts { upload: UploadId, parts: Vec<Part>, at: usize },
    Done,
}

impl Reader {
    pub(crate) async fn open(document: &Document, version: &Version) -> Result<Self> {
        let (recorded, body) = read_record(document, version).await?;
        let rest = match (body, recorded.upload) {
            (Body::Inline(bytes), _) => Rest::Inline(bytes),
            (Body::Parts(parts), Some(upload)) => Rest::Parts { upload, parts, at: 0 },
            (Body::Parts(_), None) => return Err(damaged(document, version, "its record names no upload")),
        };
        Ok(Self { document: document.clone(), version: version.clone(), rest, digests: Digests::default() })
    }

    /// The version whose content this is.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// The next part; none behind the last one. The last one is only given if the whole content is as it was written.
    ///
    /// # Errors
    ///
    /// `Corrupt` for a part that is damaged or missing, `NotKept` if the version was removed meanwhile, and those of the store.
    pub async fn next_part(&mut self) -> Result<Option<Bytes>> {
        let (bytes, is_last) = match &mut self.rest {
            Rest::Done => return Ok(None),
            Rest::Inline(bytes) => (std::mem::take(bytes), true),
            Rest::Parts { upload, parts, at } => {
                let Some(part) = parts.get(*at) else { return Ok(None) };
                *at += 1;
                let (at, part, upload) = (*at, part.clone(), upload.clone());
                let is_last = at == parts.len();
                (self.part(&upload, at, &part).await?, is_last)
            }
        };
        self.digests.update(&bytes);
        if is_last {
            self.rest = Rest::Done;
            let digests = std::mem::take(&mut self.digests);
            if digests.size != self.version.size || digests.finish().0 != self.version.sha256 {
                return Err(damaged(
                    &self.document,
                    &self.version,
                    "its content is not the one that was written",
                ));
            }
        }
        Ok(Some(bytes))
    }

    /// All of it that is not read yet.
    ///
    /// # Errors
    ///
    /// `TooLarge` for more than `limit` bytes, and those of [`next_part`](Self::next_part).
    pub async fn collect(mut self, limit: usize) -> Result<Bytes> {
        if self.version.size > limit as u64 {
            let error = Error::new(ErrorKind::TooLarge, Op::Read, self.document.place());
            let size = self.version.size;
            return Err(error.because(format!("the content has {size} bytes, and {limit} are allowed")));
        }
        let Some(first) = self.next_part().await? else { return Ok(Bytes::new()) };
        let Some(second) = self.next_part().await? else { return Ok(first) };
        let mut all = BytesMut::from(first);
        all.extend_from_slice(&second);
        while let Some(part) = self.next_part().await? {
            all.extend_from_slice(&part);
        }
        Ok(all.freeze())
    }

    async fn part(&self, upload: &UploadId, at: usize, part: &Part) -> Result<Bytes> {
        let key = self.document.key(Op::Read, &self.document.layout().part(upload, at))?;
        let blob = self.document.store().get(&key, &GetOptions::default()).await;
        let Some(blob) = blob.map_err(|error| self.document.failed(Op::Read, error))? else {
            return Err(missing(&self.document, &self.version, &format!("part {at}")).await);
        };
        if blob.bytes.len() as u64 != part.size || Sha256::of(&blob.bytes) != part.sha256 {
            return Err(damaged(&self.document, &self.version, &format!("part {at} is damaged")));
        }
        Ok(blob.bytes)
    }
}

/// Reads the record of a version, and checks that it is of that version.
pub(crate) async fn read_record(document: &Document, version: &Version) -> Result<(Version, Body)> {
    let key = document.key(Op::Read, &document.layout().record(&RecordKey::of(version)))?;
    let blob = document.store().get(&key, &GetOptions::default()).await;
    let Some(blob) = blob.map_err(|error| document.failed(Op::Read, error))? else {
        return Err(missing(document, version, "its record").await);
    };
    let (recorded, body) = record::read(&blob.bytes, document.name())
        .map_err(|problem| damaged(document, version, &format!("its record is damaged: {problem}")))?;
    if recorded.id != version.id || recorded.sha256 != version.sha256 || recorded.size != version.size {
        return Err(damaged(document, version, "its record is of another version"));
    }
    Ok((recorded, body))
}

fn damaged(document: &Document, version: &Version, problem: &str) -> Error {
    let error = Error::new(ErrorKind::Corrupt, Op::Read, document.place());
    error.because(format!("version {}: {problem}", version.number)).next_step("restore another version")
}

/// The error for something that is not there: the version was removed since, or it is damaged.
async fn missing(document: &Document, version: &Version, what: &str) -> Error {
    match document.head().await {
        Ok(head) if !head.keeps(version.number) => {
            let error = Error::new(ErrorKind::NotKept, Op::Read, document.place());
            error.because(format!("version {} was removed while it was read", version.number))
        }
        Ok(_) => damaged(document, version, &format!("{what} is missing")),
        Err(error) => error,
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("version", &self.version).finish_non_exhaustive()
    }
}
