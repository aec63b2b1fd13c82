//! The history of a stack.

use std::collections::BTreeMap;

use axum::response::Response;
use groundstate_pulumi_protocol::{Previews, StackPath};
use groundstate_pulumi_service::{Stack, StackVersion, UpdateResult};
use serde::Serialize;
use serde_json::value::RawValue;

use super::access::{Access, Client, problem};
use super::answer::json;
use crate::auth::Role;
use crate::problem::{Problem, ProblemType};

/// How many versions are read at a time.
const PAGE: usize = 100;
/// How many versions an answer has at most.
const MOST: usize = 10_000;

/// An entry of the history.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UpdateInfo {
    kind: String,
    start_time: i64,
    message: String,
    environment: BTreeMap<String, String>,
    config: Box<RawValue>,
    result: &'static str,
    end_time: i64,
    version: u64,
    resource_changes: BTreeMap<String, u64>,
    resource_count: u64,
    /// By which the events are found.
    #[serde(rename = "updateID", skip_serializing_if = "Option::is_none")]
    update_id: Option<String>,
    requested_by: RequestedBy,
}

/// Who made a version.
#[derive(Serialize)]
struct RequestedBy {
    name: String,
}

#[derive(Serialize)]
struct Updates {
    updates: Vec<UpdateInfo>,
}

#[derive(Serialize)]
struct Info {
    info: UpdateInfo,
}

async fn access(client: &Client, path: &StackPath) -> Result<Access, Problem> {
    client.stack("stack.history", Role::Read, path).await
}

/// `GET …/updates`.
pub(super) async fn list(
    client: &Client,
    path: &StackPath,
    query: Option<&str>,
) -> Result<Response, Problem> {
    let stack = access(client, path).await?.stack;
    let (mut size, mut page) = (MOST, 1_usize);
    for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        let number = || {
            let number = value.parse::<usize>();
            number.map_err(|_| {
                Problem::new(ProblemType::BadRequest, format!("Bad Request: {name} is not a number"))
            })
        };
        match &*name {
            "pageSize" => size = Some(number()?).filter(|size| *size > 0).map_or(MOST, |size| size.min(MOST)),
            "page" => page = number()?.max(1),
            _ => {}
        }
    }
    // Numbers are dense, so pages are counted off from the newest.
    let newest = stack.state().await.map_err(|error| problem(&error))?.version;
    let skipped = (page as u64 - 1).saturating_mul(size as u64);
    let mut before = newest.checked_sub(skipped).map(|first| first + 1);
    let mut updates = Vec::new();
    while let Some(from) = before
        && updates.len() < size
    {
        let wanted = PAGE.min(size - updates.len());
        let found = stack.versions(Some(from), wanted).await.map_err(|error| problem(&error))?;
        for version in found.versions {
            updates.push(info(&stack, version).await?);
        }
        before = found.next;
    }
    json(&Updates { updates })
}

/// `GET …/updates/latest`.
pub(super) async fn latest(client: &Client, path: &StackPath) -> Result<Response, Problem> {
    let stack = access(client, path).await?.stack;
    let found = stack.versions(None, 1).await.map_err(|error| problem(&error))?;
    let Some(version) = found.versions.into_iter().next() else {
        return Err(Problem::new(ProblemType::NotFound, "Not Found: the stack has never been updated"));
    };
    json(&Info { info: info(&stack, version).await? })
}

/// `GET …/updates/{version}`.
pub(super) async fn version(client: &Client, path: &StackPath, version: u64) -> Result<Response, Problem> {
    let stack = access(client, path).await?.stack;
    let version = stack.version(version).await.map_err(|error| problem(&error))?;
    json(&info(&stack, version).await?)
}

/// `GET …/updates/latest/previews`. Previews are in no history here.
pub(super) async fn no_previews(client: &Client, path: &StackPath) -> Result<Response, Problem> {
    access(client, path).await?;
    json(&Previews::default())
}

/// What is known of a version, with what its client said when it created the update.
async fn info(stack: &Stack, version: StackVersion) -> Result<UpdateInfo, Problem> {
    let note = version.note;
    let request = match &note.update {
        Some(update) => match stack.update(update).request().await {
            Ok(request) => Some(request),
            Err(error) if error.kind() == groundstate_pulumi_service::ErrorKind::NotFound => None,
            Err(error) => return Err(problem(&error)),
        },
        None => None,
    };
    let mut environment = BTreeMap::new();
    let (mut message, mut config) = (String::new(), None);
    if let Some(request) = request {
        (message, config, environment) = (request.message, request.config, request.environment);
    }
    if let Some(reason) = note.reason.filter(|_| message.is_empty()) {
        message = reason;
    }
    let empty = || RawValue::from_string("{}".to_owned()).unwrap_or_default();
    Ok(UpdateInfo {
        kind: note.kind,
        start_time: note.started.seconds(),
        message,
        environment,
        config: config.filter(|config| config.get() != "null").unwrap_or_else(empty),
        result: match note.result {
            UpdateResult::Succeeded => "succeeded",
            UpdateResult::Failed => "failed",
        },
        end_time: note.ended.seconds(),
        version: version.number,
        resource_changes: note.changes,
        resource_count: note.resources,
        update_id: note.update,
        requested_by: RequestedBy { name: version.by },
    })
}
