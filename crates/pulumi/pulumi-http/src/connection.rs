//! Requests and their answers: what is repeated, how much is read, and what a status means.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use groundstate_common::{Backoff, Sleeper, one_line, shortened};
use groundstate_http_client::http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, LOCATION, RETRY_AFTER,
};
use groundstate_http_client::http::{HeaderMap, HeaderValue, Method};
use groundstate_http_client::{
    Client, ClientOptions, DEADLINE, Request, SHORT_DEADLINE, SMALL_LIMIT, STATE_LIMIT, SendError, read_whole,
};
use groundstate_pulumi_protocol::{ErrorBody, Route, decode};
use serde::de::DeserializeOwned;
use tracing::field::{Empty, debug};
use tracing::{Instrument, Span, debug, debug_span, trace_span};

use crate::{AccessToken, Error, ErrorKind, Op, Result, ServiceAddress};

/// The version of the protocol that is spoken.
const PROTOCOL: HeaderValue = HeaderValue::from_static("application/vnd.pulumi+9");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const GZIP: HeaderValue = HeaderValue::from_static("gzip");
/// From how many bytes on a body is compressed.
const COMPRESSED: usize = 4 << 10;
/// The longest wait before another attempt; a service that asks for more is not waited for.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// How often a request is made, at most.
const ATTEMPTS: u32 = 4;
/// Characters of what a service says that an error has, at most.
const MOST_SAID: usize = 500;

/// How a service is reached.
#[derive(Clone, Debug)]
pub struct ServiceOptions {
    pub(crate) client: ClientOptions,
    pub(crate) state_limit: u64,
    pub(crate) first_wait: Duration,
}

impl ServiceOptions {
    /// The system's authorities, states of up to 1 GiB, a second before the first repetition.
    pub fn new() -> Self {
        Self { client: ClientOptions::new(), state_limit: STATE_LIMIT, first_wait: Duration::from_secs(1) }
    }

    /// Sets how requests are made: certificates, proxies, whether tokens may leave by plain http.
    #[must_use]
    pub fn client(mut self, client: ClientOptions) -> Self {
        self.client = client;
        self
    }

    /// Sets how many bytes a state or a list may have.
    #[must_use]
    pub fn state_limit(mut self, bytes: u64) -> Self {
        self.state_limit = bytes;
        self
    }

    /// Sets the wait before the first repetition of a request; each later one is twice as long, up to 30 s.
    #[must_use]
    pub fn first_wait(mut self, wait: Duration) -> Self {
        self.first_wait = wait;
        self
    }
}

impl Default for ServiceOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether a request may be made twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// It reads, or comes to the same however often it arrives.
    Freely,
    /// Only if it surely did not arrive.
    IfNotSent,
}

/// A call of the protocol.
pub(crate) struct Call<'c> {
    pub(crate) op: Op,
    /// What errors name.
    pub(crate) target: &'c str,
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) query: Vec<(&'static str, String)>,
    pub(crate) body: Option<Bytes>,
    pub(crate) repeat: Repeat,
    /// The answer may be as large as a state.
    pub(crate) is_large: bool,
}

impl<'c> Call<'c> {
    /// A call without a body whose answer is short; calls that read are repeated freely.
    pub(crate) fn new(op: Op, target: &'c str, route: &Route) -> Self {
        let method = route.method();
        let repeat = if matches!(method, "GET" | "HEAD") { Repeat::Freely } else { Repeat::IfNotSent };
        let (path, query) = (route.path(), Vec::new());
        Self { op, target, method, path, query, body: None, repeat, is_large: false }
    }

    pub(crate) fn query(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.query.push((name, value.into()));
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = Some(body.into());
        self
    }

    pub(crate) fn repeated(mut self) -> Self {
        self.repeat = Repeat::Freely;
        self
    }

    pub(crate) fn large(mut self) -> Self {
        self.is_large = true;
        self
    }

    pub(crate) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(kind, self.op, self.target)
    }
}

/// An answer of a status below 300.
struct Answer {
    body: Bytes,
}

/// Why an attempt has no answer that counts.
enum Attempt {
    Unsent(SendError),
    Lost(SendError),
    /// The service has no time, or failed: status, the wait it asks for, its words.
    Later(u16, Option<Duration>, Option<String>),
    Final(Error),
}

/// A client of one service, for one user.
pub(crate) struct Connection {
    client: Client,
    pub(crate) address: ServiceAddress,
    token: Option<AccessToken>,
    pub(crate) sleeper: Arc<dyn Sleeper>,
    options: ServiceOptions,
}

impl Connection {
    pub(crate) fn new(
        address: ServiceAddress,
        token: Option<AccessToken>,
        options: ServiceOptions,
        sleeper: Arc<dyn Sleeper>,
    ) -> Result<Self> {
        let client = Client::new(options.client.clone()).map_err(|error| {
            Error::new(ErrorKind::Invalid, Op::Use, &address)
                .because("no client can be made")
                .with_source(error)
        })?;
        Ok(Self { client, address, token, sleeper, options })
    }

    pub(crate) fn reconnected(&self) -> Result<Self> {
        let (address, token, options) = (self.address.clone(), self.token.clone(), self.options.clone());
        Self::new(address, token, options, Arc::clone(&self.sleeper))
    }

    /// The document of an answer.
    pub(crate) async fn ask<T: DeserializeOwned>(&self, call: &Call<'_>) -> Result<T> {
        let answer = self.send(call).await?;
        decode(&answer).map_err(|error| self.no_document(call, &error.to_string()))
    }

    /// That an answer of success is none of a service.
    pub(crate) fn no_document(&self, call: &Call<'_>, why: &str) -> Error {
        // What was asked for may have been done, by whatever answers there.
        let kind = match call.repeat {
            Repeat::Freely => ErrorKind::NotService,
            Repeat::IfNotSent => ErrorKind::Ambiguous,
        };
        call.error(kind)
            .because(format!("the answer of {} is none of a Pulumi service: {why}", self.address))
            .next_step("check the address")
    }

    /// The body of the answer to a call, which is repeated as far as it may be.
    pub(crate) async fn send(&self, call: &Call<'_>) -> Result<Bytes> {
        let span =
            debug_span!("call", op = call.op.as_str(), place = call.target, attempt = Empty, error = Empty,);
        let sent = self.send_until_answered(call).instrument(span.clone()).await;
        if let Err(error) = &sent {
            span.record("error", debug(error.kind()));
        }
        sent
    }

    async fn send_until_answered(&self, call: &Call<'_>) -> Result<Bytes> {
        let mut waits = Backoff::new(self.options.first_wait, LONGEST_WAIT);
        let mut attempts = 1;
        loop {
            let failed = match self.attempt(call).await {
                Ok(answer) => return Ok(answer.body),
                Err(failed) => failed,
            };
            let may_repeat = match (&failed, call.repeat) {
                (Attempt::Final(_), _) => false,
                (Attempt::Unsent(error), _) => matches!(error, SendError::Connect(_)),
                (Attempt::Later(429, ..), _) => true,
                (Attempt::Lost(_) | Attempt::Later(..), repeat) => repeat == Repeat::Freely,
            };
            let asked = match &failed {
                Attempt::Later(_, wait, _) => *wait,
                _ => None,
            };
            let wait = asked.unwrap_or_else(|| waits.wait());
            if !may_repeat || attempts == ATTEMPTS || wait > LONGEST_WAIT {
                return Err(self.failure(call, failed, attempts));
            }
            attempts += 1;
            Span::current().record("attempt", attempts);
            debug!(attempt = attempts, delay = wait.as_secs_f64(), "waiting before another attempt");
            self.sleeper.sleep(wait).await;
        }
    }

    async fn attempt(&self, call: &Call<'_>) -> Result<Answer, Attempt> {
        let mut url = self.address.join(&call.path).map_err(|why| {
            Attempt::Final(
                call.error(ErrorKind::Invalid).because(format!("its path is no part of an address: {why}")),
            )
        })?;
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.query);
        }
        let span = trace_span!(
            "request",
            method = call.method,
            host = url.host_str(),
            port = url.port(),
            status = Empty,
            error = Empty,
        );
        let request = self.request(call, url).map_err(Attempt::Final)?;
        self.answered(call, request, &span).instrument(span.clone()).await
    }

    fn request(&self, call: &Call<'_>, url: groundstate_http_client::url::Url) -> Result<Request> {
        let mut headers = HeaderMap::from_iter([(ACCEPT, PROTOCOL), (CONTENT_TYPE, JSON)]);
        headers.extend(self.token.as_ref().map(|token| (AUTHORIZATION, token.header())));
        let method = Method::from_bytes(call.method.as_bytes())
            .map_err(|error| call.error(ErrorKind::Internal).with_source(error))?;
        let (limit, deadline) = match call.is_large {
            true => (self.options.state_limit, DEADLINE),
            false => (SMALL_LIMIT, if call.body.is_some() { DEADLINE } else { SHORT_DEADLINE }),
        };
        let mut request = Request::new(method, url).reveals(self.token.is_some() || call.body.is_some());
        if let Some(body) = &call.body {
            let packed = Some(body).filter(|body| body.len() >= COMPRESSED).and_then(|body| compressed(body));
            headers.extend(packed.is_some().then_some((CONTENT_ENCODING, GZIP)));
            request = request.body(packed.unwrap_or_else(|| body.clone()));
        }
        Ok(request.headers(headers).limit(limit, deadline))
    }

    async fn answered(&self, call: &Call<'_>, request: Request, span: &Span) -> Result<Answer, Attempt> {
        let lost = |error: SendError| {
            span.record("error", error.to_string());
            if error.was_sent() { Attempt::Lost(error) } else { Attempt::Unsent(error) }
        };
        let answer = self.client.send(request).await.map_err(lost)?;
        let (parts, body) = answer.into_parts();
        let status = parts.status.as_u16();
        span.record("status", status);
        let header = |name| parts.headers.get(name).and_then(|value| value.to_str().ok());
        if parts.status.is_success() {
            return match read_whole(body).await {
                Ok(body) => Ok(Answer { body }),
                Err(SendError::TooLarge(why)) => {
                    Err(Attempt::Final(call.error(ErrorKind::TooLarge).because(why.to_string())))
                }
                Err(error) => Err(lost(error)),
            };
        }
        if parts.status.is_redirection() {
            let place =
                header(LOCATION).map(|place| format!(" to {}", self.cleaned(place))).unwrap_or_default();
            let why = format!("{} redirects{place}, and a token goes to no other address", self.address);
            let error = call.error(ErrorKind::NotService).because(why).with_status(status);
            return Err(Attempt::Final(error.next_step("log in to the address of the service itself")));
        }
        let wait = header(RETRY_AFTER).and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
        let body = read_whole(body).await.unwrap_or_default();
        let said = decode::<ErrorBody>(&body).ok().filter(|said| said.code != 0 || !said.message.is_empty());
        if status == 429 || status >= 500 {
            let words = said.map(|said| self.cleaned(&said.message)).filter(|words| !words.is_empty());
            return Err(Attempt::Later(status, wait, words));
        }
        Err(Attempt::Final(self.refused(call, status, said)))
    }

    /// Words of others, on one line, and without the token.
    fn cleaned(&self, text: &str) -> String {
        let text = self.token.as_ref().map_or_else(|| text.to_owned(), |token| token.hidden_in(text));
        shortened(&one_line(&text), MOST_SAID).into_owned()
    }

    /// What a status below 500 means.
    fn refused(&self, call: &Call<'_>, status: u16, said: Option<ErrorBody>) -> Error {
        let is_document = said.is_some();
        let message = said.map(|said| self.cleaned(&said.message)).unwrap_or_default();
        let kind = match status {
            401 => ErrorKind::NotLoggedIn,
            403 => ErrorKind::Denied,
            404 if is_document => ErrorKind::NotFound,
            404 | 405 => ErrorKind::NotService,
            409 if call.op == Op::Create => ErrorKind::Exists,
            409 => ErrorKind::Running,
            412 if call.op == Op::Import => ErrorKind::Changed,
            412 if matches!(call.op, Op::RenewLock | Op::Unlock) => ErrorKind::LockLost,
            413 => ErrorKind::TooLarge,
            400 if message == ErrorBody::STILL_HAS_RESOURCES => ErrorKind::HasResources,
            400 | 422 if is_document => ErrorKind::Invalid,
            501 => ErrorKind::Unsupported,
            _ if is_document => ErrorKind::Invalid,
            _ => ErrorKind::NotService,
        };
        let words = if message.is_empty() { String::new() } else { format!(": {message}") };
        let why = match kind {
            ErrorKind::NotService => {
                format!("{} answers with {status}, and with no document of a Pulumi service", self.address)
            }
            _ => format!("{} answers with {status}{words}", self.address),
        };
        let error = call.error(kind).because(why).with_status(status);
        match kind {
            ErrorKind::NotLoggedIn => error.next_step(format!("log in with `pulumi login {}`", self.address)),
            ErrorKind::NotService => error.next_step("check the address"),
            _ => error,
        }
    }

    /// What it means that no attempt had an answer that counts.
    fn failure(&self, call: &Call<'_>, failed: Attempt, attempts: u32) -> Error {
        let times = if attempts > 1 { format!(" (after {attempts} attempts)") } else { String::new() };
        let doubt = |error: Error| match error.kind() {
            ErrorKind::Ambiguous => error.next_step("look at what is there before anything else"),
            _ => error,
        };
        let unknown = match call.repeat {
            Repeat::Freely => ErrorKind::Unavailable,
            Repeat::IfNotSent => ErrorKind::Ambiguous,
        };
        match failed {
            Attempt::Final(error) => error,
            Attempt::Later(status, wait, words) => {
                let kind = if status == 429 { ErrorKind::Unavailable } else { unknown };
                let words = words.map(|words| format!(": {words}")).unwrap_or_default();
                let wait =
                    wait.map(|wait| format!(", and asks to wait {} s", wait.as_secs())).unwrap_or_default();
                let why = format!("{} answers with {status}{words}{wait}{times}", self.address);
                doubt(call.error(kind).because(why).with_status(status))
            }
            Attempt::Unsent(error) => {
                let kind = match error {
                    SendError::Connect(_) => ErrorKind::Unavailable,
                    _ => ErrorKind::Invalid,
                };
                let does = if kind == ErrorKind::Unavailable { " does not answer" } else { "" };
                let why = format!("{}{does}: {error}{times}", self.address);
                call.error(kind).because(why).with_source(error)
            }
            Attempt::Lost(error) => {
                let why = format!("{} does not answer: {error}{times}", self.address);
                doubt(call.error(unknown).because(why).with_source(error))
            }
        }
    }
}

/// A body as the protocol has it where it is large.
fn compressed(body: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let packed = encoder.write_all(body).and_then(|()| encoder.finish());
    packed.ok().map(Bytes::from)
}
