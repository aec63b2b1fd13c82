//! What stands in front of the router: every request behind it has a principal.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use groundstate_audit::{AuditLog, Event, Outcome};
use tracing::{Span, debug};

use super::authenticator::{Authenticator, Peer, Refusal};
use crate::{Origin, Problem, ProblemType, page, pulumi};

/// The certificate that a client gave and its listener has verified; listeners insert it as an extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate(Arc<[u8]>);

impl ClientCertificate {
    /// A certificate, as DER.
    pub fn new(der: &[u8]) -> Self {
        Self(der.into())
    }

    /// The certificate, as DER.
    pub fn der(&self) -> &[u8] {
        &self.0
    }
}

/// What the middleware works with.
#[derive(Clone)]
struct Guard {
    authenticator: Authenticator,
    audit: Option<AuditLog>,
}

/// The router behind authentication: each request gets its [`Principal`](super::Principal) as an extension, or is answered with 401.
/// The files of the page are served without one.
///
/// The address of the client is that of the extension [`Origin`]. Refusals become entries of the audit log.
pub fn require(router: Router, authenticator: Authenticator, audit: Option<AuditLog>) -> Router {
    router.layer(from_fn_with_state(Guard { authenticator, audit }, check))
}

async fn check(State(guard): State<Guard>, mut request: Request, next: Next) -> Response {
    // Where a user signs in, and the releases of the CLI; they have no secrets, and touch no state.
    if page::is_public(request.uri().path()) || pulumi::is_public(request.uri().path()) {
        return next.run(request).await;
    }
    // The client of an update says by its lease who it is, and the handler checks it.
    if pulumi::has_lease(request.uri().path(), request.headers()) {
        return next.run(request).await;
    }
    let origin = request.extensions().get::<Origin>().cloned().unwrap_or_default();
    let certificate = request.extensions().get::<ClientCertificate>().cloned();
    let peer = Peer::new(origin.remote, certificate.as_ref().map(ClientCertificate::der));
    match guard.authenticator.authenticate(request.headers(), peer).await {
        Ok(principal) => {
            Span::current().record("principal", principal.name());
            request.extensions_mut().insert(principal);
            next.run(request).await
        }
        Err(refusal) => guard.refuse(&refusal, &origin).into_response(),
    }
}

impl Guard {
    fn refuse(&self, refusal: &Refusal, origin: &Origin) -> Problem {
        match refusal {
            Refusal::Missing => {
                let detail = "the request has no credentials; send a token as the password, or as a bearer";
                Problem::new(ProblemType::Unauthenticated, detail)
            }
            Refusal::Invalid { reason, subject, is_owner } => {
                debug!(reason, "credentials are refused");
                self.note(reason, subject.as_deref(), origin);
                let detail = if *is_owner { reason.as_str() } else { "the credentials are not valid" };
                Problem::new(ProblemType::Unauthenticated, detail)
            }
            Refusal::TooMany(wait) => {
                let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).max(1);
                let detail = "too many requests of this address had credentials that are not valid";
                Problem::new(ProblemType::TooManyRequests, detail).with_retry_after(seconds)
            }
            Refusal::Unavailable => {
                let detail = "whether the credentials are valid cannot be found out now; try again";
                Problem::new(ProblemType::Unavailable, detail).with_retry_after(2)
            }
        }
    }

    fn note(&self, reason: &str, subject: Option<&str>, origin: &Origin) {
        let Some(audit) = &self.audit else { return };
        let event =
            Event::new(subject.unwrap_or("unknown"), "auth.refuse", "server", Outcome::Denied).reason(reason);
        audit.note(origin.describe(event));
    }
}
