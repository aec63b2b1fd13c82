//! Histories: the conformance suite on stores that keep one, and what is kept.

use std::sync::Arc;

use async_trait::async_trait;
use groundstate_blobs::{Key, MemoryBlobs};
use groundstate_common::SystemClock;
use groundstate_conformance::{Harness, Place};
use groundstate_statemgr::{MemoryPlace, Result, StateStore};
use groundstate_statemgr_object::history::{BlobHistory, Retention, WithHistory};

struct Kept;

#[async_trait]
impl Harness for Kept {
    fn name(&self) -> String {
        "memory, with a history".to_owned()
    }

    async fn place(&self) -> Result<Arc<dyn Place>> {
        let key = Key::parse("a").expect("it is a key");
        let history = BlobHistory::new(Arc::new(MemoryBlobs::new("history")), &key);
        Ok(Arc::new(OnePlace { place: MemoryPlace::new("prod"), history }))
    }
}

struct OnePlace {
    place: MemoryPlace,
    history: BlobHistory,
}

#[async_trait]
impl Place for OnePlace {
    async fn open(&self) -> Result<Arc<dyn StateStore>> {
        let retention = Retention::everything().keep(std::num::NonZeroUsize::new(3));
        Ok(Arc::new(WithHistory::new(
            self.place.open(),
            self.history.clone(),
            retention,
            Arc::new(SystemClock),
        )))
    }
}

groundstate_conformance::suite!(Kept);
