//! Requests by hand, and what is expected of their answers.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use groundstate_common::{one_line, shortened};
use groundstate_http_client::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName};
use groundstate_http_client::http::{HeaderMap, HeaderValue, Method};
use groundstate_http_client::{Client, ClientOptions, Request, SMALL_LIMIT, address, read_whole};
use md5::{Digest, Md5};
use tokio::runtime::{Builder, Runtime};

use super::HttpServer;
use crate::failure::{Step, ensure, failed};
use crate::trace::Trace;

/// How long a case may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);
/// How long a server may take for an answer.
const DEADLINE: Duration = Duration::from_secs(30);
const CONTENT_MD5: HeaderName = HeaderName::from_static("content-md5");

/// A runtime for one case.
pub(super) fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// What a case works with: a state that no other case has.
pub(super) struct Cx {
    server: HttpServer,
    state: String,
    pub(super) trace: Arc<Trace>,
}

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Outgoing<'a> {
    pub(super) method: &'a str,
    pub(super) url: String,
    /// `None` for requests that have none.
    pub(super) body: Option<&'a [u8]>,
    pub(super) chunked: bool,
    /// The digest that is sent, if it is not that of the body.
    pub(super) digest: Option<&'a str>,
}

/// An answer.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Bytes,
    headers: HeaderMap,
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The status, and the beginning of the body if that is text.
    pub(super) fn shown(&self) -> String {
        match std::str::from_utf8(&self.body) {
            Ok(text) if !text.is_empty() => {
                format!("{}: {}", self.status, shortened(&one_line(text), 200))
            }
            _ => format!("{} with a body of {} bytes", self.status, self.body.len()),
        }
    }

    /// It is one of these.
    pub(super) fn is(self, statuses: &[u16], what: &str) -> Step<Self> {
        let names: Vec<String> = statuses.iter().map(ToString::to_string).collect();
        let expected = format!("{what} is answered with {}", names.join(" or "));
        ensure(statuses.contains(&self.status), expected, || self.shown())?;
        Ok(self)
    }

    /// It is a success, whichever: other cases are about that.
    pub(super) fn succeeds(self, what: &str) -> Step<Self> {
        ensure((200..300).contains(&self.status), format!("{what} succeeds"), || self.shown())?;
        Ok(self)
    }

    /// It is a decision of the server: 5xx is asked for again, and 3xx leads elsewhere.
    pub(super) fn refuses(self, what: &str) -> Step<Self> {
        ensure((400..500).contains(&self.status), format!("{what} is refused with 4xx"), || self.shown())?;
        Ok(self)
    }
}

impl Cx {
    pub(super) fn new(server: HttpServer) -> Self {
        let state = server.fresh_state();
        Self { server, state, trace: Arc::default() }
    }

    /// The same server with another state.
    pub(super) fn other(&self) -> Self {
        let state = self.server.fresh_state();
        Self { server: self.server.clone(), state, trace: Arc::clone(&self.trace) }
    }

    /// A request for the state, without a body.
    pub(super) fn state<'a>(&self, method: &'a str) -> Outgoing<'a> {
        Outgoing { method, url: self.state.clone(), body: None, chunked: false, digest: None }
    }

    /// An upload, under the lock of this id.
    pub(super) fn upload<'a>(&'a self, body: &'a [u8], id: Option<&str>) -> Outgoing<'a> {
        let url = match id {
            None => self.state.clone(),
            // Parameters are sorted, as the original programs have them.
            Some(id) => with_parameter(&self.state, "ID", id),
        };
        Outgoing { url, body: Some(body), ..self.state(&self.server.update_method) }
    }

    fn of_lock<'a>(&self, method: &'a str, body: &'a [u8]) -> Outgoing<'a> {
        Outgoing { url: self.server.lock_of(&self.state), body: Some(body), ..self.state(method) }
    }

    /// A request for the lock.
    pub(super) fn lock<'a>(&'a self, document: &'a [u8]) -> Outgoing<'a> {
        self.of_lock(&self.server.lock_method, document)
    }

    /// A release of the lock.
    pub(super) fn unlock<'a>(&'a self, document: &'a [u8]) -> Outgoing<'a> {
        self.of_lock(&self.server.unlock_method, document)
    }

    pub(super) async fn send(&self, outgoing: Outgoing<'_>) -> Step<Reply> {
        let line = format!("{}{}", outgoing.method, outgoing.url.split_once('?').map_or("", |_| " ?…"));
        let outcome = self.exchange(&outgoing).await;
        let answer = match &outcome {
            Ok(reply) => reply.status.to_string(),
            Err(_) => "no answer".to_owned(),
        };
        let size = outgoing.body.map_or_else(String::new, |body| format!(" {} bytes", body.len()));
        self.trace.push(format!("{line}{size} -> {answer}"));
        outcome.map_err(|error| failed(format!("{} is answered", outgoing.method), error))
    }

    async fn exchange(&self, outgoing: &Outgoing<'_>) -> Result<Reply, String> {
        let url = address(&outgoing.url).map_err(|why| format!("the address cannot be used: {why}"))?;
        let method = Method::from_bytes(outgoing.method.as_bytes()).map_err(|error| error.to_string())?;
        let mut headers = self.headers()?;
        let mut request = Request::new(method, url).limit(SMALL_LIMIT, DEADLINE).chunked(outgoing.chunked);
        if let Some(body) = outgoing.body {
            let digest = BASE64_STANDARD.encode(Md5::digest(body));
            let digest = HeaderValue::from_str(outgoing.digest.unwrap_or(&digest));
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers.insert(CONTENT_MD5, digest.map_err(|error| error.to_string())?);
            request = request.body(Bytes::copy_from_slice(body));
        }
        // A suite that is run by hand, at a server of the user's choice.
        let client =
            Client::new(ClientOptions::new().allow_plain_http(true)).map_err(|error| chain(&error))?;
        let answer = client.send(request.headers(headers)).await.map_err(|error| chain(&error))?;
        let (parts, body) = answer.into_parts();
        let body = read_whole(body).await.map_err(|error| chain(&error))?;
        Ok(Reply { status: parts.status.as_u16(), body, headers: parts.headers })
    }

    fn headers(&self) -> Result<HeaderMap, String> {
        let mut headers = HeaderMap::new();
        if let Some(user) = &self.server.username {
            let password = self.server.password.as_deref().unwrap_or_default();
            let basic = format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")));
            headers.insert(AUTHORIZATION, HeaderValue::from_str(&basic).map_err(|error| error.to_string())?);
        }
        for (name, value) in &self.server.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| error.to_string())?;
            let value = HeaderValue::from_str(value);
            headers.insert(name, value.map_err(|_| "a header has characters that none can have".to_owned())?);
        }
        Ok(headers)
    }

    /// The state reads so; nothing where nothing is stored.
    pub(super) async fn reads(&self, expected: Option<&[u8]>, when: &str) -> Step {
        let reply = self.send(self.state("GET")).await?;
        let stored = match reply.status {
            200 if !reply.body.is_empty() => Some(&reply.body[..]),
            200 | 204 | 404 => None,
            _ => return Err(failed(format!("GET {when} is answered with 200 or 404"), reply.shown())),
        };
        let shown = |bytes: Option<&[u8]>| match bytes {
            Some(bytes) => crate::failure::describe_bytes(bytes),
            None => "nothing".to_owned(),
        };
        ensure(stored == expected, format!("GET {when} gives {}", shown(expected)), || shown(stored))
    }

    /// The lock is held: another client does not get it.
    pub(super) async fn is_held(&self, when: &str) -> Step {
        let probe = document("probe");
        let reply = self.send(self.lock(&probe)).await?;
        ensure((400..500).contains(&reply.status), format!("{when}, the lock is held"), || reply.shown())
    }

    /// The lock is free: another client gets it, and gives it back.
    pub(super) async fn is_free(&self, when: &str) -> Step {
        let probe = document("probe");
        self.send(self.lock(&probe)).await?.succeeds(&format!("{when}, a lock of another client"))?;
        self.send(self.unlock(&probe)).await?.succeeds("its release").map(drop)
    }
}

/// The document of a lock by this name, as Terraform sends it.
pub(super) fn document(name: &str) -> Vec<u8> {
    let id = crate::cx::lock_id(crate::frame::SEED, name);
    format!(
        "{{\"ID\":\"{id}\",\"Operation\":\"OperationTypeApply\",\"Info\":\"{name} \\u003c\\u0026\\u003e\",\"Who\":\"{name}@conformance\",\
         \"Version\":\"1.11.4\",\"Created\":\"2026-11-21T01:02:07.782867924Z\",\"Path\":\"\"}}"
    )
    .into_bytes()
}

/// The id in such a document.
pub(super) fn id_of(name: &str) -> String {
    crate::cx::lock_id(crate::frame::SEED, name).to_string()
}

/// A state of this serial.
pub(super) fn state(serial: u64) -> Vec<u8> {
    crate::cx::document(serial, 0)
}

fn with_parameter(url: &str, name: &str, value: &str) -> String {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let mut pairs: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty()).collect();
    let own = format!("{name}={value}");
    pairs.push(&own);
    pairs.sort_unstable();
    format!("{path}?{}", pairs.join("&"))
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(&format!(": {cause}"));
        next = cause.source();
    }
    text
}
