//! A reverse proxy with the log and the faults of all servers of this crate.

use std::ops::Deref;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::certificate::Certificate;
use crate::http::{Answer, Request, Server, Service};

/// A proxy in front of any server that speaks HTTP, which logs, counts and makes faults as those of this crate do.
///
/// Requests are passed on as they are, with their header `Host`, and one at a connection. A fault after the commit is one
/// after the other server has answered.
///
/// ```
/// use groundstate_testkit::{Fault, FaultProxy, S3Server};
///
/// let server = S3Server::start_blocking();
/// let proxy = FaultProxy::in_front_of(&server.endpoint());
/// proxy.fault(Fault::unavailable(1).times(2));
/// // ... let clients work on `proxy.endpoint()` ...
/// assert_eq!(proxy.traffic().requests, 0);
/// ```
#[derive(Debug)]
pub struct FaultProxy {
    server: Server,
}

impl FaultProxy {
    /// Starts a proxy in front of a server, by its address (`127.0.0.1:5555`) or its URL without a path.
    pub fn in_front_of(upstream: &str) -> Self {
        Self { server: Server::start(Forward::to(upstream)) }
    }

    /// Starts a proxy that speaks TLS with this certificate, in front of a server that does not.
    pub fn tls_in_front_of(upstream: &str, certificate: &Certificate) -> Self {
        Self { server: Server::start_tls(certificate, Forward::to(upstream)) }
    }
}

impl Deref for FaultProxy {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

/// What passes requests on.
struct Forward {
    upstream: String,
}

impl Forward {
    fn to(upstream: &str) -> Arc<dyn Service> {
        let address = upstream.strip_prefix("http://").unwrap_or(upstream).trim_end_matches('/');
        Arc::new(Self { upstream: address.to_owned() })
    }

    async fn forward(&self, request: &Request) -> Option<Answer> {
        let stream = TcpStream::connect(&self.upstream).await.ok()?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
        drop(tokio::spawn(connection));
        let mut outgoing = hyper::Request::builder().method(request.method()).uri(&request.target);
        for (name, value) in request.headers.iter().filter(|(name, _)| !is_of_connection(name.as_str())) {
            outgoing = outgoing.header(name, value);
        }
        if request.body.is_empty() && request.header("content-length").is_some() {
            // Of an empty body the client here says nothing by itself, and some servers want to be told.
            outgoing = outgoing.header("content-length", "0");
        }
        let body: Full<Bytes> = Full::new(request.body.clone());
        let (head, body) = sender.send_request(outgoing.body(body).ok()?).await.ok()?.into_parts();
        let mut answer = Answer::new(head.status.as_u16()).body(body.collect().await.ok()?.to_bytes());
        for (name, value) in head.headers.iter().filter(|(name, _)| !is_of_connection(name.as_str())) {
            answer = answer.header(name.as_str(), String::from_utf8_lossy(value.as_bytes()));
        }
        if request.method() == "HEAD" {
            let length = head.headers.get("content-length").and_then(|length| length.to_str().ok());
            answer.declared = length.and_then(|length| length.parse().ok());
        }
        Some(answer)
    }
}

/// Tells whether a header is about how the body is carried, which each of the two connections decides itself.
fn is_of_connection(name: &str) -> bool {
    const NAMES: [&str; 6] =
        ["connection", "content-length", "expect", "keep-alive", "te", "transfer-encoding"];
    NAMES.contains(&name)
}

#[async_trait]
impl Service for Forward {
    async fn answer(&self, request: &Request) -> Option<Answer> {
        self.forward(request).await
    }

    fn refusal(&self, request: &Request, status: u16, code: &str) -> Answer {
        let answer = Answer::new(status);
        if request.method() == "HEAD" {
            return answer;
        }
        // Most clients look no further than the status; the rest find a code here in either of the usual forms.
        if request.header("x-amz-target").is_some() {
            return answer.json(&serde_json::json!({ "__type": code, "message": "a fault was planned" }));
        }
        answer.xml(&format!("<Error>{}</Error>", crate::xml::element("Code", code)))
    }
}
