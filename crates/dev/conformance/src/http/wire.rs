//! Requests by hand, and what is expected of their answers.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
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
    /// One for a case: its connections are served by the case's runtime.
    client: Arc<Result<Client, String>>,
    pub(super) trace: Arc<Trace>,
    made: Arc<Mutex<Made>>,
}

/// What a case leaves at the server unless it is removed.
#[derive(Debug, Default)]
struct Made {
    /// The addresses to which something was uploaded, and no others.
    states: Vec<String>,
    /// The address of each lock that was asked for, and the document.
    locks: Vec<(String, Vec<u8>)>,
}

/// Under which lock a case uploads; under none where the server lets that be.
#[derive(Debug)]
pub(super) struct Writer {
    lock: Option<Vec<u8>>,
}

impl Writer {
    /// What `?ID=` of an upload has.
    pub(super) fn id(&self) -> Option<String> {
        self.lock.as_ref().map(|_| id_of(WRITER))
    }
}

/// The name of the lock under which a case uploads.
const WRITER: &str = "writer";

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

    /// It is no success. That it is a decision of the server, and so one of 4xx, is another case.
    pub(super) fn refuses(self, what: &str) -> Step<Self> {
        ensure((400..600).contains(&self.status), format!("{what} is refused"), || self.shown())?;
        Ok(self)
    }
}

impl Cx {
    pub(super) fn new(server: HttpServer) -> Self {
        let state = server.fresh_state();
        // A suite that is run by hand, at a server of the user's choice.
        let client = Client::new(ClientOptions::new().allow_plain_http(true)).map_err(|error| chain(&error));
        let made = Arc::default();
        Self { server, state, client: Arc::new(client), trace: Arc::default(), made }
    }

    /// The same server with another state.
    pub(super) fn other(&self) -> Self {
        let state = self.server.fresh_state();
        let (client, trace, made) =
            (Arc::clone(&self.client), Arc::clone(&self.trace), Arc::clone(&self.made));
        Self { server: self.server.clone(), state, client, trace, made }
    }

    /// Whether the suite may write here; an error says why not. A server that answers every address with one state would lose it.
    pub(super) async fn may_write(&self) -> Result<(), String> {
        match self.exchange(&self.state("GET")).await {
            Err(error) => Err(format!("the server does not answer: {error}")),
            Ok(reply) if matches!(reply.status, 401 | 403) => {
                Err(format!("the server does not accept the credentials: {}", reply.shown()))
            }
            Ok(reply) if reply.status == 200 && !reply.body.is_empty() => Err(format!(
                "GET of a state that no run has stored gives {} bytes, so an upload could replace another state",
                reply.body.len()
            )),
            Ok(_) => Ok(()),
        }
    }

    /// The first upload of a case, under a lock if the server takes none without: the answer, and how the case goes on to upload.
    pub(super) async fn first_upload(&self, body: &[u8], chunked: bool) -> Step<(Writer, Reply)> {
        let reply = self.send(Outgoing { chunked, ..self.upload(body, None) }).await?;
        // Some servers have 5xx for it.
        if !(400..600).contains(&reply.status) {
            return Ok((Writer { lock: None }, reply));
        }
        let lock = document(WRITER);
        self.send(self.lock(&lock)).await?.succeeds("a lock, since no upload is taken without one,")?;
        let reply = self.send(Outgoing { chunked, ..self.upload(body, Some(&id_of(WRITER))) }).await?;
        Ok((Writer { lock: Some(lock) }, reply))
    }

    /// Stores a state, under a lock if it has to be.
    pub(super) async fn store(&self, body: &[u8]) -> Step {
        let (writer, reply) = self.first_upload(body, false).await?;
        reply.succeeds("an upload")?;
        self.end(writer).await
    }

    /// Ends the lock under which the case has uploaded.
    pub(super) async fn end(&self, writer: Writer) -> Step {
        match writer.lock {
            None => Ok(()),
            Some(lock) => self.send(self.unlock(&lock)).await?.succeeds("the writer's release").map(drop),
        }
    }

    /// Removes what the case has left, as far as the server lets it be removed.
    pub(super) async fn tidy(&self, has_failed: bool) {
        let made = std::mem::take(&mut *self.made.lock().unwrap_or_else(PoisonError::into_inner));
        // A case that has passed holds no lock any more.
        let locks = if has_failed { made.locks } else { Vec::new() };
        for (url, document) in &locks {
            let method = &self.server.unlock_method;
            let outgoing = Outgoing { method, url: url.clone(), body: Some(document), ..self.state("") };
            if self.exchange(&outgoing).await.is_err() {
                return;
            }
        }
        for url in made.states {
            if self.exchange(&Outgoing { url, ..self.state("DELETE") }).await.is_err() {
                return;
            }
        }
    }

    /// A request for the state, without a body.
    pub(super) fn state<'a>(&self, method: &'a str) -> Outgoing<'a> {
        Outgoing { method, url: self.state.clone(), body: None, chunked: false, digest: None }
    }

    /// An upload, under the lock of this id.
    pub(super) fn upload<'a>(&'a self, body: &'a [u8], id: Option<&str>) -> Outgoing<'a> {
        Outgoing { body: Some(body), ..self.under(id, &self.server.update_method) }
    }

    /// A request for the state, under the lock of this id.
    pub(super) fn under<'a>(&self, id: Option<&str>, method: &'a str) -> Outgoing<'a> {
        let url = match id {
            None => self.state.clone(),
            // Parameters are sorted, as the original programs have them.
            Some(id) => with_parameter(&self.state, "ID", id),
        };
        Outgoing { url, ..self.state(method) }
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
        self.remember(&outgoing);
        let line = format!("{}{}", outgoing.method, if has_id(&outgoing.url) { " ?ID=…" } else { "" });
        let outcome = self.exchange(&outgoing).await;
        let answer = match &outcome {
            Ok(reply) => reply.status.to_string(),
            Err(_) => "no answer".to_owned(),
        };
        let size = outgoing.body.map_or_else(String::new, |body| format!(" {} bytes", body.len()));
        self.trace.push(format!("{line}{size} -> {answer}"));
        outcome.map_err(|error| failed(format!("{} is answered", outgoing.method), error))
    }

    /// Notes what a request may leave at the server.
    fn remember(&self, outgoing: &Outgoing<'_>) {
        let Some(body) = outgoing.body else { return };
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let lock = self.server.lock_of(&self.state);
        if (outgoing.method, &outgoing.url) == (&self.server.lock_method, &lock) {
            made.locks.push((lock, body.to_vec()));
        } else if outgoing.method != self.server.unlock_method && !made.states.contains(&self.state) {
            made.states.push(self.state.clone());
        }
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
        let client = self.client.as_ref().as_ref().map_err(Clone::clone)?;
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

/// Whether an upload names a lock.
fn has_id(url: &str) -> bool {
    url.split_once('?').is_some_and(|(_, query)| query.split('&').any(|pair| pair.starts_with("ID=")))
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
