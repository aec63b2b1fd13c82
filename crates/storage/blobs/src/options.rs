//! What a caller asks of an operation beyond doing it.

use std::fmt;
use std::ops::Range;

use crate::Op;
use crate::blob::{Attributes, PageToken};
use crate::error::{Error, ErrorKind, Result};
use crate::lease::LeaseId;
use crate::version::BlobVersion;

/// What must be stored for an operation to be carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Precondition {
    /// Anything, or nothing.
    #[default]
    Any,
    /// No blob has the key.
    Absent,
    /// This content.
    Version(BlobVersion),
}

impl Precondition {
    /// The content that was read, or its absence.
    pub fn of(version: Option<&BlobVersion>) -> Self {
        version.map_or(Self::Absent, |version| Self::Version(version.clone()))
    }

    /// Whether `stored` fulfils it.
    pub fn is_met_by(&self, stored: Option<&BlobVersion>) -> bool {
        match (self, stored) {
            (Self::Any, _) | (Self::Absent, None) => true,
            (Self::Version(expected), Some(stored)) => expected.same_as(stored),
            (Self::Absent, Some(_)) | (Self::Version(_), None) => false,
        }
    }
}

impl fmt::Display for Precondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("anything"),
            Self::Absent => f.write_str("nothing"),
            Self::Version(version) => version.fmt(f),
        }
    }
}

/// What a blob is for. Terraform's backends treat states and locks differently, and so do the settings made after theirs:
/// Google's customer-supplied keys are for states alone, and S3's tags are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// A state, or anything else that is worth encrypting.
    #[default]
    State,
    /// The document of a lock.
    Lock,
}

/// How to read.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct GetOptions {
    /// Only these bytes, cut off at the end of the content.
    pub range: Option<Range<u64>>,
    /// Refused with `PreconditionFailed` unless this is the content; for reading a content in several ranges.
    pub if_match: Option<BlobVersion>,
    /// Refused with `NotModified` if this still is the content.
    pub if_none_match: Option<BlobVersion>,
    /// Refused with `LeaseLost` unless this lease is in force.
    pub lease: Option<LeaseId>,
    /// What the blob is for.
    pub role: Role,
}

impl GetOptions {
    /// Reads these bytes only.
    #[must_use]
    pub fn range(mut self, range: Range<u64>) -> Self {
        self.range = Some(range);
        self
    }

    /// Reads this content only.
    #[must_use]
    pub fn if_match(mut self, version: &BlobVersion) -> Self {
        self.if_match = Some(version.clone());
        self
    }

    /// Reads any content but this.
    #[must_use]
    pub fn if_none_match(mut self, version: &BlobVersion) -> Self {
        self.if_none_match = Some(version.clone());
        self
    }

    /// Reads under a lease.
    #[must_use]
    pub fn lease(mut self, lease: &LeaseId) -> Self {
        self.lease = Some(lease.clone());
        self
    }

    /// Says what the blob is for.
    #[must_use]
    pub fn role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }
}

/// How to write.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PutOptions {
    /// What must be stored.
    pub precondition: Precondition,
    /// The lease that the caller holds. A blob under a lease cannot be written without it.
    pub lease: Option<LeaseId>,
    /// What to keep with the content.
    pub attributes: Attributes,
    /// What the blob is for.
    pub role: Role,
    /// Whether others may write the same bytes under the same condition, and only one of them may be told that it did.
    pub contended: bool,
}

impl PutOptions {
    /// Writes if the condition is fulfilled.
    pub fn expecting(precondition: Precondition) -> Self {
        Self { precondition, ..Self::default() }
    }

    /// Writes under a lease.
    #[must_use]
    pub fn lease(mut self, lease: &LeaseId) -> Self {
        self.lease = Some(lease.clone());
        self
    }

    /// Says that others may write the same bytes. A refusal then stands, unless an answer to this very write got lost before
    /// it; without, bytes like these are taken for this writer's own.
    #[must_use]
    pub fn contended(mut self) -> Self {
        self.contended = true;
        self
    }

    /// Keeps these attributes.
    #[must_use]
    pub fn attributes(mut self, attributes: Attributes) -> Self {
        self.attributes = attributes;
        self
    }

    /// Says what the blob is for.
    #[must_use]
    pub fn role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }
}

/// How to delete.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DeleteOptions {
    /// What must be stored. `Absent` is `Invalid` here.
    pub precondition: Precondition,
    /// The lease that the caller holds. A blob under a lease cannot be deleted without it.
    pub lease: Option<LeaseId>,
}

impl DeleteOptions {
    /// Deletes if the condition is fulfilled.
    pub fn expecting(precondition: Precondition) -> Self {
        Self { precondition, lease: None }
    }

    /// Deletes this content only.
    pub fn version(version: &BlobVersion) -> Self {
        Self::expecting(Precondition::Version(version.clone()))
    }

    /// Deletes under a lease.
    #[must_use]
    pub fn lease(mut self, lease: &LeaseId) -> Self {
        self.lease = Some(lease.clone());
        self
    }

    /// Checks the condition, for stores to call before anything else; `place` is the blob as errors name it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Invalid`] for [`Precondition::Absent`].
    pub fn check(&self, place: impl fmt::Display) -> Result<()> {
        match self.precondition {
            Precondition::Absent => {
                let error = Error::new(ErrorKind::Invalid, Op::Delete, place);
                Err(error.because("a deletion cannot require the blob to be absent"))
            }
            _ => Ok(()),
        }
    }
}

/// How to list.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ListOptions {
    /// Where to go on, from the page before.
    pub page: Option<PageToken>,
    /// Whether names with a slash behind the prefix are put together in [`Page::prefixes`](crate::Page::prefixes).
    pub delimiter: bool,
    /// How many entries a page has at most; services have a limit of their own, 1000 to 5000.
    pub limit: Option<usize>,
}

impl ListOptions {
    /// Goes on behind a page.
    #[must_use]
    pub fn page(mut self, page: Option<PageToken>) -> Self {
        self.page = page;
        self
    }

    /// Puts names together that share what stands before a slash behind the prefix.
    #[must_use]
    pub fn delimited(mut self) -> Self {
        self.delimiter = true;
        self
    }

    /// Makes pages this long at most.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }
}
