//! One request and its reply.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use groundstate_blobs::{Error, ErrorKind, Op, Result};
use groundstate_http_client::{DeadlineExceeded, NotSent, TooLarge, cause_of, collect, host_of};
use http::header::{CONTENT_LENGTH, HeaderName, HeaderValue};
use http::{HeaderMap, Method};
use object_store::client::{HttpError, HttpErrorKind, HttpRequest, HttpResponseBody, HttpService};

use super::http_options::{Expected, SMALL_LIMIT};
use super::secrets::is_secret_header;
use super::transport::Transport;
use super::{address, timestamp};

/// Whether a lost reply leaves something open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Read,
    Change,
}

/// A request before it is signed.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The SHA-256 of the body, if it is known.
    #[cfg(feature = "aws")]
    pub(crate) digest: Option<Vec<u8>>,
    /// What is asked for, which limits the answer.
    pub(crate) expected: Expected,
    /// Its body or its answer is a secret, whatever the headers say.
    is_confidential: bool,
}

/// The mark of requests whose body or answer is a secret.
#[derive(Clone, Copy, Debug)]
pub(super) struct Confidential;

/// What a service answered, whatever it means.
#[derive(Clone)]
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
        Self {
            method,
            url,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            #[cfg(feature = "aws")]
            digest: None,
            expected: Expected::Small,
            is_confidential: false,
        }
    }

    /// A request of a caller's own whose body or answer is a secret.
    pub(crate) fn confidential(request: http::Request<Bytes>) -> Self {
        let (parts, body) = request.into_parts();
        let request = Self::new(parts.method, parts.uri.to_string()).body(body);
        Self { headers: parts.headers, is_confidential: true, ..request }
    }

    /// Says what is asked for; lists, errors and the like without it.
    pub(crate) fn expects(mut self, expected: Expected) -> Self {
        self.expected = expected;
        self
    }

    /// Adds a header. Names come from this crate; a value that no header can have is refused when the request is built.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Result<Self> {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| unsendable(name, error))?;
        let mut value = HeaderValue::from_str(value).map_err(|error| unsendable(name.as_str(), error))?;
        // Credentials and keys of customers are headers: the client's own logs leave out what is marked.
        value.set_sensitive(is_secret_header(&name));
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
        let Self { method, url, headers, body, expected, is_confidential, .. } = self;
        let has_body = matches!(method, Method::PUT | Method::POST);
        let length = body.len();
        // Signer and client parse it again, and panic if they cannot.
        address(&url).map_err(|why| {
            Error::new(ErrorKind::Invalid, Op::Send, "a request to this address").because(why)
        })?;
        let mut request = http::Request::builder()
            .method(method)
            .uri(url)
            .body(body.into())
            .map_err(|error| unsendable("address", error))?;
        *request.headers_mut() = headers;
        request.extensions_mut().insert(expected);
        if is_confidential {
            request.extensions_mut().insert(Confidential);
        }
        if has_body {
            request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        Ok(request)
    }
}

fn unsendable(what: &str, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Invalid, Op::Send, format_args!("the header {what}"))
        .because("its text has characters that no request can have")
        .with_source(error)
}

impl fmt::Debug for Request {
    /// Shows neither the path, the query and the headers nor the body.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = url::Url::parse(&self.url).ok();
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("host", &url.as_ref().map(host_of))
            .field("body", &self.body.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Reply {
    /// Shows the status and the size only: states and keys hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, body, .. } = self;
        f.debug_struct("Reply").field("status", status).field("body", &body.len()).finish_non_exhaustive()
    }
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

    /// How long the service asks to wait before the next request: a number of seconds, or a date that counts from its own.
    pub fn retry_after(&self) -> Option<Duration> {
        let text = self.header("retry-after")?.trim();
        let seconds = || text.parse().ok().map(Duration::from_secs);
        seconds().or_else(|| timestamp(text)?.duration_since(timestamp(self.header("date")?)?))
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
    transport: Transport,
    /// What to check when no connection can be made.
    endpoint_hint: String,
}

impl Wire {
    pub(crate) fn new(transport: Transport, endpoint_hint: String) -> Self {
        Self { transport, endpoint_hint }
    }

    /// The same for another service, with what to check when that does not answer.
    pub(crate) fn with_hint(&self, endpoint_hint: String) -> Self {
        Self { transport: self.transport.clone(), endpoint_hint }
    }

    /// Sends a signed request, and says what a missing reply means.
    pub(crate) async fn send(
        &self,
        op: Op,
        place: &str,
        request: HttpRequest,
        effect: Effect,
    ) -> Result<Reply> {
        let host = request.uri().host().unwrap_or_default().to_owned();
        let proxy = self.transport.proxy_hint(request.uri());
        let reply = match self.transport.call(request).await {
            Ok(reply) => reply,
            Err(error) if error.kind() == HttpErrorKind::Connect => {
                return Err(Error::new(ErrorKind::Unavailable, op, place)
                    .because(format!("no connection to {host} can be made"))
                    .next_step(proxy.unwrap_or_else(|| self.endpoint_hint.clone()))
                    .with_source(error));
            }
            Err(error) => return Err(self.failed(op, place, &host, effect, error)),
        };
        let (parts, body) = reply.into_parts();
        let status = parts.status.as_u16();
        let body = match whole(body).await {
            Ok(body) => body,
            // What a change did stands in the status and the headers, which are here.
            Err(_) if effect == Effect::Change && parts.status.is_success() => Bytes::new(),
            Err(error) => return Err(self.failed(op, place, &host, effect, error)),
        };
        Ok(Reply { status, headers: parts.headers, body })
    }

    fn failed(&self, op: Op, place: &str, host: &str, effect: Effect, error: HttpError) -> Error {
        if let Some(why) = cause_of::<NotSent>(&error) {
            return Error::new(ErrorKind::Invalid, op, place).because(why.to_string());
        }
        let refusal = if let Some(TooLarge { limit }) = cause_of(&error) {
            let step = match *limit {
                SMALL_LIMIT => self.endpoint_hint.clone(),
                _ => "if it is a state of that size, set the option `max_state_size` or the variable GROUNDSTATE_MAX_STATE_SIZE".to_owned(),
            };
            Some((format!("{host} sends more than {limit} bytes"), step))
        } else if let Some(DeadlineExceeded { seconds }) = cause_of(&error) {
            let step = "if the line is that slow, set the option `request_timeout` or the variable GROUNDSTATE_REQUEST_TIMEOUT";
            Some((format!("the answer was not complete after {seconds} seconds"), step.to_owned()))
        } else {
            None
        };
        match (refusal, effect) {
            (None, Effect::Change) => Error::new(ErrorKind::Ambiguous, op, place),
            (None, Effect::Read) => {
                Error::new(ErrorKind::Unavailable, op, place).because("the answer did not arrive whole")
            }
            // The change may have been made.
            (Some((why, step)), Effect::Change) => {
                Error::new(ErrorKind::Ambiguous, op, place).because(why).next_step(step)
            }
            // Asking again would take as long.
            (Some((why, step)), Effect::Read) => {
                Error::new(ErrorKind::LimitExceeded, op, place).because(why).next_step(step)
            }
        }
        .with_source(error)
    }
}

/// All of a body.
async fn whole(body: HttpResponseBody) -> Result<Bytes, HttpError> {
    collect(body, |error| HttpError::new(HttpErrorKind::Decode, error)).await
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, HeaderValue, Method};

    use super::{Reply, Request};

    #[test]
    fn no_debug_text_has_a_secret_of_a_request_or_its_reply() {
        let mut request = Request::new(Method::PUT, "https://hush@example.test/hush?sig=hush".to_owned())
            .body(Bytes::from_static(b"hush"));
        for name in [
            "authorization",
            "x-amz-security-token",
            "x-ms-copy-source-authorization",
            "x-identity-header",
            "x-goog-encryption-key",
            "x-amz-server-side-encryption-customer-key-md5",
        ] {
            request = request.header(name, "hush").unwrap();
        }
        assert!(!format!("{:?}", request.headers).contains("hush"), "{:?}", request.headers);
        let request = request.header("x-ms-version", "hush").unwrap();
        let text = format!("{request:?}");
        assert!(text.contains("example.test") && text.contains("PUT") && !text.contains("hush"), "{text}");

        let headers = HeaderMap::from_iter([(http::header::SET_COOKIE, HeaderValue::from_static("hush"))]);
        let reply = Reply { status: 200, body: Bytes::from_static(b"hush"), headers };
        assert_eq!(format!("{reply:?}"), "Reply { status: 200, body: 4, .. }");
    }
}
