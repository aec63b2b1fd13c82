//! Who sends a request.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use groundstate_common::Clock;
use groundstate_http_client::InvalidOption;
use http::HeaderMap;
use tokio::time::Instant;
use tracing::{debug, warn};

use super::cache::TokenCache;
use super::certificate::{self, CertificateRule};
use super::credentials::Credentials;
use super::failures::Failures;
use super::oidc::{HttpFetch, Issuers, KeySource, Rejected};
use super::principal::{Grant, Principal, PrincipalKind, Role};
use super::settings::{Anonymous, AuthSettings};
use super::token::Token;
use super::tokens::{StoredToken, TokenError, TokenStatus, Tokens};

/// Headers by which a proxy says for whom it asks. A request that has one does not come from a client of this machine.
const FORWARDING: [&str; 6] =
    ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via"];

/// Says who sends a request. Clones share what they remember.
#[derive(Clone, Debug)]
pub struct Authenticator(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    tokens: Tokens,
    cache: TokenCache,
    issuers: Issuers,
    certificates: Vec<CertificateRule>,
    anonymous: Anonymous,
    failures: Failures,
    clock: Arc<dyn Clock>,
    /// A token was found once. Tokens are revoked, and their documents stay, so this never changes back.
    has_tokens: AtomicBool,
}

/// The other end of a connection.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Peer<'a> {
    /// The address of the client, which a trusted proxy may have told.
    pub address: Option<IpAddr>,
    /// The certificate that the listener has verified, as DER.
    pub certificate: Option<&'a [u8]>,
}

impl<'a> Peer<'a> {
    /// The other end of a connection.
    pub fn new(address: Option<IpAddr>, certificate: Option<&'a [u8]>) -> Self {
        Self { address, certificate }
    }
}

/// Why a request has no principal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// It has no credentials, and needs some.
    Missing,
    /// Its credentials are not valid. The reason is for logs, not for the client, unless the client has proved to be the owner.
    Invalid {
        /// Why, without anything of the credentials.
        reason: String,
        /// Which token it is, if that is known: `token:ID`.
        subject: Option<String>,
        /// Whether the owner of the credentials is told the reason.
        is_owner: bool,
    },
    /// The address has failed too often. It waits.
    TooMany(Duration),
    /// Whether the credentials are valid cannot be found out now.
    Unavailable,
}

impl Authenticator {
    /// An authenticator with the tokens of a store, and the settings, which are valid.
    ///
    /// # Errors
    ///
    /// When no client for HTTPS can be made.
    pub fn new(
        tokens: Tokens,
        settings: &AuthSettings,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, InvalidOption> {
        let source: Arc<dyn KeySource> = Arc::new(HttpFetch::new()?);
        let issuers = Issuers::new(&settings.issuers, &source);
        Ok(Self(Arc::new(Inner {
            tokens,
            cache: TokenCache::default(),
            issuers,
            certificates: settings.certificates.clone(),
            anonymous: settings.anonymous,
            failures: Failures::default(),
            clock,
            has_tokens: AtomicBool::new(false),
        })))
    }

    /// Whether there is any way by which a client can say who it is. A server without one is for its own machine.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn is_in_use(&self) -> Result<bool, TokenError> {
        let inner = &*self.0;
        if !inner.issuers.is_empty()
            || !inner.certificates.is_empty()
            || inner.has_tokens.load(Ordering::Relaxed)
        {
            return Ok(true);
        }
        let is_any = inner.tokens.is_any().await?;
        inner.has_tokens.fetch_or(is_any, Ordering::Relaxed);
        Ok(is_any)
    }

    /// The principal of a request.
    ///
    /// # Errors
    ///
    /// If it has none, each failure of an address being counted.
    pub async fn authenticate(&self, headers: &HeaderMap, peer: Peer<'_>) -> Result<Principal, Refusal> {
        let now = Instant::now();
        let outcome = match Credentials::of(headers) {
            Ok(Some(Credentials::Token(token))) => self.token(&token, peer, now).await,
            Ok(Some(Credentials::Jwt(jwt))) => self.jwt(&jwt, peer, now).await,
            Ok(None) => return self.without_credentials(headers, peer).await,
            Ok(Some(Credentials::Any)) => match self.without_credentials(headers, peer).await {
                Err(Refusal::Missing) => {
                    let unknown = "this server does not know the access token; \
                                   create one with `groundstate token create`";
                    self.wait(peer, now).and(Err(Refusal::invalid(unknown.to_owned())))
                }
                other => other,
            },
            Err(error) => self.wait(peer, now).and(Err(Refusal::invalid(error.to_string()))),
        };
        if let (Err(Refusal::Invalid { .. }), Some(address)) = (&outcome, peer.address) {
            self.0.failures.count(address, now);
        }
        outcome
    }

    /// Refuses an address that has failed too often.
    fn wait(&self, peer: Peer<'_>, now: Instant) -> Result<(), Refusal> {
        let wait = peer.address.and_then(|address| self.0.failures.wait(address, now));
        wait.map_or(Ok(()), |wait| Err(Refusal::TooMany(wait)))
    }

    async fn token(&self, token: &Token, peer: Peer<'_>, now: Instant) -> Result<Principal, Refusal> {
        let (inner, hash) = (&*self.0, token.hash());
        let id = hash.id();
        let stored: Option<Arc<StoredToken>> = match inner.cache.get(&id, now) {
            Some(known) => known,
            None => {
                // Behind the memory, so that what others do at the same address does not stop a client that is known.
                self.wait(peer, now)?;
                let found = inner.tokens.find(&id).await.map_err(|error| unavailable(&error))?.map(Arc::new);
                inner.cache.put(&id, found.clone(), now);
                found
            }
        };
        let subject = Some(format!("token:{id}"));
        let invalid =
            |reason: String, is_owner| Refusal::Invalid { reason, subject: subject.clone(), is_owner };
        let Some(stored) = stored.filter(|stored| stored.hash.is(&hash)) else {
            self.wait(peer, now)?;
            return Err(invalid("there is no such token".to_owned(), false));
        };
        let time = inner.clock.now();
        let ended = match stored.info.status(time) {
            TokenStatus::Active => None,
            TokenStatus::Expired => Some("has expired"),
            TokenStatus::Revoked => Some("was revoked"),
        };
        if let Some(ended) = ended {
            self.wait(peer, now)?;
            return Err(invalid(format!("the token {} {ended}", stored.info.name), true));
        }
        let day: String = time.to_string().chars().take(10).collect();
        if inner.cache.is_first_use(&id, &day) {
            let tokens = inner.tokens.clone();
            tokio::spawn(async move {
                if let Err(error) = tokens.note_use(&id, day).await {
                    debug!(error = %error, token = %id, "the use of a token could not be noted");
                }
            });
        }
        Ok(stored.info.principal())
    }

    async fn jwt(&self, jwt: &str, peer: Peer<'_>, now: Instant) -> Result<Principal, Refusal> {
        self.wait(peer, now)?;
        match self.0.issuers.principal(jwt, self.0.clock.now()).await {
            Ok(principal) => Ok(principal),
            Err(Rejected::Unavailable(_)) => Err(Refusal::Unavailable),
            Err(rejected) => Err(Refusal::invalid(rejected.to_string())),
        }
    }

    async fn without_credentials(&self, headers: &HeaderMap, peer: Peer<'_>) -> Result<Principal, Refusal> {
        let inner = &*self.0;
        let of_certificate =
            peer.certificate.and_then(|der| certificate::principal(der, &inner.certificates));
        if let Some(principal) = of_certificate {
            return Ok(principal);
        }
        let is_allowed = match inner.anonymous {
            Anonymous::Never => false,
            Anonymous::Everywhere => true,
            Anonymous::Loopback => {
                peer.address.is_some_and(|address| address.to_canonical().is_loopback())
                    && !FORWARDING.iter().any(|name| headers.contains_key(*name))
            }
        };
        if !is_allowed || self.is_in_use().await.map_err(|error| unavailable(&error))? {
            return Err(Refusal::Missing);
        }
        Ok(Principal::new("local", PrincipalKind::Local, vec![Grant::everything(Role::Admin)]))
    }
}

impl Refusal {
    fn invalid(reason: String) -> Self {
        Self::Invalid { reason, subject: None, is_owner: false }
    }
}

fn unavailable(error: &TokenError) -> Refusal {
    let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    warn!(error = %error, cause, "credentials cannot be checked");
    Refusal::Unavailable
}
