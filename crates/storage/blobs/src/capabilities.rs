//! What a store can do beyond reading, replacing, deleting and listing.

/// What a store can do. What it cannot is answered with [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported), never
/// with a quiet success.
///
/// ```
/// use groundstate_blobs::{BlobStore, MemoryBlobs};
///
/// let can = MemoryBlobs::new("tests").capabilities();
/// assert!(can.conditional_put && can.leases);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct BlobCapabilities {
    /// `put` honours [`Precondition::Absent`](crate::Precondition) and `Precondition::Version`, check and write being one.
    pub conditional_put: bool,
    /// `delete` honours `Precondition::Version`, check and deletion being one. Where it is false, `delete` compares first
    /// and deletes then, and a write between the two is lost.
    pub conditional_delete: bool,
    /// A read of a range transfers that range only.
    pub ranges: bool,
    /// Content types and metadata are kept.
    pub attributes: bool,
    /// Versions have a [`generation`](crate::BlobVersion::generation).
    pub generations: bool,
    /// `delete` without a condition says whether there was anything. Where it is false, it says `true` always.
    pub tells_deletions: bool,
    /// A blob may have the name of another one and a slash behind it, such as `a` and `a/b`.
    pub nested_keys: bool,
    /// [`BlobStore::leases`](crate::BlobStore::leases) gives something.
    pub leases: bool,
}

impl BlobCapabilities {
    /// Reading, replacing, deleting and listing, nothing else.
    pub const fn none() -> Self {
        Self {
            conditional_put: false,
            conditional_delete: false,
            ranges: false,
            attributes: false,
            generations: false,
            tells_deletions: false,
            nested_keys: false,
            leases: false,
        }
    }

    /// Everything there is.
    pub const fn all() -> Self {
        Self {
            conditional_put: true,
            conditional_delete: true,
            ranges: true,
            attributes: true,
            generations: true,
            tells_deletions: true,
            nested_keys: true,
            leases: true,
        }
    }
}
