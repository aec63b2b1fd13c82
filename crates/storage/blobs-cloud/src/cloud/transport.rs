//! The one place that makes HTTP clients: what may leave over them, where they may lead, and how much may arrive.
//!
//! No redirect is followed and no `Referer` is sent. What reveals itself to the receiver leaves by TLS only, or for this
//! machine and the services that a cloud gives its machines. Nothing is reserved by what an answer says of its length.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use super::http_options::{Expected, HttpOptions, SMALL_LIMIT, host_of};
#[cfg(feature = "aws")]
use super::proxy::Proxies;
use super::secrets::{carries_secret, is_near};
use super::{address, tls};
use crate::settings::Values;
use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::Error;
use http::{HeaderMap, Method};
use http_body::{Body, Frame};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService,
};
use tracing::field::{Empty, debug};
use tracing::{Instrument, Span, trace_span};

/// How long to wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// Sends requests, each once and to where it is addressed.
#[derive(Clone)]
pub(crate) struct Transport(Arc<Clients>);

struct Clients {
    options: HttpOptions,
    /// Without, the environment of the process decides.
    proxies: Option<Vec<reqwest::Proxy>>,
    /// For most services, through a proxy where one is set.
    outer: OnceLock<reqwest::Client>,
    /// For this machine and the services that a cloud gives its machines: no proxy leads there.
    near: OnceLock<reqwest::Client>,
}

impl Transport {
    /// # Errors
    ///
    /// Those of a proxy that is not an address.
    pub(crate) fn new(options: HttpOptions) -> Result<Self, reqwest::Error> {
        tls::choose_provider();
        #[cfg(feature = "aws")]
        let proxies = options.proxies.as_ref().map(Proxies::for_client).transpose()?;
        #[cfg(not(feature = "aws"))]
        let proxies = None;
        let (outer, near) = (OnceLock::new(), OnceLock::new());
        Ok(Self(Arc::new(Clients { options, proxies, outer, near })))
    }

    /// What to say of the proxy that may lead to an address, without user and password.
    #[cfg(feature = "aws")]
    pub(crate) fn proxy_hint(&self, uri: &http::Uri) -> Option<String> {
        let url = address(&uri.to_string()).ok().filter(|url| !is_near(url))?;
        self.0.options.proxies.as_ref()?.hint(url.scheme())
    }

    /// No option names a proxy.
    #[cfg(not(feature = "aws"))]
    #[expect(clippy::unused_self, reason = "it is a question to the client where options name proxies")]
    pub(crate) fn proxy_hint(&self, _: &http::Uri) -> Option<String> {
        None
    }

    /// What a user should know, as [`HttpOptions::warnings`] says.
    pub(crate) fn warnings(&self, endpoints: &[&str]) -> Vec<String> {
        self.0.options.warnings(endpoints)
    }

    fn client(&self, is_near: bool) -> Result<&reqwest::Client, reqwest::Error> {
        let slot = if is_near { &self.0.near } else { &self.0.outer };
        if let Some(client) = slot.get() {
            return Ok(client);
        }
        let client = self.0.build(is_near)?;
        Ok(slot.get_or_init(|| client))
    }
}

impl Clients {
    fn build(&self, is_near: bool) -> Result<reqwest::Client, reqwest::Error> {
        let Self { options, proxies, .. } = self;
        let mut builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .user_agent(concat!("groundstate/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .read_timeout(options.silence)
            .tls_certs_merge(options.certificates.iter().cloned());
        if options.insecure {
            builder = builder.tls_danger_accept_invalid_certs(true);
        }
        if is_near || proxies.is_some() {
            builder = builder.no_proxy();
        }
        if let Some(proxies) = proxies.as_ref().filter(|_| !is_near) {
            builder = proxies.iter().cloned().fold(builder, reqwest::ClientBuilder::proxy);
        }
        builder.build()
    }
}

impl fmt::Debug for Transport {
    /// Shows nothing: proxies may have passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").finish_non_exhaustive()
    }
}

impl HttpConnector for Transport {
    /// The same client for all, whatever the options of `object_store`.
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for Transport {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let span = request_span(&request);
        let outcome = self.exchange(request).instrument(span.clone()).await;
        match &outcome {
            Ok(reply) => span.record("status", reply.status().as_u16()),
            Err(error) => span.record("error", debug(error.kind())),
        };
        outcome
    }
}

/// The span of a request, until the head of the answer is here.
///
/// Headers have credentials, queries have signatures and tokens, paths of services that give credentials have secrets, and a body
/// has what is stored, so none of them is in it. What an operation is about stands in the span around this one.
fn request_span(request: &HttpRequest) -> Span {
    trace_span!(
        "request",
        method = request.method().as_str(),
        host = request.uri().host(),
        port = request.uri().port_u16(),
        status = Empty,
        error = Empty,
    )
}

impl Transport {
    async fn exchange(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let url = address(&parts.uri.to_string()).map_err(|why| refused(NotSent::Address(why)))?;
        let is_near = is_near(&url);
        if url.scheme() == "http"
            && !is_near
            && !self.0.options.allows_plain_http
            && carries_secret(&url, &parts.headers)
        {
            return Err(refused(NotSent::PlainHttp { host: host_of(url.as_str()).unwrap_or_default() }));
        }
        let expected = parts.extensions.get::<Expected>().copied().unwrap_or_default();
        let (limit, mut deadline) = self.0.options.limit(expected);
        let bytes =
            body.as_bytes().cloned().ok_or_else(|| refused(NotSent::Address("its body is in parts")))?;
        if bytes.len() as u64 > SMALL_LIMIT {
            deadline = self.0.options.deadline;
        }
        let is_head = parts.method == Method::HEAD;
        let mut outgoing = reqwest::Request::new(parts.method, url);
        *outgoing.headers_mut() = parts.headers;
        *outgoing.body_mut() = Some(bytes.into());
        *outgoing.timeout_mut() = Some(deadline);
        let timer = Timer { started: Instant::now(), deadline };
        let client = self.client(is_near).map_err(|error| timer.failed(error))?;
        let reply = client.execute(outgoing).await.map_err(|error| timer.failed(error))?;
        let limit = if reply.status().is_success() { limit } else { SMALL_LIMIT };
        let (parts, body) = http::Response::<reqwest::Body>::from(reply).into_parts();
        if !is_head && declared(&parts.headers).is_some_and(|length| length > limit) {
            return Err(refused_answer(limit));
        }
        let body = LimitedBody { inner: body, left: limit, limit, timer };
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(body)))
    }
}

fn declared(headers: &HeaderMap) -> Option<u64> {
    headers.get(http::header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// When a request began, and how long it may take.
#[derive(Clone, Copy)]
struct Timer {
    started: Instant,
    deadline: Duration,
}

impl Timer {
    fn failed(self, error: reqwest::Error) -> HttpError {
        let kind = match &error {
            error if error.is_timeout() && self.started.elapsed() >= self.deadline => {
                let seconds = self.deadline.as_secs();
                return HttpError::new(HttpErrorKind::Timeout, DeadlineExceeded { seconds });
            }
            error if error.is_connect() => HttpErrorKind::Connect,
            error if error.is_timeout() => HttpErrorKind::Timeout,
            error if error.is_decode() => HttpErrorKind::Decode,
            error if error.is_body() || error.is_request() => HttpErrorKind::Interrupted,
            _ => HttpErrorKind::Unknown,
        };
        // Addresses may have secrets in their queries.
        HttpError::new(kind, error.without_url())
    }
}

/// The body of an answer, of which no more than a limit is read.
struct LimitedBody {
    inner: reqwest::Body,
    left: u64,
    limit: u64,
    timer: Timer,
}

impl Body for LimitedBody {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        let frame = match Pin::new(&mut self.inner).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => frame,
            Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(self.timer.failed(error)))),
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Pending => return Poll::Pending,
        };
        let length = frame.data_ref().map_or(0, |bytes| bytes.len() as u64);
        let Some(left) = self.left.checked_sub(length) else {
            return Poll::Ready(Some(Err(refused_answer(self.limit))));
        };
        self.left = left;
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }
}

fn refused(why: NotSent) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, why)
}

fn refused_answer(limit: u64) -> HttpError {
    HttpError::new(HttpErrorKind::Decode, TooLarge { limit })
}

/// That a request was not sent, and why.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum NotSent {
    #[error("the request cannot be sent: {0}")]
    Address(&'static str),
    #[error(
        "{host} is addressed by plain http, which would show the credentials on the way; use https, or set GROUNDSTATE_ALLOW_PLAIN_HTTP=true"
    )]
    PlainHttp { host: String },
}

/// That an answer is longer than it may be.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the answer has more than {limit} bytes")]
pub(crate) struct TooLarge {
    pub(crate) limit: u64,
}

/// That an answer was not complete in time.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the answer was not complete after {seconds} seconds")]
pub(crate) struct DeadlineExceeded {
    pub(crate) seconds: u64,
}

/// The first cause of this type.
pub(crate) fn cause_of<'e, T: std::error::Error + 'static>(
    error: &'e (dyn std::error::Error + 'static),
) -> Option<&'e T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// The error for settings that no client can be made with.
pub(crate) fn no_client(values: &Values, name: &'static str, error: reqwest::Error) -> Error {
    values.invalid(name, "no client can be made with it").with_source(error.without_url())
}
