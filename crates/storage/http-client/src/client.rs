//! The client, and what it sends.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};
use http_body::{Body, Frame};
use url::Url;

use crate::address::{host_of, is_near};
use crate::body::{LimitedBody, Timer};
use crate::error::{InvalidOption, NotSent, SendError};
use crate::options::{ClientOptions, SHORT_DEADLINE, SMALL_LIMIT};
use crate::tls;

/// How long to wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// A request, and what may come of it.
pub struct Request {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Bytes,
    is_chunked: bool,
    limit: u64,
    deadline: Duration,
    reveals: bool,
}

impl Request {
    /// A request without a body, whose answer is short.
    pub fn new(method: Method, url: Url) -> Self {
        let (headers, body) = (HeaderMap::new(), Bytes::new());
        let (limit, deadline) = (SMALL_LIMIT, SHORT_DEADLINE);
        Self { method, url, headers, body, is_chunked: false, limit, deadline, reveals: false }
    }

    /// Sets the headers.
    #[must_use]
    pub fn headers(mut self, headers: HeaderMap) -> Self {
        self.headers = headers;
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: Bytes) -> Self {
        self.body = body;
        self
    }

    /// Sends the body in chunks, without saying its length before.
    #[must_use]
    pub fn chunked(mut self, yes: bool) -> Self {
        self.is_chunked = yes;
        self
    }

    /// Sets how many bytes a successful answer may have, and how long it may take. Others are short.
    #[must_use]
    pub fn limit(mut self, bytes: u64, deadline: Duration) -> Self {
        self.limit = bytes;
        self.deadline = deadline;
        self
    }

    /// Says whether the request shows a secret to its receiver and to every host on the way.
    #[must_use]
    pub fn reveals(mut self, yes: bool) -> Self {
        self.reveals = yes;
        self
    }
}

impl fmt::Debug for Request {
    /// Shows neither headers nor the query nor the body.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, url, .. } = self;
        f.debug_struct("Request").field("method", method).field("host", &host_of(url)).finish_non_exhaustive()
    }
}

/// Sends requests, each once and to where it is addressed.
#[derive(Clone)]
pub struct Client(Arc<Clients>);

struct Clients {
    options: ClientOptions,
    /// Without, the environment of the process decides.
    proxies: Option<Vec<reqwest::Proxy>>,
    /// For most services, through a proxy where one is set.
    outer: OnceLock<reqwest::Client>,
    /// For this machine and the services that a cloud gives its machines: no proxy leads there.
    near: OnceLock<reqwest::Client>,
}

impl Client {
    /// A client with these options. Nothing is connected.
    ///
    /// # Errors
    ///
    /// When a proxy is not an address, or the key is not that of the certificate.
    pub fn new(options: ClientOptions) -> Result<Self, InvalidOption> {
        tls::choose_provider();
        let proxies = options.proxies.as_ref().map(|proxies| proxies.for_client()).transpose()?;
        let (outer, near) = (OnceLock::new(), OnceLock::new());
        let client = Self(Arc::new(Clients { options, proxies, outer, near }));
        if client.0.options.has_identity() {
            // What is wrong with it shows here.
            client.client(false).map_err(InvalidOption::new)?;
        }
        Ok(client)
    }

    /// The options that it was made with.
    pub fn options(&self) -> &ClientOptions {
        &self.0.options
    }

    fn client(&self, is_near: bool) -> Result<&reqwest::Client, reqwest::Error> {
        let slot = if is_near { &self.0.near } else { &self.0.outer };
        if let Some(client) = slot.get() {
            return Ok(client);
        }
        let client = self.0.build(is_near)?;
        Ok(slot.get_or_init(|| client))
    }

    /// Sends a request once, and gives the head of the answer with a body that has not been read.
    ///
    /// # Errors
    ///
    /// [`SendError::NotSent`] for a secret by plain http, and what happens on the way.
    pub async fn send(&self, request: Request) -> Result<http::Response<LimitedBody>, SendError> {
        let Request { method, url, headers, body, is_chunked, limit, deadline, reveals } = request;
        let is_near = is_near(&url);
        if url.scheme() == "http" && !is_near && !self.0.options.allows_plain_http && reveals {
            return Err(NotSent::PlainHttp { host: host_of(&url).unwrap_or_default() }.into());
        }
        let is_head = method == Method::HEAD;
        let mut outgoing = reqwest::Request::new(method, url);
        *outgoing.headers_mut() = headers;
        *outgoing.body_mut() = match is_chunked {
            true => Some(reqwest::Body::wrap(Chunks(Some(body)))),
            false => Some(body.into()),
        };
        *outgoing.timeout_mut() = Some(deadline);
        let timer = Timer::new(deadline);
        let client = self.client(is_near).map_err(|error| timer.failed(error))?;
        let reply = client.execute(outgoing).await.map_err(|error| timer.failed(error))?;
        let limit = if reply.status().is_success() { limit } else { SMALL_LIMIT };
        let (parts, body) = http::Response::<reqwest::Body>::from(reply).into_parts();
        // A body that declares too much is not read at all; the status is known.
        let is_too_large = !is_head && declared(&parts.headers).is_some_and(|length| length > limit);
        Ok(http::Response::from_parts(parts, LimitedBody::new(body, limit, is_too_large, timer)))
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
            .read_timeout(options.silence);
        let certificates = options.certificates.iter().cloned();
        builder = match options.only_these {
            true => builder.tls_certs_only(certificates),
            false => builder.tls_certs_merge(certificates),
        };
        if let Some(identity) = &options.identity {
            builder = builder.identity(identity.clone());
        }
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

impl fmt::Debug for Client {
    /// Shows nothing: proxies may have passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

fn declared(headers: &HeaderMap) -> Option<u64> {
    headers.get(http::header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// A body whose length is not said before it is sent.
struct Chunks(Option<Bytes>);

impl Body for Chunks {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let bytes = self.0.take().filter(|bytes| !bytes.is_empty());
        Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}
