//! What is remembered of tokens, so that not every request asks the store.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::token::TokenId;
use super::tokens::StoredToken;

/// How long a token that was revoked is accepted at most by a node that has seen it.
pub const STALENESS: Duration = Duration::from_secs(30);
/// How long a token that does not exist is remembered.
const ABSENT: Duration = Duration::from_secs(5);
/// How many tokens are remembered.
const MOST: usize = 4096;

/// What the store said of tokens, a moment ago.
#[derive(Debug, Default)]
pub(crate) struct TokenCache(Mutex<HashMap<TokenId, Remembered>>);

#[derive(Debug)]
struct Remembered {
    token: Option<Arc<StoredToken>>,
    since: Instant,
    /// The last day on which its use was noted.
    noted: Option<String>,
}

impl Remembered {
    fn is_fresh(&self, now: Instant) -> bool {
        let most = if self.token.is_some() { STALENESS } else { ABSENT };
        now.saturating_duration_since(self.since) < most
    }
}

impl TokenCache {
    /// What the store said of it; nothing if that is too long ago.
    pub(crate) fn get(&self, id: &TokenId, now: Instant) -> Option<Option<Arc<StoredToken>>> {
        self.inner().get(id).filter(|known| known.is_fresh(now)).map(|known| known.token.clone())
    }

    /// Remembers what the store said when it was asked at this time.
    pub(crate) fn put(&self, id: &TokenId, token: Option<Arc<StoredToken>>, asked: Instant) {
        let mut known = self.inner();
        if known.len() >= MOST && !known.contains_key(id) {
            known.retain(|_, known| known.is_fresh(asked));
            if known.len() >= MOST {
                // Those that do not exist are the ones that a stranger can make up.
                known.retain(|_, known| known.token.is_some());
            }
            if known.len() >= MOST {
                return;
            }
        }
        let noted = known.get(id).and_then(|known| known.noted.clone());
        known.insert(id.clone(), Remembered { token, since: asked, noted });
    }

    /// Whether the use of the token on this day has still to be noted; it counts as noted then.
    pub(crate) fn is_first_use(&self, id: &TokenId, day: &str) -> bool {
        match self.inner().get_mut(id) {
            Some(known) if known.noted.as_deref() != Some(day) => {
                known.noted = Some(day.to_owned());
                true
            }
            _ => false,
        }
    }

    fn inner(&self) -> MutexGuard<'_, HashMap<TokenId, Remembered>> {
        // The map is plain data, so a panic elsewhere cannot have left it half written.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{MOST, STALENESS, TokenCache};
    use crate::auth::token::TokenId;

    fn id(number: usize) -> TokenId {
        TokenId::parse(&format!("{number:016x}")).unwrap()
    }

    #[test]
    fn the_memory_is_bounded_and_absence_is_forgotten_first() {
        let (cache, start) = (TokenCache::default(), Instant::now());
        (0..3 * MOST).for_each(|number| cache.put(&id(number), None, start));
        assert!(cache.0.lock().unwrap().len() <= MOST);
        cache.put(&id(1), None, start);
        assert!(matches!(cache.get(&id(1), start), Some(None)));
        assert!(cache.get(&id(1), start + Duration::from_secs(5)).is_none());
        assert!(STALENESS > Duration::from_secs(5));
    }

    #[test]
    fn a_use_is_noted_once_a_day() {
        let (cache, start) = (TokenCache::default(), Instant::now());
        assert!(!cache.is_first_use(&id(1), "2026-03-01"));
        cache.put(&id(1), None, start);
        assert!(cache.is_first_use(&id(1), "2026-03-01"));
        assert!(!cache.is_first_use(&id(1), "2026-03-01"));
        cache.put(&id(1), None, start);
        assert!(!cache.is_first_use(&id(1), "2026-03-01"));
        assert!(cache.is_first_use(&id(1), "2026-03-02"));
    }
}
