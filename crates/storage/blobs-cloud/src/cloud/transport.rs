//! The client of `groundstate-http-client`, as `object_store` wants one: what may leave, and how much may arrive.
//!
//! No redirect is followed and no `Referer` is sent. What reveals itself to the receiver leaves by TLS only, or for this
//! machine and the services that a cloud gives its machines. Nothing is reserved by what an answer says of its length.

use std::fmt;
use std::sync::Arc;

use super::address;
use super::exchange::Confidential;
use super::http_options::{Expected, HttpOptions, SMALL_LIMIT};
use super::secrets::carries_secret;
use crate::settings::Values;
use async_trait::async_trait;
use groundstate_blobs::Error;
use groundstate_http_client::{Client, InvalidOption, NotSent, Request, SendError};
use http_body_util::BodyExt;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService,
};
use tracing::field::{Empty, debug};
use tracing::{Instrument, Span, trace_span};

/// Sends requests, each once and to where it is addressed.
#[derive(Clone)]
pub(crate) struct Transport(Arc<Inner>);

struct Inner {
    options: HttpOptions,
    client: Client,
}

impl Transport {
    /// # Errors
    ///
    /// Those of a proxy that is not an address.
    pub(crate) fn new(options: HttpOptions) -> Result<Self, InvalidOption> {
        let client = Client::new(options.client.clone())?;
        Ok(Self(Arc::new(Inner { options, client })))
    }

    /// What to say of the proxy that may lead to an address, without user and password.
    #[cfg(feature = "aws")]
    pub(crate) fn proxy_hint(&self, uri: &http::Uri) -> Option<String> {
        let is_far = |url: &url::Url| !groundstate_http_client::is_near(url);
        let url = address(&uri.to_string()).ok().filter(is_far)?;
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
        let url = address(&parts.uri.to_string()).map_err(|why| failed(NotSent::Address(why).into()))?;
        let expected = parts.extensions.get::<Expected>().copied().unwrap_or_default();
        let (limit, mut deadline) = self.0.options.limit(expected);
        let bytes = body.as_bytes().cloned();
        let bytes = bytes.ok_or_else(|| failed(NotSent::Address("its body is in parts").into()))?;
        if bytes.len() as u64 > SMALL_LIMIT {
            deadline = self.0.options.deadline;
        }
        let is_confidential = parts.extensions.get::<Confidential>().is_some();
        let reveals = is_confidential || carries_secret(&url, &parts.headers);
        let request = Request::new(parts.method, url).headers(parts.headers).body(bytes);
        let reply = self.0.client.send(request.limit(limit, deadline).reveals(reveals)).await;
        let (parts, body) = reply.map_err(failed)?.into_parts();
        // No answer to a change is that long, so nothing that this one says is believed, not its status either.
        body.check_declared().map_err(|error| failed(error.into()))?;
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(body.map_err(failed))))
    }
}

/// The failure as `object_store` words it.
fn failed(error: SendError) -> HttpError {
    match error {
        SendError::NotSent(why) => HttpError::new(HttpErrorKind::Unknown, why),
        SendError::TooLarge(why) => HttpError::new(HttpErrorKind::Decode, why),
        SendError::Deadline(why) => HttpError::new(HttpErrorKind::Timeout, why),
        SendError::Connect(why) | SendError::Tls(why) => HttpError::new(HttpErrorKind::Connect, why),
        SendError::Silent(why) => HttpError::new(HttpErrorKind::Timeout, why),
        SendError::Interrupted(why) => HttpError::new(HttpErrorKind::Interrupted, why),
        error @ SendError::Decode(_) => HttpError::new(HttpErrorKind::Decode, error),
        error => HttpError::new(HttpErrorKind::Unknown, error),
    }
}

/// The error for settings that no client can be made with.
pub(crate) fn no_client(values: &Values, name: &'static str, error: InvalidOption) -> Error {
    values.invalid(name, "no client can be made with it").with_source(error)
}
