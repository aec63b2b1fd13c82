//! What a connection is doing, and since when: so that one that does nothing is closed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// What a connection is doing.
#[derive(Debug)]
pub(super) struct Activity {
    state: Mutex<State>,
    changed: Notify,
    /// Whether bytes between requests are the head of the next one; in HTTP/2 they may be anything.
    bytes_are_heads: AtomicBool,
}

#[derive(Debug)]
struct State {
    requests: usize,
    /// Since when there is no request.
    quiet_since: Instant,
    /// When the head of a request began to arrive, if one has.
    head_since: Option<Instant>,
}

/// Why a connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expired {
    /// The head of a request took too long.
    Head,
    /// There was no request for too long.
    Idle,
}

impl Activity {
    /// A connection that was just made, whose first request is expected.
    pub(super) fn new(bytes_are_heads: bool) -> Self {
        let now = Instant::now();
        let state = State { requests: 0, quiet_since: now, head_since: Some(now) };
        Self {
            state: Mutex::new(state),
            changed: Notify::new(),
            bytes_are_heads: AtomicBool::new(bytes_are_heads),
        }
    }

    fn change(&self, change: impl FnOnce(&mut State) -> bool) {
        // Plain data, so a panic elsewhere cannot have left it half written.
        let changed = change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        if changed {
            self.changed.notify_one();
        }
    }

    /// The handshake is over, and the first request is expected.
    pub(super) fn handshake_is_over(&self, bytes_are_heads: bool) {
        self.bytes_are_heads.store(bytes_are_heads, Ordering::Relaxed);
        self.change(|state| {
            state.head_since = Some(Instant::now());
            true
        });
    }

    /// Bytes have come.
    pub(super) fn bytes_came(&self) {
        self.change(|state| {
            let begins = self.bytes_are_heads.load(Ordering::Relaxed)
                && state.requests == 0
                && state.head_since.is_none();
            if begins {
                state.head_since = Some(Instant::now());
            }
            begins
        });
    }

    /// The head of a request is there.
    pub(super) fn request_begins(&self) {
        self.change(|state| {
            state.requests += 1;
            state.head_since = None;
            true
        });
    }

    /// The answer is sent, or will never be.
    pub(super) fn request_ends(&self) {
        self.change(|state| {
            state.requests = state.requests.saturating_sub(1);
            state.quiet_since = Instant::now();
            true
        });
    }

    /// Returns when nothing has happened for too long.
    pub(super) async fn expires(&self, head: Duration, idle: Duration) -> Expired {
        loop {
            let deadline = {
                let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                match state.head_since {
                    _ if state.requests > 0 => None,
                    Some(since) => Some((since + head, Expired::Head)),
                    None => Some((state.quiet_since + idle, Expired::Idle)),
                }
            };
            match deadline {
                None => self.changed.notified().await,
                Some((at, why)) => tokio::select! {
                    () = tokio::time::sleep_until(at) => return why,
                    () = self.changed.notified() => {}
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{Instant, advance, timeout};

    use super::{Activity, Expired};

    const HEAD: Duration = Duration::from_secs(10);
    const IDLE: Duration = Duration::from_secs(75);

    #[tokio::test(start_paused = true)]
    async fn the_first_head_has_its_time_then_the_idle_time_counts_then_the_next_head() {
        let activity = Activity::new(true);
        let start = Instant::now();
        assert_eq!(activity.expires(HEAD, IDLE).await, Expired::Head);
        assert_eq!(start.elapsed(), HEAD);

        activity.request_begins();
        assert!(timeout(Duration::from_secs(3600), activity.expires(HEAD, IDLE)).await.is_err());
        activity.request_ends();
        let start = Instant::now();
        assert_eq!(activity.expires(HEAD, IDLE).await, Expired::Idle);
        assert_eq!(start.elapsed(), IDLE);

        activity.request_begins();
        activity.request_ends();
        let start = Instant::now();
        advance(Duration::from_secs(20)).await;
        activity.bytes_came();
        advance(Duration::from_secs(5)).await;
        activity.bytes_came();
        assert_eq!(activity.expires(HEAD, IDLE).await, Expired::Head);
        assert_eq!(start.elapsed(), Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_begins_while_the_end_is_waited_for_puts_it_off() {
        let activity = std::sync::Arc::new(Activity::new(false));
        let waiting = std::sync::Arc::clone(&activity);
        let expires = tokio::spawn(async move { waiting.expires(HEAD, IDLE).await });
        tokio::time::sleep(Duration::from_secs(5)).await;
        activity.request_begins();
        tokio::time::sleep(Duration::from_secs(100)).await;
        assert!(!expires.is_finished());
        activity.request_ends();
        activity.bytes_came();
        assert_eq!(expires.await.unwrap(), Expired::Idle);
    }
}
