//! Who asks for what, from where: what every request is checked and recorded with.

use std::net::IpAddr;

use groundstate_audit::{Event, Outcome};
use groundstate_versioned::Document;
use http::request::Parts;
use tracing::warn;

use crate::app::App;
use crate::auth::{Principal, Role};
use crate::budget::Account;
use crate::names::StatePath;
use crate::problem::{Problem, ProblemType};

/// Where a request comes from; listeners insert it as an extension.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// The id by which logs name the request.
    pub request_id: Option<String>,
    /// The address of the client.
    pub remote: Option<IpAddr>,
}

impl Origin {
    /// An origin.
    pub fn new(request_id: impl Into<Option<String>>, remote: impl Into<Option<IpAddr>>) -> Self {
        Self { request_id: request_id.into(), remote: remote.into() }
    }

    /// The event with what is known of where it comes from.
    pub(crate) fn describe(&self, mut event: Event) -> Event {
        if let Some(id) = &self.request_id {
            event = event.request(id);
        }
        match self.remote {
            Some(remote) => event.remote(remote.to_string()),
            None => event,
        }
    }
}

/// Who asks, and from where.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) principal: Principal,
    origin: Origin,
    account: Account,
}

impl Caller {
    /// The caller of a request.
    ///
    /// # Errors
    ///
    /// If the request has no principal: nothing is served to strangers.
    pub(crate) fn of(parts: &Parts) -> Result<Self, Problem> {
        let Some(principal) = parts.extensions.get::<Principal>() else {
            return Err(Problem::new(ProblemType::Unauthenticated, "the request does not say who asks"));
        };
        let origin = parts.extensions.get::<Origin>().cloned().unwrap_or_default();
        let Some(account) = parts.extensions.get::<Account>().cloned() else {
            return Err(Problem::new(ProblemType::Internal, "the memory of the request is not counted"));
        };
        Ok(Self { principal: principal.clone(), origin, account })
    }

    /// The memory of its request.
    pub(crate) fn account(&self) -> &Account {
        &self.account
    }

    /// Its name, as versions, locks and the audit log have it.
    pub(crate) fn name(&self) -> &str {
        self.principal.name()
    }

    /// Records what it did. What is done is done, so a log that fails does not fail the request.
    pub(crate) async fn record(&self, app: &App, action: &'static str, object: &str, reason: String) {
        let Some(audit) = app.audit() else { return };
        if let Err(error) = audit.record(self.event(action, object, Outcome::Done, reason)).await {
            warn!(error = %error, action, "an entry of the audit log is not durable yet");
        }
    }

    /// Records what it read or what was refused, without waiting for the log.
    pub(crate) fn note(
        &self,
        app: &App,
        action: &'static str,
        object: &str,
        outcome: Outcome,
        reason: String,
    ) {
        if let Some(audit) = app.audit() {
            audit.note(self.event(action, object, outcome, reason));
        }
    }

    /// Records that it is about to see a secret, before it does.
    pub(crate) async fn record_first(
        &self,
        app: &App,
        action: &'static str,
        object: &str,
        reason: String,
    ) -> Result<(), Problem> {
        let Some(audit) = app.audit() else { return Ok(()) };
        audit.record(self.event(action, object, Outcome::Done, reason)).await.map_err(|error| {
            warn!(error = %error, action, "the audit log does not take an entry, so nothing is shown");
            let detail = "the audit log does not take the entry, so nothing is shown; try again";
            Problem::new(ProblemType::Unavailable, detail).with_retry_after(2)
        })
    }

    /// Whether a change can be recorded: a server whose audit log does not work makes none.
    ///
    /// # Errors
    ///
    /// If it cannot.
    pub(crate) fn check_audit(&self, app: &App) -> Result<(), Problem> {
        let Some(audit) = app.audit() else { return Ok(()) };
        audit.check().map_err(|error| {
            warn!(error = %error, "the audit log does not work, so nothing is changed");
            let detail = "the audit log does not work, so nothing is changed; try again";
            Problem::new(ProblemType::Unavailable, detail).with_retry_after(2)
        })
    }

    fn event(&self, action: &'static str, object: &str, outcome: Outcome, reason: String) -> Event {
        let event = self.origin.describe(Event::new(self.name(), action, object, outcome));
        if reason.is_empty() { event } else { event.reason(reason) }
    }
}

/// A caller and the state that it asks for.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) app: App,
    pub(crate) caller: Caller,
    pub(crate) path: StatePath,
}

impl Access {
    /// The access of a request.
    ///
    /// # Errors
    ///
    /// If the request has no principal.
    pub(crate) fn new(app: &App, parts: &Parts, path: StatePath) -> Result<Self, Problem> {
        Ok(Self { app: app.clone(), caller: Caller::of(parts)?, path })
    }

    /// Whether the caller has a role on the state.
    pub(crate) fn may(&self, role: Role) -> bool {
        self.caller.principal.may(role, self.path.project().as_str(), &self.path.in_project())
    }

    /// The answer to a caller that lacks a role, and its entry in the audit log.
    pub(crate) fn denied(&self, action: &'static str, role: Role) -> Problem {
        self.refused(action, Outcome::Denied, format!("the role {role} is needed"));
        let detail = format!("{} does not have the role {role} on {}", self.caller.name(), self.path);
        Problem::new(ProblemType::Forbidden, detail)
    }

    /// Whether a change can be recorded: a server whose audit log does not work makes none.
    ///
    /// # Errors
    ///
    /// If it cannot.
    pub(crate) fn check_audit(&self) -> Result<(), Problem> {
        self.caller.check_audit(&self.app)
    }

    /// The document of the state.
    pub(crate) fn document(&self) -> Document {
        self.app.document(&self.path)
    }

    /// Records that the caller is about to see a secret, before it does.
    ///
    /// # Errors
    ///
    /// If the entry is not durable: then nothing is shown.
    pub(crate) async fn record_first(&self, action: &'static str, reason: String) -> Result<(), Problem> {
        self.caller.record_first(&self.app, action, &self.path.to_string(), reason).await
    }

    /// Records what the caller read, without waiting for the log.
    pub(crate) fn note(&self, action: &'static str, reason: String) {
        self.caller.note(&self.app, action, &self.path.to_string(), Outcome::Done, reason);
    }

    /// Records what the caller tried and did not get, without waiting for the log.
    pub(crate) fn refused(&self, action: &'static str, outcome: Outcome, reason: String) {
        self.caller.note(&self.app, action, &self.path.to_string(), outcome, reason);
    }

    /// Records what the caller did.
    pub(crate) async fn record(&self, action: &'static str, reason: String) {
        self.caller.record(&self.app, action, &self.path.to_string(), reason).await;
    }
}
