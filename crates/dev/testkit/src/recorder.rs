//! A server that only listens.

use std::ops::Deref;
use std::sync::Arc;

use async_trait::async_trait;

use crate::certificate::Certificate;
use crate::http::{Answer, Request, Server, Service};

/// A server that answers every request in the same way and records what it was sent: the far end of what must not be sent
/// there.
///
/// ```
/// use groundstate_testkit::{Answer, Recorder};
///
/// let recorder = Recorder::start(Answer::new(404));
/// // ... let a client work that may know `recorder.endpoint()` ...
/// assert!(!recorder.saw("secret"));
/// assert!(recorder.requests().is_empty());
/// ```
#[derive(Debug)]
pub struct Recorder(Server);

struct Script(Box<dyn Fn(&Request) -> Answer + Send + Sync>);

#[async_trait]
impl Service for Script {
    async fn answer(&self, request: &Request) -> Option<Answer> {
        Some((self.0)(request))
    }
}

impl Recorder {
    /// Starts a server on a free port of the loopback that gives this answer to everything.
    pub fn start(answer: Answer) -> Self {
        Self::answering(move |_| answer.clone())
    }

    /// The same with an answer for each request, such as that of a service of tokens.
    pub fn answering(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        Self(Server::start(Arc::new(Script(Box::new(answer)))))
    }

    /// The same over TLS.
    pub fn start_tls(certificate: &Certificate, answer: Answer) -> Self {
        Self(Server::start_tls(certificate, Arc::new(Script(Box::new(move |_| answer.clone())))))
    }

    /// Whether a text arrived in a path, a query, a header or a body.
    pub fn saw(&self, text: &str) -> bool {
        let has = |bytes: &[u8]| bytes.windows(text.len().max(1)).any(|window| window == text.as_bytes());
        self.requests().iter().any(|request| {
            has(request.path.as_bytes())
                || has(request.query.as_bytes())
                || has(&request.body)
                || request.headers.iter().any(|(name, value)| has(name.as_bytes()) || has(value.as_bytes()))
        })
    }
}

impl Deref for Recorder {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}
