//! Leases, metadata and snapshots of Azure.

use std::collections::BTreeMap;

use async_trait::async_trait;
use groundstate_blobs::{
    Attributes, BlobStore, BlobVersion, Error, ErrorKind, Key, LeaseDuration, LeaseId, LeaseState, Leases,
    Op, Precondition, Result,
};
use http::Method;

use super::AzureBlobs;
use crate::cloud::{Cloud, Effect, Failure, Reply, Request, attribute_headers, version_of};

/// What the service takes for leases that end.
const SECONDS: std::ops::RangeInclusive<u64> = 15..=60;

impl AzureBlobs {
    /// A request for a part of a blob that is not its content.
    fn part(&self, op: Op, key: &Key, part: &str) -> Result<Request> {
        let mut request = self.request(op, Method::PUT, key)?;
        request.url.push_str("?comp=");
        request.url.push_str(part);
        Ok(request)
    }

    fn lease_request(&self, key: &Key, action: &str, lease: Option<&LeaseId>) -> Result<Request> {
        const OP: Op = Op::Lease;
        let request = self.part(OP, key, "lease")?.header("x-ms-lease-action", action)?;
        self.leased(OP, key, request, lease)
    }

    async fn change(&self, op: Op, key: &Key, request: Request) -> Result<Reply> {
        let place = self.at(key);
        let reply = self.call(op, &place, request, Effect::Change).await?;
        if reply.is_success() {
            Ok(reply)
        } else {
            Err(self.refused(op, &place, Failure::of(&reply), Effect::Change))
        }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Leases for AzureBlobs {
    async fn acquire(&self, key: &Key, id: &LeaseId, duration: LeaseDuration) -> Result<()> {
        const OP: Op = Op::Lease;
        let seconds = match duration {
            LeaseDuration::Infinite => "-1".to_owned(),
            LeaseDuration::For(time) if SECONDS.contains(&time.as_secs()) => time.as_secs().to_string(),
            LeaseDuration::For(_) => {
                let error =
                    Error::new(ErrorKind::Invalid, OP, self.at(key)).because("no lease lasts that long");
                return Err(error.next_step("ask for 15 to 60 seconds, or for ever"));
            }
        };
        let request = self.lease_request(key, "acquire", None)?;
        let request =
            request.header("x-ms-lease-duration", &seconds)?.header("x-ms-proposed-lease-id", id.as_str())?;
        self.change(OP, key, request).await.map(drop)
    }

    async fn renew(&self, key: &Key, id: &LeaseId) -> Result<()> {
        let request = self.lease_request(key, "renew", Some(id))?;
        self.change(Op::RenewLease, key, request).await.map(drop)
    }

    async fn release(&self, key: &Key, id: &LeaseId) -> Result<()> {
        let request = self.lease_request(key, "release", Some(id))?;
        self.change(Op::Release, key, request).await.map(drop)
    }

    async fn break_lease(&self, key: &Key) -> Result<bool> {
        const OP: Op = Op::BreakLease;
        // The service breaks what is broken once more and calls that a success.
        let meta = self.head(key).await?.ok_or_else(|| Error::new(ErrorKind::NotFound, OP, self.at(key)))?;
        if !meta.lease.is_some_and(LeaseState::is_held) {
            return Ok(false);
        }
        let request = self.lease_request(key, "break", None)?.header("x-ms-lease-break-period", "0")?;
        match self.change(OP, key, request).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::LeaseLost => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn set_metadata(
        &self,
        key: &Key,
        metadata: &BTreeMap<String, String>,
        precondition: &Precondition,
        lease: Option<&LeaseId>,
    ) -> Result<BlobVersion> {
        const OP: Op = Op::Describe;
        let mut attributes = Attributes::default();
        attributes.metadata.clone_from(metadata);
        let request = self.part(OP, key, "metadata")?.headers(&self.customer)?;
        let request = attribute_headers(request, &attributes, Self::DIALECT.metadata)?;
        let reply = self.change(OP, key, self.conditional(OP, key, request, precondition, lease)?).await?;
        Ok(version_of(&reply, &Self::DIALECT))
    }

    async fn snapshot(&self, key: &Key, lease: Option<&LeaseId>) -> Result<String> {
        const OP: Op = Op::Snapshot;
        let request = self.part(OP, key, "snapshot")?.headers(&self.customer)?;
        let reply = self.change(OP, key, self.leased(OP, key, request, lease)?).await?;
        let name = reply.header("x-ms-snapshot").map(str::to_owned);
        name.ok_or_else(|| {
            Error::new(ErrorKind::Internal, OP, self.at(key))
                .because("the service did not say under which name")
        })
    }
}
