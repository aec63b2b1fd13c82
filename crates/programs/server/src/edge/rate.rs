//! How often one client may ask: a bucket of tokens for each, in bounded memory.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How many clients are remembered. What a client has left is forgotten once it has all of it again.
const MOST: usize = 1 << 16;

/// How often the clients that have everything again are looked for while the memory is full.
const SWEEP: Duration = Duration::from_secs(1);

/// What clients have left.
pub(super) struct Buckets<K> {
    state: Mutex<State<K>>,
    most: usize,
}

struct State<K> {
    buckets: HashMap<K, Bucket>,
    swept: Option<Instant>,
}

#[derive(Clone, Copy)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

/// How many tokens a second come back, and how many there are at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    pub(super) per_second: u64,
    pub(super) burst: u64,
}

impl Rate {
    fn tokens(self, bucket: Bucket, now: Instant) -> f64 {
        let came_back = now.saturating_duration_since(bucket.at).as_secs_f64() * self.per_second as f64;
        (bucket.tokens + came_back).min(self.burst as f64)
    }
}

impl<K: Eq + Hash> Buckets<K> {
    pub(super) fn new() -> Self {
        Self::with_room(MOST)
    }

    fn with_room(most: usize) -> Self {
        Self { state: Mutex::new(State { buckets: HashMap::new(), swept: None }), most }
    }

    /// Takes a token of a client, or says how long until there is one.
    ///
    /// Where more clients than are remembered use their tokens at a time, further ones are let through: no client is refused for
    /// what others do.
    pub(super) fn take(&self, client: K, rate: Rate, now: Instant) -> Result<(), Duration> {
        // The buckets are plain data, so a panic elsewhere cannot have left them half written.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = state.buckets.get_mut(&client) {
            let tokens = rate.tokens(*bucket, now);
            if tokens < 1.0 {
                let missing = (1.0 - tokens) / rate.per_second.max(1) as f64;
                return Err(Duration::try_from_secs_f64(missing).unwrap_or(Duration::MAX));
            }
            *bucket = Bucket { tokens: tokens - 1.0, at: now };
            return Ok(());
        }
        if state.buckets.len() >= self.most && state.swept.is_none_or(|swept| now - swept >= SWEEP) {
            state.swept = Some(now);
            state.buckets.retain(|_, bucket| rate.tokens(*bucket, now) < rate.burst as f64);
        }
        if state.buckets.len() < self.most {
            let tokens = rate.burst as f64 - 1.0;
            state.buckets.insert(client, Bucket { tokens, at: now });
        }
        Ok(())
    }
}

impl<K> fmt::Debug for Buckets<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Buckets")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{Buckets, Rate};

    const RATE: Rate = Rate { per_second: 2, burst: 3 };

    #[test]
    fn a_burst_passes_then_the_rate_counts_and_other_clients_do_not() {
        let (buckets, start) = (Buckets::new(), Instant::now());
        for _ in 0..3 {
            assert_eq!(buckets.take("a", RATE, start), Ok(()));
        }
        assert_eq!(buckets.take("a", RATE, start), Err(Duration::from_millis(500)));
        assert_eq!(buckets.take("b", RATE, start), Ok(()));
        let later = start + Duration::from_millis(500);
        assert_eq!(buckets.take("a", RATE, later), Ok(()));
        assert!(buckets.take("a", RATE, later).is_err());
        let rested = start + Duration::from_secs(60);
        for _ in 0..3 {
            assert_eq!(buckets.take("a", RATE, rested), Ok(()));
        }
        assert!(buckets.take("a", RATE, rested).is_err());
    }

    #[test]
    fn the_memory_is_bounded_and_full_buckets_make_room() {
        let (buckets, start) = (Buckets::with_room(100), Instant::now());
        for client in 0..1000 {
            assert_eq!(buckets.take(client, RATE, start), Ok(()), "no client is refused for what others do");
        }
        assert_eq!(buckets.state.lock().unwrap().buckets.len(), 100);
        let later = start + Duration::from_secs(10);
        assert_eq!(buckets.take(1000, RATE, later), Ok(()));
        assert_eq!(buckets.state.lock().unwrap().buckets.len(), 1);
    }

    #[test]
    fn a_clock_that_stands_still_gives_nothing_away() {
        let (buckets, start) = (Buckets::new(), Instant::now());
        let rate = Rate { per_second: 1, burst: 1 };
        assert_eq!(buckets.take("a", rate, start + Duration::from_secs(5)), Ok(()));
        assert_eq!(buckets.take("a", rate, start), Err(Duration::from_secs(1)));
    }
}
