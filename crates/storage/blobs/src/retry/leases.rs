//! Leases that are asked for again.

use std::collections::BTreeMap;

use super::{Retry, again};
use crate::error::{Error, ErrorKind, Result};
use crate::key::Key;
use crate::lease::{LeaseDuration, LeaseId, Leases};
use crate::op::Op;
use crate::options::Precondition;
use crate::store::BlobStore;
use crate::version::BlobVersion;

impl<S: BlobStore> Retry<S> {
    fn inner_leases(&self) -> Result<&dyn Leases> {
        self.store
            .leases()
            .ok_or_else(|| Error::unsupported(Op::Lease, self).because("the store has no leases"))
    }
}

impl<S: BlobStore> Retry<S> {
    pub(super) async fn acquire_again(&self, key: &Key, id: &LeaseId, duration: LeaseDuration) -> Result<()> {
        let leases = self.inner_leases()?;
        again!(self, leases.acquire(key, id, duration))
    }

    pub(super) async fn renew_again(&self, key: &Key, id: &LeaseId) -> Result<()> {
        let leases = self.inner_leases()?;
        again!(self, leases.renew(key, id))
    }

    pub(super) async fn release_again(&self, key: &Key, id: &LeaseId) -> Result<()> {
        let leases = self.inner_leases()?;
        let mut attempts = self.attempts();
        let mut was_lost = false;
        loop {
            match leases.release(key, id).await {
                // The attempt whose answer got lost has released it.
                Err(error) if was_lost && error.kind() == ErrorKind::LeaseLost => return Ok(()),
                Err(error) if error.kind().is_transient() || error.kind() == ErrorKind::Ambiguous => {
                    was_lost |= error.kind() == ErrorKind::Ambiguous;
                    if !attempts.next(&error).await {
                        return Err(error);
                    }
                }
                outcome => return outcome,
            }
        }
    }

    pub(super) async fn break_lease_again(&self, key: &Key) -> Result<bool> {
        let leases = self.inner_leases()?;
        let mut attempts = self.attempts();
        let mut was_lost = false;
        loop {
            match leases.break_lease(key).await {
                Ok(was_held) => return Ok(was_held || was_lost),
                Err(error) if error.kind().is_transient() || error.kind() == ErrorKind::Ambiguous => {
                    was_lost |= error.kind() == ErrorKind::Ambiguous;
                    if !attempts.next(&error).await {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) async fn set_metadata_again(
        &self,
        key: &Key,
        metadata: &BTreeMap<String, String>,
        precondition: &Precondition,
        lease: Option<&LeaseId>,
    ) -> Result<BlobVersion> {
        let leases = self.inner_leases()?;
        let mut attempts = self.attempts();
        loop {
            let error = match leases.set_metadata(key, metadata, precondition, lease).await {
                Ok(version) => return Ok(version),
                Err(error) => error,
            };
            let is_doubtful = error.kind() == ErrorKind::PreconditionFailed;
            if is_doubtful {
                // A request may have arrived twice: what counts is whether the metadata are these.
                return match self.head(key).await {
                    Ok(Some(meta)) if meta.attributes.metadata == *metadata => Ok(meta.version),
                    _ => Err(error),
                };
            }
            let may_repeat = error.kind().is_transient() || error.kind() == ErrorKind::Ambiguous;
            if !may_repeat || !attempts.next(&error).await {
                return Err(error);
            }
        }
    }

    pub(super) async fn snapshot_again(&self, key: &Key, lease: Option<&LeaseId>) -> Result<String> {
        let leases = self.inner_leases()?;
        again!(self, leases.snapshot(key, lease))
    }
}
