//! The operations of a store that is asked again, each in its span.

use std::collections::BTreeMap;

use async_trait::async_trait;
use bytes::Bytes;

use super::{Retry, again, again_inner};
use crate::blob::{Blob, BlobMeta, Page};
use crate::capabilities::BlobCapabilities;
use crate::error::{ErrorKind, Result};
use crate::key::Key;
use crate::lease::{LeaseDuration, LeaseId, Leases};
use crate::op::Op;
use crate::options::{DeleteOptions, GetOptions, ListOptions, Precondition, PutOptions};
use crate::store::BlobStore;
use crate::traced;
use crate::version::BlobVersion;

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: BlobStore> BlobStore for Retry<S> {
    fn capabilities(&self) -> BlobCapabilities {
        self.store.capabilities()
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        traced::get(self, key, options, again_inner(self, key, options)).await
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        traced::head(self, key, async { again!(self, self.store.head(key)) }).await
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        traced::put(self, key, options, self.put_again(key, bytes, options)).await
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        traced::delete(self, key, options, self.delete_again(key, options)).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        traced::list(self, prefix, options, async { again!(self, self.store.list(prefix, options)) }).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        self.store.leases().is_some().then_some(self as &dyn Leases)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: BlobStore> Leases for Retry<S> {
    async fn acquire(&self, key: &Key, id: &LeaseId, duration: LeaseDuration) -> Result<()> {
        traced::lease(Op::Lease, self, key, Some(id), self.acquire_again(key, id, duration)).await
    }

    async fn renew(&self, key: &Key, id: &LeaseId) -> Result<()> {
        traced::lease(Op::RenewLease, self, key, Some(id), self.renew_again(key, id)).await
    }

    async fn release(&self, key: &Key, id: &LeaseId) -> Result<()> {
        traced::lease(Op::Release, self, key, Some(id), self.release_again(key, id)).await
    }

    async fn break_lease(&self, key: &Key) -> Result<bool> {
        traced::lease(Op::BreakLease, self, key, None, self.break_lease_again(key)).await
    }

    async fn set_metadata(
        &self,
        key: &Key,
        metadata: &BTreeMap<String, String>,
        precondition: &Precondition,
        lease: Option<&LeaseId>,
    ) -> Result<BlobVersion> {
        let work = self.set_metadata_again(key, metadata, precondition, lease);
        traced::lease(Op::Describe, self, key, lease, work).await
    }

    async fn snapshot(&self, key: &Key, lease: Option<&LeaseId>) -> Result<String> {
        traced::lease(Op::Snapshot, self, key, lease, self.snapshot_again(key, lease)).await
    }
}
