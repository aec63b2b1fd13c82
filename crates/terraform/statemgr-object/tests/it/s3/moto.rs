//! The same on moto, where it runs: its S3 carries conditions out as one step.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::Context;
use groundstate_blobs_cloud::S3Blobs;
use groundstate_common::{FixedClock, IdSource, OsIds, Timestamp};
use groundstate_conformance::{BoxFuture, Conditions, Harness, Settings, TestStore, run};
use groundstate_statemgr::{ErrorKind, Result, StateStore, WorkspaceName, WriteOptions};
use groundstate_testkit::server_of_peer;

use crate::s3::conformance::{Bucket, RUNTIME};
use crate::s3::support::{Locks, TABLE, info, settings, state};

struct Moto {
    endpoint: String,
    /// What buckets of this run are called.
    run: String,
    buckets: AtomicUsize,
}

impl Moto {
    fn new() -> Option<Self> {
        let endpoint = server_of_peer("moto", "GROUNDSTATE_S3_ENDPOINT")?;
        Some(Self { endpoint, run: OsIds.uuid().unwrap(), buckets: AtomicUsize::new(0) })
    }

    async fn bucket(&self, locks: Locks) -> Bucket {
        let bucket = format!("b{}-{}", self.buckets.fetch_add(1, Ordering::Relaxed), self.run);
        let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
        let context = Context::new(Arc::<FixedClock>::clone(&clock), clock, Arc::new(OsIds));
        let blobs = S3Blobs::open(&settings(&self.endpoint, &bucket), &context).unwrap();
        let url = format!("{}/{bucket}", self.endpoint);
        let request = http::Request::builder().method("PUT").uri(url).body(Bytes::new()).unwrap();
        let made = blobs.signed("s3", request).await.unwrap();
        assert!(made.is_success(), "{made:?}");
        if locks.has_table() {
            let table = format!(
                "{{\"TableName\":\"{TABLE}\",\"BillingMode\":\"PAY_PER_REQUEST\",\"KeySchema\":[{{\"AttributeName\":\"LockID\",\
                 \"KeyType\":\"HASH\"}}],\"AttributeDefinitions\":[{{\"AttributeName\":\"LockID\",\"AttributeType\":\"S\"}}]}}"
            );
            // It may be there from an earlier run.
            blobs.dynamodb("CreateTable", table.into()).await.unwrap();
        }
        Bucket { endpoint: self.endpoint.clone(), bucket, locks }
    }
}

#[async_trait]
impl Harness for Moto {
    fn name(&self) -> String {
        "a bucket of moto".to_owned()
    }

    async fn store(&self) -> Result<Arc<dyn TestStore>> {
        Ok(Arc::new(self.bucket(Locks::File).await))
    }

    async fn open_at(&self, address: &str) -> Result<Arc<dyn StateStore>> {
        Bucket::at(address, Locks::File)?.open().await
    }

    fn block_on(&self, future: BoxFuture<'_, ()>) {
        RUNTIME.block_on(future);
    }
}

#[test]
fn the_contract_is_kept_on_moto() {
    let Some(moto) = Moto::new() else { return };
    let settings = Settings::default().conditions([Conditions::Calm]);
    let settings = settings.restart_test(module_path!(), "the_contract_is_kept_on_moto");
    let report = run(Arc::new(moto), &settings);
    assert!(report.is_success(), "{report}");
}

/// Its DynamoDB does not carry conditions out as one step, so nothing is raced there.
#[test]
fn locks_by_row_and_digests_work_on_moto() {
    let Some(moto) = Moto::new() else { return };
    RUNTIME.block_on(async {
        for locks in [Locks::Row, Locks::Both] {
            let bucket = moto.bucket(locks).await;
            let backend = bucket.backend(&bucket.bucket).unwrap();
            let store = backend.open(&WorkspaceName::default_name()).unwrap();
            let grant = store.lock(&info("a")).await.unwrap();
            let other = backend.open(&WorkspaceName::default_name()).unwrap();
            let error = other.lock(&info("b")).await.unwrap_err();
            assert_eq!((error.kind(), &error.holder().unwrap().id), (ErrorKind::Locked, &grant.id));
            store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
            assert_eq!(other.read().await.unwrap().unwrap().bytes, state(1));
            store.unlock(&grant.id).await.unwrap();
            assert_eq!(other.lock_holder().await.unwrap(), None);
            store.delete(&WriteOptions::any()).await.unwrap();
            assert!(other.read().await.unwrap().is_none());
        }
    });
}
