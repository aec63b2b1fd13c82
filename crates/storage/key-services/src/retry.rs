//! Repeating what failed for a while, a bounded number of times and in bounded time.

use std::future::Future;
use std::time::Duration;

use groundstate_common::{Backoff, jittered};
use tracing::debug;

use crate::context::KeyContext;
use crate::error::Result;

/// How often a service is asked unless the settings say otherwise.
#[cfg(feature = "_cloud")]
pub(crate) const ATTEMPTS: u32 = 5;
/// The waits between attempts.
const WAITS: Backoff = Backoff::new(Duration::from_millis(400), Duration::from_secs(8));
/// After waits of this length together there is no further attempt.
const LONGEST: Duration = Duration::from_secs(30);
/// The longest wait that a service may ask for. If it asks for more, there is no further attempt.
const LONGEST_ASKED: Duration = Duration::from_secs(60);

/// Repeats an attempt whose error is transient. The error of the last attempt is the outcome.
pub(crate) async fn retried<T, F>(
    context: &KeyContext,
    attempts: u32,
    mut attempt: impl FnMut() -> F + Send,
) -> Result<T>
where
    F: Future<Output = Result<T>> + Send,
{
    let (mut waits, mut waited) = (WAITS, Duration::ZERO);
    let mut number = 1;
    loop {
        let error = match attempt().await {
            Err(error) if error.kind().is_transient() && number < attempts.max(1) => error,
            outcome => return outcome,
        };
        let asked = error.retry_after().unwrap_or_default();
        // Without a random number all clients wait the same time, which is all that is lost.
        let wait = jittered(waits.wait(), context.ids.number().unwrap_or(u32::MAX)).max(asked);
        if asked > LONGEST_ASKED || waited > LONGEST {
            return Err(error);
        }
        number += 1;
        waited += wait;
        debug!(attempt = number, delay = wait.as_secs_f64(), kind = ?error.kind(), "waiting before another attempt");
        context.sleeper.sleep(wait).await;
    }
}
