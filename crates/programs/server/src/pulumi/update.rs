//! Updates: created, started, renewed, ended, and what they tell.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::response::Response;
use groundstate_audit::Outcome;
use groundstate_json::RawJson;
use groundstate_pulumi_service::{
    Event, LeaseToken, Program, StackPath, StartOptions, Update, UpdateRequest, UpdateResult, UpdateStatus,
};
use http::request::Parts;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use serde_json::value::RawValue;

use super::access::{Access, Client, engine, lease_token, no_stack, problem};
use super::answer::{done, json, raw};
use super::body::Incoming;
use super::route::Path;
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
    pub(super) path: &'a Path,
    pub(super) update: &'a str,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CreateRequest {
    name: String,
    runtime: String,
    main: String,
    description: String,
    options: Options,
    config: Option<Box<RawValue>>,
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Options {
    dry_run: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    message: String,
    environment: Option<BTreeMap<String, String>>,
}

/// `POST …/{kind}`: creates an update.
pub(super) async fn create(
    client: &Client,
    path: &Path,
    kind: &str,
    incoming: Incoming<'_>,
) -> Result<Response, Problem> {
    let asked: CreateRequest = incoming.small().await?;
    let preview = kind == "preview" || asked.options.dry_run;
    let (action, role) = if preview { ("stack.preview", Role::Lock) } else { ("stack.update", Role::Write) };
    let access = client.stack(action, role, path).await?;
    let mut request = UpdateRequest::new(kind, client.name(), client.app.context().clock.now());
    request.preview = preview;
    let CreateRequest { name, runtime, main, description, config, metadata, .. } = asked;
    request.program = Program { name, runtime, main, description };
    request.config = config;
    request.message = metadata.message;
    request.environment = metadata.environment.unwrap_or_default();
    let update =
        access.stack.create_update(&request).await.map_err(|error| access.refused(action, &error))?;
    json(
        &json!({"updateID": update.id(), "requiredPolicies": [], "messages": [], "aiSettings": {"copilotIsEnabled": false}}),
    )
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct StartRequest {
    tags: Option<BTreeMap<String, String>>,
    journal_version: Option<u32>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RenewRequest {
    duration: Option<u64>,
}

#[derive(Deserialize)]
struct CompleteRequest {
    status: String,
}

#[derive(Deserialize)]
struct EventBatch {
    #[serde(default)]
    events: Vec<Box<RawValue>>,
}

/// What is read of an event.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EventHead {
    sequence: u64,
    #[serde(default)]
    summary_event: Option<Summary>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    #[serde(default)]
    resource_changes: Option<BTreeMap<String, u64>>,
}

impl Request<'_> {
    /// The user that asks, and the update.
    async fn access(&self, action: &'static str, role: Role) -> Result<(Access, Update), Problem> {
        let access = Client::of(self.app, self.parts)?.stack(action, role, self.path).await?;
        let update = access.stack.update(self.update);
        Ok((access, update))
    }

    /// The update whose lease the request is made under.
    pub(super) async fn leased(&self) -> Result<(Update, LeaseToken), Problem> {
        let Some(token) = lease_token(&self.parts.headers) else {
            return Err(Problem::new(ProblemType::Unauthenticated, "the request has no update token"));
        };
        let name: StackPath = self.path.name().ok_or_else(|| no_stack(self.path))?;
        // Who has no lease learns nothing, not even whether there is such a stack.
        let stack = self.app.stacks().stack(&name).await.map_err(|error| match error.kind() {
            groundstate_pulumi_service::ErrorKind::NotFound => {
                Problem::new(ProblemType::Forbidden, "the update token is not valid")
            }
            _ => problem(&error),
        })?;
        Ok((stack.update(self.update), token))
    }

    /// `POST …/update/{id}`.
    pub(super) async fn start(&self, incoming: Incoming<'_>) -> Result<Response, Problem> {
        const ACTION: &str = "stack.update";
        let (access, update) = self.access(ACTION, Role::Lock).await?;
        let request = update.request().await.map_err(|error| problem(&error))?;
        if !request.preview {
            access.client.check(ACTION, Role::Write, access.stack.path())?;
        }
        let asked: StartRequest = incoming.small().await?;
        if let Some(tags) = &asked.tags {
            check_tags(tags)?;
        }
        let options = StartOptions::new(asked.journal_version, engine(&self.parts.headers));
        let lease = update.start(&options).await.map_err(|error| access.refused(ACTION, &error))?;
        if let Some(tags) = asked.tags.filter(|_| !request.preview) {
            let tagged = access.stack.set_tags(&tags, access.client.name()).await;
            tagged.map_err(|error| access.refused(ACTION, &error))?;
        }
        if !request.preview {
            access.record(ACTION, format!("{} {} started", request.kind, update.id())).await;
        }
        let mut answer = json!({
            "version": lease.version, "token": lease.token.expose(), "tokenExpiration": lease.expires.seconds(),
        });
        if let Some(journal) = lease.journal {
            answer["journalVersion"] = journal.into();
        }
        json(&answer)
    }

    /// `POST …/renew_lease`.
    pub(super) async fn renew(&self, incoming: Incoming<'_>) -> Result<Response, Problem> {
        let (update, token) = self.leased().await?;
        let asked: RenewRequest = incoming.small().await?;
        let duration = asked.duration.filter(|seconds| *seconds > 0).map(Duration::from_secs);
        let expires = update.renew(&token, duration).await.map_err(|error| problem(&error))?;
        json(&json!({"token": token.expose(), "tokenExpiration": expires.seconds()}))
    }

    /// `POST …/complete`.
    pub(super) async fn complete(&self, incoming: Incoming<'_>) -> Result<Response, Problem> {
        let (update, token) = self.leased().await?;
        let asked: CompleteRequest = incoming.small().await?;
        let result = match asked.status.as_str() {
            "succeeded" => UpdateResult::Succeeded,
            "failed" | "cancelled" => UpdateResult::Failed,
            _ => {
                return Err(Problem::new(
                    ProblemType::BadRequest,
                    "Bad Request: an update is succeeded or failed",
                ));
            }
        };
        update.complete(&token, result).await.map_err(|error| problem(&error))?;
        if let (Some(audit), Ok(request)) = (self.app.audit(), update.request().await)
            && !request.preview
        {
            let object = format!("stack {}", update.stack().path());
            let event = groundstate_audit::Event::new(&request.author, "stack.update", object, Outcome::Done);
            audit.note(event.reason(format!("{} {} {}", request.kind, update.id(), asked.status)));
        }
        Ok(done())
    }

    /// `POST …/cancel`.
    pub(super) async fn cancel(&self) -> Result<Response, Problem> {
        const ACTION: &str = "stack.cancel";
        let (access, update) = self.access(ACTION, Role::Write).await?;
        let request = update.request().await;
        let is_own = request.is_ok_and(|request| request.author == access.client.name());
        if !is_own {
            access.client.check(ACTION, Role::Admin, access.stack.path())?;
        }
        update.cancel(access.client.name()).await.map_err(|error| access.refused(ACTION, &error))?;
        access.record(ACTION, update.id().to_owned()).await;
        Ok(done())
    }

    /// `GET …/update/{id}`. What ended is said at once, since clients ask again without a pause.
    pub(super) async fn status(&self) -> Result<Response, Problem> {
        let (_, update) = self.access("stack.read", Role::Read).await?;
        let status = match update.status().await.map_err(|error| problem(&error))? {
            UpdateStatus::NotStarted => "not started",
            UpdateStatus::Running => "running",
            UpdateStatus::Ended(UpdateResult::Succeeded) => "succeeded",
            UpdateStatus::Ended(UpdateResult::Failed) => "failed",
        };
        json(&json!({"status": status, "events": [], "continuationToken": null}))
    }

    /// `POST …/events/batch`.
    pub(super) async fn store_events(&self, incoming: Incoming<'_>) -> Result<Response, Problem> {
        let (update, token) = self.leased().await?;
        let batch: EventBatch = incoming.large().await?;
        let (mut events, mut changes) = (Vec::with_capacity(batch.events.len()), None);
        for text in batch.events {
            let head: EventHead = serde_json::from_str(text.get()).map_err(|_| {
                Problem::new(ProblemType::BadRequest, "Bad Request: an event has no sequence")
            })?;
            if let Some(summary) = head.summary_event {
                changes = Some(summary.resource_changes.unwrap_or_default());
            }
            events.push(Event { sequence: head.sequence, text: RawJson::from_validated(text.get()) });
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
        let page = update.events(from, EVENTS).await.map_err(|error| problem(&error))?;
        let wanted = |event: &&Event| {
            let members: BTreeMap<String, IgnoredAny> =
                serde_json::from_str(event.text.as_str()).unwrap_or_default();
            let is_kind = kinds.is_empty() || kinds.iter().any(|kind| members.contains_key(kind));
            is_kind && urn.as_deref().is_none_or(|urn| event.text.as_str().contains(&format!("\"{urn}\"")))
        };
        let events: Vec<_> = page.events.iter().filter(wanted).filter_map(|event| raw(&event.text)).collect();
        #[derive(serde::Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Events {
            events: Vec<Box<RawValue>>,
            continuation_token: Option<String>,
        }
        json(&Events { events, continuation_token: page.next.map(|next| next.to_string()) })
    }
}
