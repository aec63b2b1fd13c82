//! What tests hand in.

use std::sync::Arc;

use groundstate_common::{FixedClock, OsEntropy, OsIds, Timestamp};
use groundstate_key_services::{DataKey, Error, ErrorKind, KeyContext, KeyService, WrappedKey};

pub(crate) type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A context in which waits are over at once, and the clock that they move.
pub(crate) fn clocked() -> (KeyContext, Arc<FixedClock>) {
    let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
    let sleeper = Arc::<FixedClock>::clone(&clock);
    let context =
        KeyContext::new(Arc::<FixedClock>::clone(&clock), sleeper, Arc::new(OsIds), Arc::new(OsEntropy));
    (context, clock)
}

pub(crate) fn context() -> KeyContext {
    clocked().0
}

/// That a key comes back whole, and that none of its bytes is in what is stored.
pub(crate) async fn comes_back(service: &dyn KeyService, length: usize) -> Result<WrappedKey, Error> {
    let (key, wrapped) = service.generate(length).await?;
    assert_eq!(key.len(), length);
    assert!(!wrapped.ciphertext.windows(8).any(|window| key.expose().starts_with(window)));
    assert_eq!(service.unwrap(&wrapped).await?.expose(), key.expose());
    let again = service.wrap(&key).await?;
    assert_eq!(service.unwrap(&again).await?.expose(), key.expose());
    Ok(wrapped)
}

/// Checks the kind of an error, and that its text has these words.
pub(crate) fn refused<T: std::fmt::Debug>(outcome: Result<T, Error>, kind: ErrorKind, words: &[&str]) {
    let error = outcome.expect_err("it is refused");
    assert_eq!(error.kind(), kind, "{error}");
    for word in words {
        assert!(error.to_string().contains(word), "{word}: {error}");
    }
}

pub(crate) fn key(text: &str) -> DataKey {
    DataKey::new(text.as_bytes().to_vec())
}
