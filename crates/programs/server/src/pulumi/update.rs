//! Updates: created, started, renewed, ended, and what they tell.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::response::Response;
use groundstate_audit::Outcome;
use groundstate_json::RawJson;
use groundstate_pulumi_protocol::{
    self as protocol, CompleteUpdate, CreateKind, CreateUpdate, CreatedUpdate, EngineEvent, EngineEventBatch,
    EngineEvents, JsonText, RenewLease, RenewedLease, StartUpdate, StartedUpdate, UpdateState,
};
use groundstate_pulumi_service::{
    ErrorKind, Event, LeaseToken, Program, StartOptions, Update, UpdateRequest, UpdateResult, UpdateStatus,
};
use http::request::Parts;
use serde::de::IgnoredAny;
use serde_json::value::to_raw_value;

use super::access::{Access, Client, engine, lease_token, name, problem};
use super::answer::{done, json};
use super::body::Incoming;
use super::stacks::check_tags;
use crate::app::App;
use crate::auth::Role;
use crate::problem::{Problem, ProblemType};

/// How many events a page has.
const EVENTS: usize = 1000;

/// A request for an update.
pub(super) struct Request<'a> {
    pub(super) app: &'a App,
    pub(super) parts: &'a Parts,
    pub(super) path: &'a protocol::StackPath,
    pub(super) update: &'a str,
}

/// `POST …/{kind}`: creates an update.
pub(super) async fn create(
    client: &Client,
    path: &protocol::StackPath,
    kind: CreateKind,
    incoming: Incoming<'_>,
) -> Result<Response, Problem> {
    // Previews need the least; which one it is, the body says.
    client.check("stack.preview", Role::Lock, &name(path)?)?;
    let asked: CreateUpdate = incoming.small().await?;
    let preview = asked.is_preview(kind);
    let (action, role) = if preview { ("stack.preview", Role::Lock) } else { ("stack.update", Role::Write) };
    let access = client.stack(action, role, path).await?;
    let mut request = UpdateRequest::new(kind.as_str(), client.name(), client.app.context().clock.now());
    request.preview = preview;
    let CreateUpdate { name, runtime, main, description, config, metadata, .. } = asked;
    request.program = Program { name, runtime, main, description };
    let unwritable = |_| Problem::new(ProblemType::Internal, "the configuration cannot be written");
    request.config = Some(to_raw_value(&config).map_err(unwritable)?);
    request.message = metadata.message;
    request.environment = metadata.environment;
    let update =
        access.stack.create_update(&request).await.map_err(|error| access.refused(action, &error))?;
    json(&CreatedUpdate::new(update.id()))
}

impl Request<'_> {
    /// The user that asks, and the update.
    pub(super) async fn access(&self, action: &'static str, role: Role) -> Result<(Access, Update), Problem> {
        let access = Client::of(self.app, self.parts)?.stack(action, role, self.path).await?;
        let update = access.stack.update(self.update);
        Ok((access, update))
    }

    /// Returns the update whose lease the request is made under. The lease is looked at first, so no body of a stranger is read.
    pub(super) async fn checked(&self) -> Result<(Update, LeaseToken), Problem> {
        let token = self.token()?;
        let found = self.app.stacks().leased_update(&name(self.path)?, self.update, &token).await;
        Ok((found.map_err(|error| unknown(&error))?, token))
    }

    fn token(&self) -> Result<LeaseToken, Problem> {
        let none = || Problem::new(ProblemType::Unauthenticated, "the request has no update token");
        lease_token(&self.parts.headers).ok_or_else(none)
    }

    /// `POST …/update/{id}`.
    pub(super) async fn start(&self, incoming: Incoming<'_>) -> Result<Response, Problem> {
        const ACTION: &str = "stack.update";
        let (access, update) = self.access(ACTION, Role::Lock).await?;
        let request = update.request().await.map_err(|error| problem(&error))?;
        if !request.preview {
            access.client.check(ACTION, Role::Write, access.stack.path())?;
        }
        let asked: StartUpdate = incoming.small().await?;
        if let Some(tags) = &asked.tags {
            check_tags(tags)?;
        }
        let journal = asked.journal_version.map(|newest| u32::try_from(newest).unwrap_or(u32::MAX));
        let options = StartOptions::new(journal, engine(&self.parts.headers));
        let started = self.app.carry_out(update.start(&options)).await?;
        let lease = started.map_err(|error| access.refused(ACTION, &error))?;
        if let Some(tags) = asked.tags.filter(|_| !request.preview) {
            let tagged = access.stack.set_tags(&tags, access.client.name()).await;
            tagged.map_err(|error| access.refused(ACTION, &error))?;
        }
        if !request.preview {
            access.record(ACTION, format!("{} {} started", request.kind, update.id())).await;
        }
        json(&StartedUpdate {
            version: lease.version,
            token: protocol::LeaseToken::new(lease.token.expose()),
            token_expiration: Some(lease.expires.seconds()),
            journal_version: lease.journal.map(u64::from),
        })
    }

    /// `POST …/renew_lease`.
    pub(super) async fn renew(&self, incoming: Incoming<'_>) -> Result<Response, Problem> {
        let (update, token) = self.checked().await?;
        let asked: RenewLease = incoming.tiny().await?;
        let seconds = u64::try_from(asked.duration).ok().filter(|seconds| *seconds > 0);
        let duration = seconds.map(Duration::from_secs);
        let expires = update.renew(&token, duration).await.map_err(|error| problem(&error))?;
        let token = protocol::LeaseToken::new(token.expose());
        json(&RenewedLease { token, token_expiration: Some(expires.seconds()) })
    }

    /// `POST …/complete`.
    pub(super) async fn complete(&self, incoming: Incoming<'_>) -> Result<Response, Problem> {
        let token = self.token()?;
        let found = self.app.stacks().ending_update(&name(self.path)?, self.update, &token).await;
        let update = found.map_err(|error| unknown(&error))?;
        let asked: CompleteUpdate = incoming.tiny().await?;
        let result = match asked.status {
            UpdateState::Succeeded => UpdateResult::Succeeded,
            UpdateState::Failed | UpdateState::Cancelled => UpdateResult::Failed,
            _ => {
                return Err(Problem::new(
                    ProblemType::BadRequest,
                    "Bad Request: an update is succeeded or failed",
                ));
            }
        };
        let completed = self.app.carry_out(update.complete(&token, result)).await?;
        completed.map_err(|error| problem(&error))?;
        self.record_end(&update, asked.status).await;
        Ok(done())
    }

    /// Records that an update has ended, unless it was a preview. What is done is done, so a request that cannot be read does not fail it.
    async fn record_end(&self, update: &Update, status: UpdateState) {
        let Some(audit) = self.app.audit() else { return };
        let stack = update.stack().path();
        let (author, reason) = match update.request().await {
            Ok(request) if request.preview => return,
            Ok(request) => (request.author, format!("{} {} {status}", request.kind, update.id())),
            Err(error) => {
                tracing::error!(%stack, update = update.id(), error = %error, "who began an update that has ended cannot be read");
                ("unknown".to_owned(), format!("{} {status}; who began it cannot be read", update.id()))
            }
        };
        let event =
            groundstate_audit::Event::new(author, "stack.update", format!("stack {stack}"), Outcome::Done);
        audit.note(event.reason(reason));
    }

    /// `POST …/cancel`.
    pub(super) async fn cancel(&self) -> Result<Response, Problem> {
        const ACTION: &str = "stack.cancel";
        let (access, update) = self.access(ACTION, Role::Write).await?;
        let is_own = match update.author().await {
            Ok(author) => author == access.client.name(),
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            Err(error) => return Err(access.refused(ACTION, &error)),
        };
        if !is_own {
            access.client.check(ACTION, Role::Admin, access.stack.path())?;
        }
        let cancelled = self.app.carry_out(update.cancel(access.client.name())).await?;
        cancelled.map_err(|error| access.refused(ACTION, &error))?;
        access.record(ACTION, update.id().to_owned()).await;
        Ok(done())
    }

    /// `GET …/update/{id}`. What ended is said at once, since clients ask again without a pause.
    pub(super) async fn status(&self) -> Result<Response, Problem> {
        let (_, update) = self.access("stack.read", Role::Read).await?;
        let status = match update.status().await.map_err(|error| problem(&error))? {
            UpdateStatus::NotStarted => UpdateState::NotStarted,
            UpdateStatus::Running => UpdateState::Running,
            UpdateStatus::Ended(UpdateResult::Succeeded) => UpdateState::Succeeded,
            UpdateStatus::Ended(UpdateResult::Failed) => UpdateState::Failed,
        };
        json(&protocol::UpdateStatus::last(status))
    }

    /// `POST …/events/batch`.
    pub(super) async fn store_events(&self, incoming: Incoming<'_>) -> Result<Response, Problem> {
        let (update, token) = self.checked().await?;
        let batch: EngineEventBatch = incoming.events().await?;
        let (mut events, mut changes) = (Vec::with_capacity(batch.events.len()), None);
        for event in batch.events {
            if let Some(summary) = event.summary() {
                changes = Some(summary.resource_changes);
            }
            let text = RawJson::parse_as_written(event.text().as_str())
                .map_err(|_| Problem::new(ProblemType::BadRequest, "Bad Request: an event nests too deep"))?;
            events.push(Event { sequence: event.sequence(), text });
        }
        update.store_events(&token, &events, changes.as_ref()).await.map_err(|error| problem(&error))?;
        Ok(done())
    }

    /// `GET …/events`.
    pub(super) async fn events(&self) -> Result<Response, Problem> {
        let (_, update) = self.access("stack.read", Role::Read).await?;
        let query = self.parts.uri.query().unwrap_or_default().as_bytes();
        let (mut from, mut kinds, mut urn) = (0, Vec::new(), None);
        for (name, value) in url::form_urlencoded::parse(query) {
            match &*name {
                "continuationToken" => {
                    from = value.parse().map_err(|_| {
                        Problem::new(
                            ProblemType::BadRequest,
                            "Bad Request: the continuation token is none of this server",
                        )
                    })?;
                }
                "type" => kinds.push(value.into_owned()),
                "urn" => urn = Some(value.into_owned()),
                _ => {}
            }
        }
        let page = self.app.carry_out(update.events(from, EVENTS)).await?.map_err(|error| problem(&error))?;
        if page.events.is_empty() {
            // Whether there is such an update at all.
            update.status().await.map_err(|error| problem(&error))?;
        }
        let wanted = |event: &EngineEvent| {
            let members: BTreeMap<String, IgnoredAny> = event.text().read().unwrap_or_default();
            let is_kind = kinds.is_empty() || kinds.iter().any(|kind| members.contains_key(kind));
            let is_about = |urn: &str| event.text().as_str().contains(&format!("\"{urn}\""));
            is_kind && urn.as_deref().is_none_or(is_about)
        };
        let stored =
            page.events.iter().map(|event| JsonText::parse(event.text.as_str()).and_then(EngineEvent::new));
        let stored: Vec<_> = stored.collect::<Result<_, _>>().map_err(|error| {
            tracing::error!(error = %error, update = update.id(), "an event that is stored cannot be read");
            Problem::new(ProblemType::Damaged, "what is stored is damaged; the log of the server says what")
        })?;
        json(&EngineEvents {
            events: stored.into_iter().filter(wanted).collect(),
            continuation_token: page.next.map(|next| next.to_string()),
        })
    }
}

/// What is answered to a client that has no lease: not even whether there is such a stack.
fn unknown(error: &groundstate_pulumi_service::Error) -> Problem {
    match error.kind() {
        ErrorKind::NotFound => Problem::new(ProblemType::Forbidden, "the update token is not valid"),
        _ => problem(error),
    }
}
