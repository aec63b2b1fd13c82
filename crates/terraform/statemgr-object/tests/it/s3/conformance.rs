//! The conformance suite on buckets, with each way to lock.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{BlobStore, Context, PutOptions};
use groundstate_blobs_cloud::S3Blobs;
use groundstate_common::{OsIds, Sleeper, SystemClock};
use groundstate_conformance::{Address, BoxFuture, Disturbance, Harness, TestStore};
use groundstate_statemgr::{Backend, Error, ErrorKind, Op, Result, StateStore, WorkspaceName};
use groundstate_statemgr_object::{S3Backend, S3Layout};
use groundstate_testkit::{Fault, S3Server};
use tokio::runtime::Runtime;

use crate::s3::support::{Locks, TABLE, settings};

/// One server for all cases, each of which has a bucket and rows of its own.
static SERVER: LazyLock<S3Server> = LazyLock::new(|| {
    let server = S3Server::start_blocking();
    server.create_table(TABLE);
    server
});
pub(super) static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Runtime::new().expect("threads can be started"));
static BUCKETS: AtomicUsize = AtomicUsize::new(0);

/// Lets others run, and hardly any time pass.
#[derive(Debug)]
struct Brief;

#[async_trait]
impl Sleeper for Brief {
    async fn sleep(&self, _: Duration) {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

struct Buckets(Locks);

#[async_trait]
impl Harness for Buckets {
    fn name(&self) -> String {
        format!("a bucket, locked by {:?}", self.0)
    }

    async fn store(&self) -> Result<Arc<dyn TestStore>> {
        let bucket = format!("bucket-{}", BUCKETS.fetch_add(1, Ordering::Relaxed));
        SERVER.create_bucket(&bucket);
        Ok(Arc::new(Bucket { endpoint: SERVER.endpoint(), bucket, locks: self.0 }))
    }

    async fn open_at(&self, address: &str) -> Result<Arc<dyn StateStore>> {
        Bucket::at(address, self.0)?.open().await
    }

    fn block_on(&self, future: BoxFuture<'_, ()>) {
        RUNTIME.block_on(future);
    }

    fn secrets(&self) -> Vec<String> {
        vec!["hush-hush".to_owned()]
    }
}

/// A bucket of a server.
pub(super) struct Bucket {
    pub(super) endpoint: String,
    pub(super) bucket: String,
    pub(super) locks: Locks,
}

impl Bucket {
    /// The bucket of this [`address`](TestStore::address).
    pub(super) fn at(address: &str, locks: Locks) -> Result<Self> {
        let wrong = || Error::new(ErrorKind::Invalid, Op::Other("open"), address);
        let (endpoint, bucket) = address.rsplit_once(' ').ok_or_else(wrong)?;
        Ok(Self { endpoint: endpoint.to_owned(), bucket: bucket.to_owned(), locks })
    }

    pub(super) fn backend(&self, bucket: &str) -> Result<S3Backend> {
        let context = Context::new(Arc::new(SystemClock), Arc::new(Brief), Arc::new(OsIds));
        let blobs = S3Blobs::open(&settings(&self.endpoint, bucket), &context)
            .map_err(|error| Error::new(ErrorKind::Invalid, Op::Other("open"), bucket).with_source(error))?;
        Ok(S3Backend::new(blobs, S3Layout::new("network/prod.tfstate")?, self.locks.options(), context))
    }
}

#[async_trait]
impl TestStore for Bucket {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        self.backend(&self.bucket)?.store(&WorkspaceName::default_name())
    }

    fn address(&self) -> Address {
        Address::At(format!("{} {}", self.endpoint, self.bucket))
    }

    async fn put_zero_bytes(&self) -> Result<bool> {
        let store = self.backend(&self.bucket)?.open(&WorkspaceName::default_name())?;
        Ok(store.blobs().put(store.key(), Bytes::new(), &PutOptions::default()).await.is_ok())
    }

    async fn open_without_container(&self) -> Result<Option<Arc<dyn StateStore>>> {
        self.backend("no-such-bucket")?.store(&WorkspaceName::default_name()).map(Some)
    }

    async fn disturb(&self, disturbance: Disturbance) -> Result<bool> {
        let fault = match disturbance {
            Disturbance::RefuseRequest => Fault::throttle(),
            Disturbance::LoseAnswer => Fault::drop_after_commit(),
            _ => return Ok(false),
        };
        if self.endpoint != SERVER.endpoint() {
            return Ok(false);
        }
        SERVER.fault(fault.on("*", &format!("/{}/*", self.bucket)).times(1));
        Ok(true)
    }

    async fn workspaces(&self) -> Result<Option<Arc<dyn Backend>>> {
        Ok(Some(Arc::new(self.backend(&self.bucket)?)))
    }
}

mod by_object {
    groundstate_conformance::suite!(super::Buckets(super::Locks::File));
}

mod by_row {
    groundstate_conformance::suite!(super::Buckets(super::Locks::Row); calm);
}

mod by_both {
    groundstate_conformance::suite!(super::Buckets(super::Locks::Both); calm);
}

mod without_a_lock {
    groundstate_conformance::suite!(super::Buckets(super::Locks::None); calm);
}
