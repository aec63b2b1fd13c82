//! Locks that the service itself enforces: leases on blobs, as Azure has them.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

use crate::error::{Error, ErrorKind, Result};
use crate::key::Key;
use crate::op::Op;
use crate::options::Precondition;
use crate::version::BlobVersion;

/// The name of a lease, which its holder chooses: a GUID.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeaseId(String);

impl LeaseId {
    /// Checks an id: 32 hexadecimal digits as 8-4-4-4-12, in lower case or upper case.
    ///
    /// # Errors
    ///
    /// `Invalid` for any other text.
    pub fn parse(text: &str) -> Result<Self> {
        let is_guid = text.len() == 36
            && text.bytes().enumerate().all(|(at, byte)| match at {
                8 | 13 | 18 | 23 => byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            });
        if is_guid {
            return Ok(Self(text.to_ascii_lowercase()));
        }
        Err(Error::new(ErrorKind::Invalid, Op::Use, format_args!("the lease id {text:?}"))
            .because("it is not a GUID")
            .next_step("give 32 hexadecimal digits as 8-4-4-4-12"))
    }

    /// The id in lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How long a lease lasts unless it is renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LeaseDuration {
    /// Until it is released or broken.
    Infinite,
    /// So long; services take 15 to 60 seconds.
    For(Duration),
}

/// What holders of leases do. While a lease is held, the blob cannot be written, deleted or re-described without its id.
#[async_trait]
pub trait Leases: fmt::Debug + Send + Sync {
    /// Takes the lease under this id. Taking it again under the id that is in force succeeds, so a lost answer can be asked
    /// for again.
    ///
    /// # Errors
    ///
    /// `LeaseHeld` by another client, `NotFound` if there is no such blob, and those of every call.
    async fn acquire(&self, key: &Key, id: &LeaseId, duration: LeaseDuration) -> Result<()>;

    /// Prolongs a lease that does not last for ever.
    ///
    /// # Errors
    ///
    /// `LeaseLost` if it is not in force and cannot be taken up again, `NotFound`, and those of every call.
    async fn renew(&self, key: &Key, id: &LeaseId) -> Result<()>;

    /// Gives the lease up.
    ///
    /// # Errors
    ///
    /// `LeaseLost` if it is not in force, `NotFound`, and those of every call.
    async fn release(&self, key: &Key, id: &LeaseId) -> Result<()>;

    /// Ends whichever lease is in force, at once. `false` if there is none.
    ///
    /// # Errors
    ///
    /// `NotFound`, and those of every call.
    async fn break_lease(&self, key: &Key) -> Result<bool>;

    /// Replaces the metadata and nothing else. The version changes.
    ///
    /// # Errors
    ///
    /// `LeaseHeld` without the lease in force, `LeaseLost` with another, `PreconditionFailed`, `NotFound`, and those of every
    /// call.
    async fn set_metadata(
        &self,
        key: &Key,
        metadata: &BTreeMap<String, String>,
        precondition: &Precondition,
        lease: Option<&LeaseId>,
    ) -> Result<BlobVersion>;

    /// Keeps the present content for ever, and gives the name it is kept under, a time.
    ///
    /// # Errors
    ///
    /// `LeaseLost` with a lease that is not in force, `NotFound`, and those of every call.
    async fn snapshot(&self, key: &Key, lease: Option<&LeaseId>) -> Result<String>;
}

#[cfg(test)]
mod tests {
    use super::LeaseId;

    #[test]
    fn only_guids_are_lease_ids() {
        let id = LeaseId::parse("681FBB37-7302-b5fd-bac8-6224f8cc5180").unwrap();
        assert_eq!(id.as_str(), "681fbb37-7302-b5fd-bac8-6224f8cc5180");
        for text in [
            "",
            "681fbb377302b5fdbac86224f8cc5180",
            "681fbb37-7302-b5fd-bac8-6224f8cc518g",
            "681fbb37-7302-b5fd-bac8-6224f8cc51801",
        ] {
            assert!(LeaseId::parse(text).is_err(), "{text}");
        }
    }
}
