//! Writers without a lock that overtake each other between a state and its digest.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{BlobStore as _, Key, MemoryBlobs, PutOptions};
use groundstate_common::{FixedClock, Timestamp};
use groundstate_conformance::block_on;
use groundstate_statemgr::{Result, StateStore as _, WriteOptions};
use groundstate_statemgr_object::{DigestRow, Digests, ObjectStateStore};
use tokio::sync::Mutex;

use crate::support::AtOnce;

/// A row; after each of the first digests another client stores a state, and is slow with the digest of it.
#[derive(Debug)]
struct Overtaken {
    blobs: MemoryBlobs,
    key: Key,
    left: AtomicU32,
    digest: Mutex<Option<String>>,
}

impl fmt::Display for Overtaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row")
    }
}

#[async_trait]
impl DigestRow for Overtaken {
    async fn get(&self) -> Result<Option<String>> {
        Ok(self.digest.lock().await.clone())
    }

    async fn put(&self, digest: &str) -> Result<()> {
        *self.digest.lock().await = Some(digest.to_owned());
        let left = self.left.load(Ordering::Relaxed);
        if left > 0 {
            self.left.store(left - 1, Ordering::Relaxed);
            let state = format!(r#"{{"version":4,"serial":{left},"lineage":"other"}}"#);
            self.blobs.put(&self.key, state.into(), &PutOptions::default()).await.expect("memory takes it");
        }
        Ok(())
    }

    async fn delete(&self) -> Result<()> {
        *self.digest.lock().await = None;
        Ok(())
    }
}

#[test]
fn the_digest_is_right_however_often_a_writer_without_a_lock_is_overtaken() {
    for times in [0, 1, 7, 8, 9, 100] {
        let (blobs, key) = (MemoryBlobs::new("states"), Key::parse("app.tfstate").unwrap());
        let row = Overtaken {
            blobs: blobs.clone(),
            key: key.clone(),
            left: times.into(),
            digest: Mutex::default(),
        };
        let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
        let digests = Digests::new(Arc::new(row), clock, Arc::new(AtOnce));
        let store = ObjectStateStore::new(Arc::new(blobs), key).digests(digests);
        block_on(async {
            store
                .write(
                    Bytes::from_static(br#"{"version":4,"serial":500,"lineage":"own"}"#),
                    &WriteOptions::any(),
                )
                .await
                .unwrap();
            assert!(!store.repair_digest().await.unwrap().changed(), "overtaken {times} times");
            let stored = store.read().await.unwrap();
            let serial = if times == 0 { "\"serial\":500" } else { "\"serial\":1," };
            let text = String::from_utf8(stored.unwrap().bytes).unwrap();
            assert!(text.contains(serial), "the last state is kept: {text}");
        });
    }
}
