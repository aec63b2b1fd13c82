//! The machine's time and randomness, on tokio.

use std::sync::Arc;

use async_trait::async_trait;
use groundstate_blobs::Context;
use groundstate_common::{OsIds, Sleeper, SystemClock};

/// The machine's time and randomness.
pub(crate) fn context() -> Context {
    Context::new(Arc::new(SystemClock), Arc::new(Timer), Arc::new(OsIds))
}

#[derive(Debug)]
struct Timer;

#[async_trait]
impl Sleeper for Timer {
    async fn sleep(&self, duration: std::time::Duration) {
        tokio::time::sleep(duration).await;
    }
}
