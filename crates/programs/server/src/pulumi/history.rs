//! The history of a stack.

use std::collections::BTreeMap;

use axum::response::Response;
use bytes::Bytes;
use groundstate_common::Timestamp;
use groundstate_pulumi_protocol::{
    self as protocol, AppendVersion, AppendedVersion, LatestUpdate, Previews, RequestedBy, StackPath,
    UpdateInfo, UpdateKind, UpdateList, decode,
};
use groundstate_pulumi_service::{OldVersion, Stack, StackVersion, UpdateResult, VersionSource};
use serde_json::value::to_raw_value;

use super::access::{Access, Client, problem};
use super::answer::json;
use super::body::{Cost, Incoming};
use crate::auth::Role;
use crate::budget::Account;
use crate::problem::{Problem, ProblemType};

/// How many versions are read at a time.
const PAGE: usize = 100;
/// How many versions an answer has at most.
const MOST: usize = 10_000;
/// Memory of an update beside its configuration.
const EACH_UPDATE: u64 = 2 << 10;

async fn access(client: &Client, path: &StackPath) -> Result<Access, Problem> {
    client.stack("stack.history", Role::Read, path).await
}

/// Message about a version whose record cannot be read.
const DAMAGED: &str = "is damaged or missing in the store of the server; `groundstate store check` says more";

/// `GET …/updates`.
pub(super) async fn list(
    client: &Client,
    path: &StackPath,
    query: Option<&str>,
) -> Result<Response, Problem> {
    let Access { stack, client } = access(client, path).await?;
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
            updates.push(info(&stack, client.account(), version).await?);
        }
        updates.extend(found.unreadable.into_iter().map(unreadable));
        updates.sort_by_key(|update| std::cmp::Reverse(update.version));
        before = found.next;
    }
    json(&UpdateList { updates })
}

/// `GET …/updates/latest`. The CLI takes the configuration of the stack from it (`config refresh`), so a version that no update made has that of the
/// last update: imports and renames change none.
pub(super) async fn latest(client: &Client, path: &StackPath) -> Result<Response, Problem> {
    let Access { stack, client } = access(client, path).await?;
    let account = client.account();
    let found = stack.versions(None, PAGE).await.map_err(|error| problem(&error))?;
    if let Some(number) = found.unreadable.first()
        && found.versions.first().is_none_or(|version| version.number < *number)
    {
        return Err(Problem::new(ProblemType::Damaged, format!("version {number} of the stack {DAMAGED}")));
    }
    let mut versions = found.versions.into_iter();
    let Some(version) = versions.next() else {
        return Err(Problem::new(ProblemType::NotFound, "Not Found: the stack has never been updated"));
    };
    let keeps_config = |version: &StackVersion| ["import", "rename"].contains(&version.note.kind.as_str());
    let is_other = keeps_config(&version);
    let mut newest = info(&stack, account, version).await?;
    if is_other && let Some(last) = versions.find(|version| !keeps_config(version)) {
        newest.config = info(&stack, account, last).await?.config;
    }
    json(&LatestUpdate { info: newest })
}

/// `GET …/updates/{version}`.
pub(super) async fn version(client: &Client, path: &StackPath, version: u64) -> Result<Response, Problem> {
    let Access { stack, client } = access(client, path).await?;
    let version = stack.version(version).await.map_err(|error| problem(&error))?;
    json(&info(&stack, client.account(), version).await?)
}

/// `GET …/updates/latest/previews`. Previews are in no history here.
pub(super) async fn no_previews(client: &Client, path: &StackPath) -> Result<Response, Problem> {
    access(client, path).await?;
    json(&Previews::default())
}

/// What is known of a version, with what its client said when it created the update.
async fn info(stack: &Stack, account: &Account, version: StackVersion) -> Result<UpdateInfo, Problem> {
    let note = version.note;
    // Histories of buckets do not say it.
    let resource_count = version.request.is_none().then_some(note.resources);
    let request = match &note.update {
        _ if version.request.is_some() => version.request,
        Some(update) => match stack.update(update).request().await {
            Ok(request) => Some(request),
            Err(error) if error.kind() == groundstate_pulumi_service::ErrorKind::NotFound => None,
            Err(error) => return Err(problem(&error)),
        },
        None => None,
    };
    let config_bytes =
        request.as_ref().and_then(|request| request.config.as_ref()).map_or(0, |config| config.get().len());
    account.take(EACH_UPDATE + 8 * config_bytes as u64)?;
    let (mut environment, mut config) = (BTreeMap::new(), BTreeMap::new());
    let (mut message, mut source) = (String::new(), None);
    if let Some(request) = request {
        (message, environment, source) = (request.message, request.environment, request.source);
        // What is stored was written from this type.
        let stored = request.config.filter(|config| config.get() != "null");
        if let Some(stored) = stored {
            config = decode(stored.get().as_bytes()).map_err(|error| {
                tracing::error!(error = %error, "the configuration of an update cannot be read");
                Problem::new(
                    ProblemType::Damaged,
                    "what is stored is damaged; the log of the server says what",
                )
            })?;
        }
    }
    if let Some(reason) = note.reason.filter(|_| message.is_empty()) {
        message = reason;
    }
    let user = |name: String| RequestedBy { name, ..RequestedBy::default() };
    let source = source.map(|source| protocol::VersionSource {
        version: source.version,
        requested_by: Some(source.author).filter(|author| !author.is_empty()).map(user),
    });
    Ok(UpdateInfo {
        kind: kind(&note.kind),
        start_time: note.started.seconds(),
        message,
        environment,
        config,
        result: match note.result {
            UpdateResult::Succeeded => protocol::UpdateResult::Succeeded,
            UpdateResult::Failed => protocol::UpdateResult::Failed,
        },
        end_time: note.ended.seconds(),
        version: version.number,
        deployment: None,
        resource_changes: Some(note.changes),
        resource_count,
        update_id: note.update,
        requested_by: Some(user(version.by)),
        source,
    })
}

/// A version in a list that cannot be read.
fn unreadable(number: u64) -> UpdateInfo {
    UpdateInfo {
        kind: UpdateKind::Update,
        start_time: 0,
        message: format!("this version {DAMAGED}"),
        environment: BTreeMap::new(),
        config: BTreeMap::new(),
        result: protocol::UpdateResult::Failed,
        end_time: 0,
        version: number,
        deployment: None,
        resource_changes: None,
        resource_count: None,
        update_id: None,
        requested_by: None,
        source: None,
    }
}

/// What an update did. Later releases may know more kinds; they are updates too.
pub(super) fn kind(word: &str) -> UpdateKind {
    UpdateKind::parse(word).unwrap_or(UpdateKind::Update)
}

/// `POST …/versions`: a version of another history becomes the next of this one.
pub(super) async fn append(
    client: &Client,
    path: &StackPath,
    incoming: Incoming<'_>,
) -> Result<Response, Problem> {
    const ACTION: &str = "stack.append";
    let access = client.stack(ACTION, Role::Write, path).await?;
    let AppendVersion { key, info } = incoming.large(Cost::STATE).await?;
    let source = info.version;
    let old = old_version(key, info)?;
    let appended = client.app.carry_out(access.stack.append(&old, client.name())).await?;
    let appended = appended.map_err(|error| access.refused(ACTION, &error))?;
    if appended.is_new {
        let what = format!("version {}: {} that was version {source} elsewhere", appended.version, old.kind);
        access.record(ACTION, what).await;
    }
    json(&AppendedVersion {
        version: appended.version,
        update_id: appended.update,
        appended: appended.is_new,
    })
}

fn old_version(key: String, info: UpdateInfo) -> Result<OldVersion, Problem> {
    let refused = |why: &str| Problem::new(ProblemType::BadRequest, format!("Bad Request: {why}"));
    if [UpdateKind::Preview, UpdateKind::Lock].contains(&info.kind) {
        return Err(refused("previews make no versions"));
    }
    let result = match info.result {
        protocol::UpdateResult::Succeeded => UpdateResult::Succeeded,
        protocol::UpdateResult::Failed => UpdateResult::Failed,
        _ => return Err(refused("the update has not ended, so it has made no version yet")),
    };
    let time = |seconds| {
        Timestamp::from_unix(seconds, 0).map_err(|_| refused("a time is not one of the years 0 to 9999"))
    };
    let mut old = OldVersion::new(key, info.kind.as_str(), result);
    (old.started, old.ended) = (time(info.start_time)?, time(info.end_time)?);
    (old.message, old.environment) = (info.message, info.environment);
    old.config =
        Some(to_raw_value(&info.config).map_err(|_| refused("the configuration cannot be written"))?);
    old.changes = info.resource_changes.unwrap_or_default();
    old.state = info.deployment.map(|deployment| Bytes::from(deployment.into_string()));
    let author = info.requested_by.map(|author| author.name).unwrap_or_default();
    old.source = VersionSource::new(info.version, author);
    Ok(old)
}
