//! The keys of one issuer, remembered for a while.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;
use tracing::warn;
use url::Url;

use super::Rejected;
use super::fetch::{FetchError, KeySource};
use super::jwk::PublicKey;
use super::jwt::Unverified;

/// How long keys are used before they are got again.
const FRESH: Duration = Duration::from_secs(3600);
/// How long keys are used while they cannot be got again.
const USABLE: Duration = Duration::from_secs(24 * 3600);
/// How long after an attempt the next one is made, whether it is for a key that is not known or after a failure.
const PAUSE: Duration = Duration::from_secs(30);

/// The keys of an issuer.
#[derive(Debug)]
pub(crate) struct Keys {
    issuer: Url,
    source: Arc<dyn KeySource>,
    known: RwLock<Option<Known>>,
    /// When the last attempt began. Held while one is made, so that there is one at a time.
    attempt: Mutex<Option<Instant>>,
}

#[derive(Clone)]
struct Known {
    keys: Arc<Vec<PublicKey>>,
    since: Instant,
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} keys", self.keys.len())
    }
}

impl Keys {
    pub(crate) fn new(issuer: Url, source: Arc<dyn KeySource>) -> Self {
        Self { issuer, source, known: RwLock::default(), attempt: Mutex::default() }
    }

    /// Checks the signature of a token.
    pub(crate) async fn verify(&self, token: &Unverified<'_>) -> Result<(), Rejected> {
        let now = Instant::now();
        let known = self.known();
        let is_fresh = known.as_ref().is_some_and(|known| now - known.since < FRESH);
        if let Some(known) = known.filter(|_| is_fresh)
            && let Some(verdict) = verdict(&known.keys, token)
        {
            return verdict;
        }
        // There is no such key among those that are known, or they are old.
        match self.refresh(now).await {
            Ok(keys) => verdict(&keys, token).unwrap_or(Err(Rejected::Key)),
            Err(error) => {
                let usable = self.known().filter(|known| now.saturating_duration_since(known.since) < USABLE);
                match usable {
                    Some(known) => verdict(&known.keys, token).unwrap_or(Err(Rejected::Key)),
                    None => Err(error.into()),
                }
            }
        }
    }

    /// Gets the keys, unless that was tried a moment ago.
    async fn refresh(&self, asked: Instant) -> Result<Arc<Vec<PublicKey>>, FetchError> {
        let mut attempt = self.attempt.lock().await;
        if let Some(known) = self.known().filter(|known| known.since >= asked) {
            // Another request has got them while this one waited.
            return Ok(known.keys);
        }
        if attempt.is_some_and(|last| last.elapsed() < PAUSE) {
            return Err(FetchError::TooSoon);
        }
        *attempt = Some(Instant::now());
        match self.source.keys(&self.issuer).await {
            Ok(keys) => {
                let keys = Arc::new(keys);
                let known = Known { keys: Arc::clone(&keys), since: Instant::now() };
                *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some(known);
                Ok(keys)
            }
            Err(error) => {
                let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
                warn!(issuer = %self.issuer, error = %error, cause, "the keys of an issuer cannot be fetched");
                Err(error)
            }
        }
    }

    fn known(&self) -> Option<Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Whether the signature is right; nothing if no key has the name that the token gives.
fn verdict(keys: &[PublicKey], token: &Unverified<'_>) -> Option<Result<(), Rejected>> {
    let mut named = keys.iter().filter(|key| key.is_named(token.key_id.as_deref())).peekable();
    named.peek()?;
    let signed = named.any(|key| key.has_signed(token.algorithm, token.message.as_bytes(), &token.signature));
    Some(if signed { Ok(()) } else { Err(Rejected::Signature) })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use async_trait::async_trait;
    use groundstate_testkit::TestIssuer;
    use serde_json::json;
    use tokio::time::advance;
    use url::Url;

    use super::{FRESH, Keys, PAUSE, USABLE};
    use crate::auth::oidc::Rejected;
    use crate::auth::oidc::fetch::{FetchError, KeySource};
    use crate::auth::oidc::jwk::{PublicKey, parse_keys};
    use crate::auth::oidc::jwt::Unverified;

    /// The keys of an issuer without a network, which can be made to fail and to take long.
    #[derive(Debug)]
    struct Source {
        issuer: TestIssuer,
        asked: AtomicUsize,
        fails: std::sync::atomic::AtomicBool,
        takes: Duration,
    }

    #[async_trait]
    impl KeySource for Source {
        async fn keys(&self, _: &Url) -> Result<Vec<PublicKey>, FetchError> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(self.takes).await;
            match self.fails.load(Ordering::Relaxed) {
                true => Err(FetchError::Form("it fails".to_owned())),
                false => Ok(parse_keys(self.issuer.keys_document().as_bytes()).unwrap()),
            }
        }
    }

    fn setup(takes: Duration) -> (Arc<Source>, Arc<Keys>) {
        let issuer = TestIssuer::start();
        let source = Arc::new(Source { issuer, asked: AtomicUsize::new(0), fails: false.into(), takes });
        let url = Url::parse("https://issuer.example.com").unwrap();
        let keys = Keys::new(url, Arc::clone(&source) as Arc<dyn KeySource>);
        (source, Arc::new(keys))
    }

    impl Source {
        fn token(&self) -> String {
            self.issuer.sign("EdDSA", &json!({ "sub": "x" }))
        }

        fn made_up(&self) -> String {
            self.issuer.sign_with("EdDSA", &json!({ "alg": "EdDSA", "kid": "made-up" }), &json!({}))
        }

        fn asked(&self) -> usize {
            self.asked.load(Ordering::Relaxed)
        }
    }

    async fn verify(keys: &Keys, token: &str) -> Result<(), Rejected> {
        keys.verify(&Unverified::parse(token).unwrap()).await
    }

    #[tokio::test(start_paused = true)]
    async fn new_keys_are_found_after_the_pause_and_names_that_are_made_up_cost_one_attempt_in_it() {
        let (source, keys) = setup(Duration::ZERO);
        verify(&keys, &source.token()).await.unwrap();
        source.issuer.rotate();
        let token = source.token();
        assert!(matches!(verify(&keys, &token).await, Err(Rejected::Key)));
        advance(PAUSE).await;
        verify(&keys, &token).await.unwrap();
        for _ in 0..5 {
            assert!(matches!(verify(&keys, &source.made_up()).await, Err(Rejected::Key)));
        }
        assert_eq!(source.asked(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn keys_are_got_again_when_they_are_old_and_used_a_day_if_that_fails() {
        let (source, keys) = setup(Duration::ZERO);
        let token = source.token();
        verify(&keys, &token).await.unwrap();
        advance(FRESH).await;
        source.fails.store(true, Ordering::Relaxed);
        verify(&keys, &token).await.unwrap();
        verify(&keys, &token).await.unwrap();
        assert_eq!(source.asked(), 2);
        advance(USABLE - FRESH).await;
        assert!(matches!(verify(&keys, &token).await, Err(Rejected::Unavailable(_))));
        source.fails.store(false, Ordering::Relaxed);
        advance(PAUSE).await;
        verify(&keys, &token).await.unwrap();
        assert_eq!(source.asked(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn requests_that_wait_at_the_same_time_share_one_attempt() {
        let (source, keys) = setup(Duration::from_secs(5));
        let token = source.token();
        let tasks: Vec<_> = (0..10)
            .map(|_| {
                let (keys, token) = (Arc::clone(&keys), token.clone());
                tokio::spawn(async move { verify(&keys, &token).await.is_ok() })
            })
            .collect();
        for task in tasks {
            assert!(task.await.unwrap());
        }
        assert_eq!(source.asked(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_signature_by_another_key_is_wrong_although_its_name_is_right() {
        let (source, keys) = setup(Duration::ZERO);
        let other = TestIssuer::start();
        let token = other.sign("EdDSA", &json!({ "sub": "x" }));
        assert!(matches!(verify(&keys, &token).await, Err(Rejected::Signature)));
        let unnamed = source.issuer.sign_with("ES256", &json!({ "alg": "ES256" }), &json!({}));
        verify(&keys, &unnamed).await.unwrap();
    }
}
