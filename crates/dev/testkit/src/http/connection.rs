//! One connection: requests are read whole, logged, and carried out with the faults that are planned for them.

use std::io;
use std::sync::Arc;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use super::body::AnswerBody;
use super::{Answer, Request, Service};
use crate::fault::{Faults, carry_out};
use crate::log::Log;

/// What every connection of a server shares.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) service: Arc<dyn Service>,
    pub(super) log: Arc<Log>,
    pub(super) faults: Arc<Faults>,
}

/// Serves a connection until one of its ends has enough.
pub(super) async fn drive(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, shared: Connection) {
    let service = service_fn(move |request| answer(request, shared.clone()));
    // An error is a client that went away, or a fault that closed the connection: both are in the log already.
    drop(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
}

async fn answer(
    request: hyper::Request<Incoming>,
    shared: Connection,
) -> Result<hyper::Response<AnswerBody>, io::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let target =
        head.uri.path_and_query().map_or_else(|| "/".to_owned(), |target| target.as_str().to_owned());
    let request = Request { method: head.method.as_str().to_owned(), target, headers: head.headers, body };
    // A task of its own: what was sent is carried out even if the client does not wait for it.
    let task = tokio::spawn(async move {
        let id = shared.log.arrived(&request);
        let answer = carry_out(&shared.faults, &*shared.service, &request, &shared.log, id).await;
        shared.log.answered(id, answer.as_ref());
        answer
    });
    let answer = task.await.map_err(io::Error::other)?;
    answer.map_or_else(|| Err(io::Error::other("the connection is closed without an answer")), response)
}

fn response(answer: Answer) -> Result<hyper::Response<AnswerBody>, io::Error> {
    let mut response = hyper::Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        response = response.header(name, value.as_bytes());
    }
    if let Some(declared) = answer.declared {
        response = response.header("content-length", declared);
    }
    response.body(AnswerBody::of(&answer)).map_err(io::Error::other)
}
