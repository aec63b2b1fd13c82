//! One request and its reply.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderName, HeaderValue};
use http::{HeaderMap, Method};
use object_store::ClientOptions;
use object_store::client::{HttpClient, HttpConnector, HttpErrorKind, HttpRequest, ReqwestConnector};

use super::{address, tls};
use crate::error::{Error, ErrorKind, Result};

/// Whether a lost reply leaves something open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Read,
    Change,
}

/// A request before it is signed.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// What a service answered, whatever it means.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Reply {
    /// The status, such as 200.
    pub status: u16,
    /// The body, whole.
    pub body: Bytes,
    headers: HeaderMap,
}

impl Request {
    pub(crate) fn new(method: Method, url: String) -> Self {
        Self { method, url, headers: HeaderMap::new(), body: Bytes::new() }
    }

    /// Adds a header. Names come from this crate; a value that no header can have is refused when the request is built.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Result<Self> {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| unsendable(name, error))?;
        let mut value = HeaderValue::from_str(value).map_err(|error| unsendable(name.as_str(), error))?;
        // Keys of customers are headers: the client's own logs leave out what is marked.
        value.set_sensitive(name.as_str().contains("key"));
        self.headers.insert(name, value);
        Ok(self)
    }

    pub(crate) fn headers(self, headers: &[(String, String)]) -> Result<Self> {
        headers.iter().try_fold(self, |request, (name, value)| request.header(name, value))
    }

    pub(crate) fn body(mut self, body: Bytes) -> Self {
        self.body = body;
        self
    }

    /// The same for the client and for signers, which want to know the length.
    pub(crate) fn build(self) -> Result<HttpRequest> {
        let Self { method, url, headers, body } = self;
        let has_body = matches!(method, Method::PUT | Method::POST);
        let length = body.len();
        // Signer and client parse it again, and panic if they cannot.
        address(&url).map_err(|why| {
            Error::new(ErrorKind::Invalid, "send", "a request to this address").because(why)
        })?;
        let mut request = http::Request::builder()
            .method(method)
            .uri(url)
            .body(body.into())
            .map_err(|error| unsendable("address", error))?;
        *request.headers_mut() = headers;
        if has_body {
            request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        Ok(request)
    }
}

fn unsendable(what: &str, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Invalid, "send", format_args!("the header {what}"))
        .because("its text has characters that no request can have")
        .with_source(error)
}

impl Reply {
    /// The first header of this name, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Whether the status is one of success.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Headers whose names begin so, by the rest of the name.
    pub(crate) fn headers_with<'r>(&'r self, prefix: &'r str) -> impl Iterator<Item = (&'r str, &'r str)> {
        let named =
            self.headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        named.filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?, value)))
    }
}

/// Sends requests, each once.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    http: HttpClient,
    /// What to check when nobody answers.
    endpoint_hint: String,
}

impl Wire {
    pub(crate) fn new(options: &ClientOptions, endpoint_hint: String) -> Result<Self, object_store::Error> {
        tls::choose_provider();
        let http = ReqwestConnector::default().connect(options)?;
        Ok(Self { http, endpoint_hint })
    }

    /// Sends a signed request, and says what a missing reply means.
    pub(crate) async fn send(
        &self,
        op: &'static str,
        place: &str,
        request: HttpRequest,
        effect: Effect,
    ) -> Result<Reply> {
        let host = request.uri().host().unwrap_or_default().to_owned();
        let reply = match self.http.execute(request).await {
            Ok(reply) => reply,
            Err(error) if error.kind() == HttpErrorKind::Connect => {
                return Err(Error::new(ErrorKind::Unavailable, op, place)
                    .because(format!("no connection to {host} can be made"))
                    .next_step(self.endpoint_hint.clone())
                    .with_source(error));
            }
            Err(error) => return Err(lost(op, place, effect).with_source(error)),
        };
        let (parts, body) = reply.into_parts();
        let status = parts.status.as_u16();
        let body = match body.bytes().await {
            Ok(body) => body,
            // What a change did stands in the status and the headers, which are here.
            Err(_) if effect == Effect::Change && parts.status.is_success() => Bytes::new(),
            Err(error) => return Err(lost(op, place, effect).with_source(error)),
        };
        Ok(Reply { status, headers: parts.headers, body })
    }
}

fn lost(op: &'static str, place: &str, effect: Effect) -> Error {
    match effect {
        Effect::Read => {
            Error::new(ErrorKind::Unavailable, op, place).because("the answer did not arrive whole")
        }
        Effect::Change => Error::new(ErrorKind::Ambiguous, op, place),
    }
}
