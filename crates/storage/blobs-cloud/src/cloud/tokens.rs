//! Requests for tokens, their answers, and how long a token is used.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use groundstate_blobs::{Error, ErrorKind, Op, Result};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use tracing::debug;

use super::{Effect, Reply, Request, Wire, query, token};

const OP: Op = Op::GetToken;
/// A token is renewed so long before it ends.
const MARGIN: Duration = Duration::from_secs(300);
/// How long a token is good that does not say so.
pub(crate) const SHORT: Duration = Duration::from_secs(600);
/// More of a refusal than this is not worth showing.
const LONGEST_REFUSAL: usize = 300;

/// A token, and how long it is good from now on.
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) lives: Duration,
}

/// The token that was got last.
#[derive(Default)]
pub(crate) struct TokenCache(Mutex<Option<(String, Instant)>>);

impl TokenCache {
    /// The token, while it is good for some time yet.
    pub(crate) fn get(&self) -> Option<String> {
        let cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (text, until) = cached.as_ref()?;
        (Instant::now() < *until).then(|| text.clone())
    }

    pub(crate) fn put(&self, token: &Token) {
        let used = token.lives.saturating_sub(MARGIN).max(token.lives / 2);
        let until = Instant::now().checked_add(used);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) =
            until.map(|until| (token.text.clone(), until));
    }
}

impl fmt::Debug for TokenCache {
    /// Shows nothing: it is a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenCache").finish_non_exhaustive()
    }
}

/// Checks a token that a service has sent, which becomes a header.
pub(crate) fn token_of(place: &str, text: &str, lives: Duration) -> Result<Token> {
    let text = token(text).map_err(|why| {
        Error::new(ErrorKind::Unauthenticated, OP, place).because(format!("the token is none: {why}"))
    })?;
    Ok(Token { text: text.to_owned(), lives })
}

/// A number of seconds, which some services write as a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seconds(pub(crate) u64);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(u64),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(seconds) => Ok(Self(seconds)),
            Written::Text(text) => text.trim().parse().map(Self).map_err(D::Error::custom),
        }
    }
}

/// The answer of an OAuth service.
#[derive(Deserialize)]
pub(crate) struct OAuthAnswer {
    access_token: String,
    expires_in: Option<Seconds>,
}

impl OAuthAnswer {
    pub(crate) fn token(self, place: &str) -> Result<Token> {
        let lives = self.expires_in.map_or(SHORT, |Seconds(seconds)| Duration::from_secs(seconds));
        token_of(place, &self.access_token, lives)
    }
}

/// A form that is posted.
pub(crate) fn form(url: &str, pairs: &[(&str, &str)]) -> Result<Request> {
    let request = Request::new(http::Method::POST, url.to_owned());
    let request = request.header("content-type", "application/x-www-form-urlencoded")?;
    Ok(request.header("accept", "application/json")?.body(query(pairs).into()))
}

/// Sends a request for a token or what leads to one, and reads the answer; `place` says whose it is, without secrets.
pub(crate) async fn ask<T: DeserializeOwned>(wire: &Wire, place: &str, request: Request) -> Result<T> {
    let reply = answer(wire, place, request).await?;
    serde_json::from_slice(&reply.body).map_err(|_| {
        // The cause would quote the answer, which may have a token in it.
        let error = Error::new(ErrorKind::Unauthenticated, OP, place);
        error.because("the answer is not the JSON that was expected")
    })
}

/// The same for an answer that is the token itself.
#[cfg(feature = "gcp")]
pub(crate) async fn ask_text(wire: &Wire, place: &str, request: Request) -> Result<String> {
    let reply = answer(wire, place, request).await?;
    Ok(String::from_utf8_lossy(&reply.body).into_owned())
}

async fn answer(wire: &Wire, place: &str, request: Request) -> Result<Reply> {
    debug!(from = place, "asking for a token");
    let request = request.build()?;
    // The address of the blobs is not what to check.
    let host = request.uri().host().unwrap_or_default();
    let wire = wire.with_hint(format!("check the network, and whether {host} is the right address"));
    let reply = wire.send(OP, place, request, Effect::Read).await?;
    if reply.is_success() {
        return Ok(reply);
    }
    let kind = match reply.status {
        429 => ErrorKind::Throttled,
        500.. => ErrorKind::Unavailable,
        _ => ErrorKind::Unauthenticated,
    };
    Err(Error::new(kind, OP, place).because(refusal(&reply)))
}

/// Why a service gives no token, in its own words. Redirects are not followed.
fn refusal(reply: &Reply) -> String {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Cause {
        Code(String),
        Object { message: Option<String> },
    }
    #[derive(Deserialize)]
    struct Document {
        error: Option<Cause>,
        error_description: Option<String>,
        message: Option<String>,
    }
    let status = reply.status;
    if (300..400).contains(&status) {
        return format!("it answers with a redirect (status {status}), which is not followed");
    }
    let document = serde_json::from_slice::<Document>(&reply.body).ok();
    let text = document.map(|document| {
        let cause = match document.error {
            Some(Cause::Code(code)) => Some(code),
            Some(Cause::Object { message }) => message,
            None => document.message,
        };
        let texts: Vec<String> = [cause, document.error_description].into_iter().flatten().collect();
        texts.join(": ").lines().next().unwrap_or_default().chars().take(LONGEST_REFUSAL).collect::<String>()
    });
    match text.filter(|text| !text.is_empty()) {
        Some(text) => format!("it refuses (status {status}): {text}"),
        None => format!("it refuses with status {status}"),
    }
}

/// The error of an operation for which there are no credentials, and why.
pub(crate) fn unauthenticated(op: Op, place: &str, error: Error, step: &str) -> Error {
    let kind = error.kind();
    let because = format!("no credentials can be had: {error}");
    let outer = Error::new(kind, op, place).because(because);
    match error.step() {
        Some(_) => outer.with_source(error),
        None => outer.next_step(step).with_source(error),
    }
}
