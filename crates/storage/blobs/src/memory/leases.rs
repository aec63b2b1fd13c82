//! Leases in memory.

use std::collections::BTreeMap;

use async_trait::async_trait;
use groundstate_common::Timestamp;

use super::MemoryBlobs;
use super::contents::{Contents, Lease, Stored};
use crate::error::{Error, ErrorKind, Result};
use crate::key::Key;
use crate::lease::{LeaseDuration, LeaseId, Leases};
use crate::op::Op;
use crate::options::Precondition;
use crate::version::BlobVersion;

impl MemoryBlobs {
    fn lease_at<'c>(&self, op: Op, key: &Key, contents: &'c mut Contents) -> Result<&'c mut Stored> {
        contents.get_mut(key).ok_or_else(|| Error::new(ErrorKind::NotFound, op, self.at(key)))
    }

    fn expiry(&self, duration: LeaseDuration) -> Option<Timestamp> {
        match duration {
            LeaseDuration::Infinite => None,
            LeaseDuration::For(time) => Some(self.clock.now().checked_add(time).unwrap_or(Timestamp::MAX)),
        }
    }

    fn lost(&self, op: Op, key: &Key) -> Error {
        Error::new(ErrorKind::LeaseLost, op, self.at(key))
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Leases for MemoryBlobs {
    async fn acquire(&self, key: &Key, id: &LeaseId, duration: LeaseDuration) -> Result<()> {
        let mut contents = self.contents();
        let stored = self.lease_at(Op::Lease, key, &mut contents)?;
        if stored.lease.as_ref().is_some_and(|held| held.id != *id) {
            return Err(Error::new(ErrorKind::LeaseHeld, Op::Lease, self.at(key)));
        }
        stored.lease = Some(Lease { id: id.clone(), duration, expires: self.expiry(duration) });
        Ok(())
    }

    async fn renew(&self, key: &Key, id: &LeaseId) -> Result<()> {
        let mut contents = self.contents();
        let stored = self.lease_at(Op::RenewLease, key, &mut contents)?;
        match &mut stored.lease {
            Some(held) if held.id == *id => {
                held.expires = self.expiry(held.duration);
                Ok(())
            }
            _ => Err(self.lost(Op::RenewLease, key)),
        }
    }

    async fn release(&self, key: &Key, id: &LeaseId) -> Result<()> {
        let mut contents = self.contents();
        let stored = self.lease_at(Op::Release, key, &mut contents)?;
        let released = stored.lease.take_if(|held| held.id == *id);
        released.map(drop).ok_or_else(|| self.lost(Op::Release, key))
    }

    async fn break_lease(&self, key: &Key) -> Result<bool> {
        let mut contents = self.contents();
        Ok(self.lease_at(Op::BreakLease, key, &mut contents)?.lease.take().is_some())
    }

    async fn set_metadata(
        &self,
        key: &Key,
        metadata: &BTreeMap<String, String>,
        precondition: &Precondition,
        lease: Option<&LeaseId>,
    ) -> Result<BlobVersion> {
        const OP: Op = Op::Describe;
        let mut contents = self.contents();
        let stored = self.lease_at(OP, key, &mut contents)?;
        Stored::check_writer(OP, Some(stored), lease, || self.at(key))?;
        self.check(OP, key, precondition, Some(stored))?;
        let version = contents.next_version();
        let stored = self.lease_at(OP, key, &mut contents)?;
        stored.meta.version = version;
        stored.meta.attributes.metadata.clone_from(metadata);
        Ok(self.meta(stored).version)
    }

    async fn snapshot(&self, key: &Key, lease: Option<&LeaseId>) -> Result<String> {
        let mut contents = self.contents();
        let stored = self.lease_at(Op::Snapshot, key, &mut contents)?;
        stored.check_reader(lease, || self.at(key))?;
        Ok(contents.keep(key, self.clock.now()))
    }
}
