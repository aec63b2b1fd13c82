//! `/healthz`: the process answers. `/readyz`: the store answers, within a time limit.

use std::sync::Arc;
use std::time::Duration;

use groundstate_blobs::{BlobStore, Key};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

/// How long the store may take.
const LIMIT: Duration = Duration::from_secs(5);

/// How long an answer of the store counts, so that clients without credentials cannot keep it busy.
const COUNTS_FOR: Duration = Duration::from_secs(1);

/// A blob that need not be there.
const PROBE: &str = "groundstate/ready";

/// Whether the store answers.
#[derive(Debug)]
pub(super) struct Readiness {
    store: Arc<dyn BlobStore>,
    last: Mutex<Option<(Instant, bool)>>,
}

impl Readiness {
    pub(super) fn new(store: Arc<dyn BlobStore>) -> Self {
        Self { store, last: Mutex::new(None) }
    }

    /// Asks the store, unless it has just been asked. Those who ask at one time share an answer.
    pub(super) async fn is_ready(&self) -> bool {
        let mut last = self.last.lock().await;
        if let Some((at, answer)) = *last
            && at.elapsed() < COUNTS_FOR
        {
            return answer;
        }
        let answer = self.ask().await;
        *last = Some((Instant::now(), answer));
        answer
    }

    async fn ask(&self) -> bool {
        let Ok(key) = Key::parse(PROBE) else { return false };
        match timeout(LIMIT, self.store.head(&key)).await {
            Ok(Ok(_)) => true,
            Ok(Err(error)) => {
                tracing::warn!(error = %error, "the store does not answer");
                false
            }
            Err(_) => {
                tracing::warn!(seconds = LIMIT.as_secs(), "the store does not answer in time");
                false
            }
        }
    }
}
