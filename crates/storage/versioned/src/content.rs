//! Contents on their way into a document.

use std::fmt;
use std::sync::Arc;

use crate::digest::{Md5, Sha256};
use crate::ids::UploadId;
use crate::name::Name;
use crate::record::Body;

/// A content that is ready to be written, once or several times, to the document whose it is.
///
/// A small one is in memory and becomes a part of the version's record. The parts of a larger one are stored already; until a
/// version has them they are orphans, which a sweep removes some time later.
#[derive(Clone)]
pub struct Content(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) document: Name,
    pub(crate) size: u64,
    pub(crate) sha256: Sha256,
    pub(crate) md5: Md5,
    pub(crate) upload: Option<UploadId>,
    pub(crate) body: Body,
}

impl Content {
    /// The size in bytes.
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// The SHA-256.
    pub fn sha256(&self) -> Sha256 {
        self.0.sha256
    }

    /// The MD5.
    pub fn md5(&self) -> Md5 {
        self.0.md5
    }
}

impl fmt::Debug for Content {
    /// Shows the size and the digest only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { document, size, sha256, .. } = &*self.0;
        f.debug_struct("Content")
            .field("document", document)
            .field("size", size)
            .field("sha256", sha256)
            .finish_non_exhaustive()
    }
}
