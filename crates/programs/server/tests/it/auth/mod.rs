//! Authentication in front of the router.

mod certificates;
mod issuers;
mod local;
mod secrets;
mod tokens;

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundstate_conformance::FaultyBlobs;
use groundstate_server::audit::{AuditLog, Location};
use groundstate_server::auth::{
    AuthSettings, Authenticator, ClientCertificate, Grant, NewToken, Pattern, Role, Token, TokenInfo,
    TokenName, Tokens, require,
};
use groundstate_server::blobs::{BlobStore, Context, MemoryBlobs};
use groundstate_server::common::{FixedClock, OsIds, Timestamp};
use groundstate_server::{App, Origin, Parts, router};
use http::Request;
use http_body_util::BodyExt;
use tower::ServiceExt;

use crate::support::{Answer, lock_document};

/// A server whose requests need a principal, on a store that fails when it is told to.
pub(super) struct Guarded {
    pub(super) store: FaultyBlobs,
    pub(super) clock: Arc<FixedClock>,
    pub(super) tokens: Tokens,
    pub(super) authenticator: Authenticator,
    service: Router,
}

/// A request that is being put together.
#[derive(Clone)]
pub(super) struct Ask {
    method: &'static str,
    url: String,
    headers: Vec<(String, String)>,
    address: IpAddr,
    certificate: Option<Vec<u8>>,
    body: String,
}

pub(super) const NETWORK: &str = "/tf/shop/network";

impl Guarded {
    pub(super) fn new() -> Self {
        Self::with(&AuthSettings::default(), None)
    }

    pub(super) fn with(settings: &AuthSettings, audit: Option<AuditLog>) -> Self {
        Self::on(FaultyBlobs::new(MemoryBlobs::new("states")), settings, audit)
    }

    /// A node on a store that others may use too.
    pub(super) fn on(store: FaultyBlobs, settings: &AuthSettings, audit: Option<AuditLog>) -> Self {
        let clock = Arc::new(FixedClock::new(Timestamp::parse("2026-03-01T12:00:00Z").unwrap()));
        let context = context(&clock);
        let shared: Arc<dyn BlobStore> = Arc::new(store.clone());
        let mut parts = Parts::new(Arc::clone(&shared));
        parts.context = context.clone();
        parts.audit = audit.clone();
        let tokens = Tokens::new(shared, context);
        let authenticator = Authenticator::new(tokens.clone(), settings, Arc::clone(&clock) as _).unwrap();
        let service = require(router(App::open(parts).unwrap()), authenticator.clone(), audit);
        Self { store, clock, tokens, authenticator, service }
    }

    pub(super) async fn token(
        &self,
        name: &str,
        role: Role,
        project: &str,
        state: &str,
    ) -> (Token, TokenInfo) {
        let grant = Grant::new(role, Pattern::parse(project).unwrap(), Pattern::parse(state).unwrap());
        let new = NewToken::new(TokenName::parse(name).unwrap(), vec![grant], "user:ana");
        self.tokens.create(new).await.unwrap()
    }

    pub(super) async fn send(&self, ask: &Ask) -> Answer {
        let mut request = Request::builder().method(ask.method).uri(&ask.url);
        for (name, value) in &ask.headers {
            request = request.header(name, value);
        }
        if ask.method != "GET" {
            request = request.header("content-md5", crate::support::md5(ask.body.as_bytes()));
        }
        let mut request = request.body(Body::from(ask.body.clone())).unwrap();
        let id = "11111111-2222-3333-4444-555555555555".to_owned();
        request.extensions_mut().insert(Origin::new(id, ask.address));
        if let Some(der) = &ask.certificate {
            request.extensions_mut().insert(ClientCertificate::new(der));
        }
        let (parts, body) = self.service.clone().oneshot(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    /// The status of a request.
    pub(super) async fn status(&self, ask: &Ask) -> u16 {
        self.send(ask).await.status.as_u16()
    }
}

impl Ask {
    pub(super) fn get(url: &str) -> Self {
        Self {
            method: "GET",
            url: url.to_owned(),
            headers: Vec::new(),
            address: "192.0.2.7".parse().unwrap(),
            certificate: None,
            body: String::new(),
        }
    }

    pub(super) fn lock(url: &str) -> Self {
        Self { method: "LOCK", body: lock_document("11111111-2222-3333-4444-555555555555"), ..Self::get(url) }
    }

    pub(super) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn bearer(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub(super) fn basic(self, user: &str, password: &str) -> Self {
        let credentials = STANDARD.encode(format!("{user}:{password}"));
        self.header("authorization", &format!("Basic {credentials}"))
    }

    pub(super) fn from(mut self, address: &str) -> Self {
        self.address = address.parse().unwrap();
        self
    }

    pub(super) fn certificate(mut self, der: &[u8]) -> Self {
        self.certificate = Some(der.to_vec());
        self
    }
}

pub(super) fn context(clock: &Arc<FixedClock>) -> Context {
    Context::new(Arc::clone(clock) as _, Arc::clone(clock) as _, Arc::new(OsIds))
}

pub(super) fn location(store: &FaultyBlobs) -> Location {
    Location::new(Arc::new(store.clone()), "audit/").unwrap()
}
