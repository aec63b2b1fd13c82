//! How much of a history is kept.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use groundstate_common::{Clock, Timestamp};
use groundstate_statemgr::StateStore;

use super::blobs::BlobHistory;
use super::name::EntryName;
use super::store::WithHistory;

/// That a place keeps a history: for how long, and by which clock.
#[derive(Clone, Debug)]
pub struct Keeping {
    retention: Retention,
    clock: Arc<dyn Clock>,
}

impl Keeping {
    /// Keeps snapshots for as long as `retention` says; the clock dates them.
    pub fn new(retention: Retention, clock: Arc<dyn Clock>) -> Self {
        Self { retention, clock }
    }

    /// The store, with its snapshots kept in `history`.
    pub fn keep<S: StateStore>(&self, store: S, history: BlobHistory) -> WithHistory<S> {
        WithHistory::new(store, history, self.retention, Arc::clone(&self.clock))
    }
}

/// How much of a history is kept. Without limits it is all of it.
///
/// An entry goes when it is beyond the count *or* too old. The newest one stays in any case: it is the state.
///
/// ```
/// use std::num::NonZeroUsize;
/// use std::time::Duration;
/// use groundstate_statemgr_object::history::Retention;
///
/// let month = Duration::from_secs(30 * 24 * 60 * 60);
/// let policy = Retention::everything().keep(NonZeroUsize::new(100)).max_age(month);
/// assert_eq!(policy.max_age, Some(month));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retention {
    /// The number of entries that are kept, the newest ones.
    pub keep: Option<NonZeroUsize>,
    /// How old an entry may become, by its own time and the clock of the writer.
    pub max_age: Option<Duration>,
}

impl Retention {
    /// Keeps all there is.
    pub const fn everything() -> Self {
        Self { keep: None, max_age: None }
    }

    /// Limits the number of entries.
    #[must_use]
    pub fn keep(mut self, entries: impl Into<Option<NonZeroUsize>>) -> Self {
        self.keep = entries.into();
        self
    }

    /// Limits the age of entries.
    #[must_use]
    pub fn max_age(mut self, age: impl Into<Option<Duration>>) -> Self {
        self.max_age = age.into();
        self
    }

    /// How many entries at the front have to go at `now`, where `sorted` begins with the oldest.
    pub(crate) fn outdated(&self, sorted: &[EntryName], now: Timestamp) -> usize {
        let too_old = |entry: &EntryName| {
            let age = now.duration_since(entry.kept_at);
            matches!((age, self.max_age), (Some(age), Some(limit)) if age > limit)
        };
        let by_count = self.keep.map_or(0, |keep| sorted.len().saturating_sub(keep.get()));
        let by_age = sorted.partition_point(too_old);
        by_count.max(by_age).min(sorted.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(seconds: &[i64]) -> Vec<EntryName> {
        seconds.iter().map(|at| EntryName::of(b"{}", Timestamp::from_unix(*at, 0).unwrap())).collect()
    }

    #[test]
    fn what_is_beyond_the_count_or_too_old_goes_but_never_the_newest() {
        let all = Retention::everything();
        let two = all.keep(NonZeroUsize::new(2));
        let minute = all.max_age(Duration::from_secs(60));
        let rows: [(Retention, &[i64], i64, usize); 9] = [
            (all, &[0, 10, 20], 1_000_000, 0),
            (two, &[0, 10, 20], 20, 1),
            (two, &[0, 10], 20, 0),
            (two, &[], 20, 0),
            (minute, &[0, 10, 20], 70, 1),
            (minute, &[0, 10, 20], 60, 0),
            (minute, &[0, 10, 20], 1_000_000, 2),
            (two.max_age(Duration::from_secs(60)), &[0, 10, 20, 30], 75, 2),
            // A clock that was set back makes nothing old.
            (minute, &[100, 200], 10, 0),
        ];
        for (policy, seconds, now, gone) in rows {
            let now = Timestamp::from_unix(now, 0).unwrap();
            assert_eq!(policy.outdated(&entries(seconds), now), gone, "{policy:?} {seconds:?} {now}");
        }
    }
}
