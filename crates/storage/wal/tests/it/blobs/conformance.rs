//! The conformance cases of journals, on blobs in memory.

use std::sync::Arc;

use async_trait::async_trait;
use groundstate_blobs::{BlobStore, GetOptions, Key, ListOptions, MemoryBlobs, PutOptions};
use groundstate_common::SequenceIds;
use groundstate_conformance::journals::{JournalHarness, TestJournal};
use groundstate_wal::blobs::BlobJournal;
use groundstate_wal::{JournalStore, Result};

struct Buckets;
struct Bucket(Arc<MemoryBlobs>, Arc<SequenceIds>);

#[async_trait]
impl JournalHarness for Buckets {
    async fn journal(&self) -> Result<Arc<dyn TestJournal>> {
        Ok(Arc::new(Bucket(Arc::new(MemoryBlobs::new("bucket")), Arc::new(SequenceIds::new()))))
    }
}

#[async_trait]
impl TestJournal for Bucket {
    async fn open(&self) -> Result<Arc<dyn JournalStore>> {
        let (bucket, ids) = (Arc::<MemoryBlobs>::clone(&self.0), Arc::<SequenceIds>::clone(&self.1));
        Ok(Arc::new(BlobJournal::new(bucket, "prod.tfstate.changes/", ids)?))
    }

    async fn damage(&self) -> Result<bool> {
        let listed = self.0.list("prod.tfstate.changes/", &ListOptions::default()).await.unwrap();
        for blob in listed.blobs {
            let key = Key::parse(&blob.name).unwrap();
            let bytes = self.0.get(&key, &GetOptions::default()).await.unwrap().unwrap().bytes;
            if let Some(at) = bytes.windows(7).position(|window| window == b"batch 0") {
                let mut bytes = bytes.to_vec();
                bytes[at] ^= 1;
                self.0.put(&key, bytes.into(), &PutOptions::default()).await.unwrap();
                return Ok(true);
            }
        }
        Ok(false)
    }
}

groundstate_conformance::journal_suite!(Buckets);
