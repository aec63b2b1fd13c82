//! Lists of stacks, and new ones.

use std::collections::BTreeMap;

use axum::response::Response;
use groundstate_blobs::PageToken;
use groundstate_pulumi_service::{NewStack, StackFilter, StackPath};
use http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::access::{Client, problem};
use super::answer::json;
use super::body::Incoming;
use crate::auth::Role;
use crate::problem::{Problem, ProblemType};

/// How many stacks are looked at for a page.
const PAGE: usize = 100;

/// `GET /api/user/stacks`.
pub(super) async fn list(client: &Client, query: Option<&str>) -> Result<Response, Problem> {
    let mut filter = StackFilter::default().limit(PAGE);
    let (mut tag, mut tag_value) = (None, None);
    for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        let value = value.into_owned();
        match &*name {
            _ if value.is_empty() => {}
            "organization" => filter = filter.owner(value),
            "project" => filter = filter.project(value),
            "tagName" => tag = Some(value),
            "tagValue" => tag_value = Some(value),
            "continuationToken" => filter = filter.page(Some(PageToken::new(value))),
            _ => {}
        }
    }
    if let Some(tag) = tag {
        filter = filter.tag(tag, tag_value);
    }
    let page = client.app.stacks().list(&filter).await.map_err(|error| problem(&error))?;
    let visible = page.stacks.iter().filter(|stack| client.may(Role::Read, &stack.path));
    let stacks: Vec<_> = visible
        .map(|stack| {
            let path = &stack.path;
            let mut summary = json!({
                "id": stack.id, "orgName": path.owner(), "projectName": path.project(), "stackName": path.stack(),
                "links": {"self": ""},
            });
            // The CLI shows 0 as an update that runs, and nothing as none ever.
            if stack.running {
                summary["lastUpdate"] = 0.into();
            } else if let Some(updated) = stack.updated {
                summary["lastUpdate"] = updated.seconds().into();
            }
            if stack.updated.is_some() || stack.resources > 0 {
                summary["resourceCount"] = stack.resources.into();
            }
            summary
        })
        .collect();
    let next = page.next.as_ref().map(PageToken::as_str);
    json(&json!({"stacks": stacks, "continuationToken": next}))
}

/// `HEAD /api/stacks/{owner}/{project}`.
pub(super) async fn project(client: &Client, owner: &str, project: &str) -> Result<Response, Problem> {
    let stacks = client.app.stacks();
    // A role on one stack of it is enough to know of it.
    let mut page = None;
    loop {
        let filter = StackFilter::default().owner(owner).project(project).page(page).limit(PAGE);
        let found = stacks.list(&filter).await.map_err(|error| problem(&error))?;
        if found.stacks.iter().any(|stack| client.may(Role::Read, &stack.path)) {
            return json(&json!({}));
        }
        page = found.next;
        if page.is_none() {
            return Err(Problem::new(ProblemType::NotFound, "Not Found: there is no such project"));
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct NewStackRequest {
    stack_name: String,
    tags: Option<BTreeMap<String, String>>,
    teams: Option<Vec<String>>,
    state: Option<Box<RawValue>>,
    config: Option<Box<RawValue>>,
}

/// `POST /api/stacks/{owner}/{project}`.
pub(super) async fn create(
    client: &Client,
    owner: &str,
    project: &str,
    incoming: Incoming<'_>,
) -> Result<Response, Problem> {
    const ACTION: &str = "stack.create";
    let asked: NewStackRequest = incoming.large().await?;
    let refuse = |why: &str| Err(Problem::new(ProblemType::BadRequest, format!("Bad Request: {why}")));
    if asked.config.is_some_and(|config| config.get() != "null") {
        return refuse("configuration is not kept by this server; keep it in Pulumi.STACK.yaml");
    }
    if asked.teams.is_some_and(|teams| !teams.is_empty()) {
        return refuse("this server has no teams; grant roles to principals");
    }
    let path = StackPath::new(owner, project, asked.stack_name)
        .map_err(|error| Problem::new(ProblemType::InvalidName, format!("Bad Request: {error}")))?;
    client.check(ACTION, Role::Write, &path)?;
    client.check_audit()?;
    let mut new = NewStack::default().tags(asked.tags.unwrap_or_default());
    check_tags(&new.tags)?;
    if let Some(state) = asked.state.filter(|state| state.get() != "null") {
        new = new.state(state.get().to_owned());
    }
    client.app.stacks().create(&path, client.name(), new).await.map_err(|error| problem(&error))?;
    client.record(ACTION, &path, String::new()).await;
    let mut response = json(&json!({"messages": []}))?;
    *response.status_mut() = StatusCode::OK;
    Ok(response)
}

/// Checks tags by the rules of Pulumi: names of 1 to 40 letters, digits, `_`, `-`, `.` and `:`, values of at most 256 characters.
pub(super) fn check_tags(tags: &BTreeMap<String, String>) -> Result<(), Problem> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    for (name, value) in tags {
        let why = match name {
            name if name.is_empty() => "the name of a tag is empty",
            name if name.len() > 40 => "the name of a tag is longer than 40 characters",
            name if !name.chars().all(allowed) => {
                "the name of a tag has other characters than letters, digits, _, -, . and :"
            }
            _ if value.chars().count() > 256 => "the value of a tag is longer than 256 characters",
            _ => continue,
        };
        return Err(Problem::new(ProblemType::BadRequest, format!("Bad Request: {why}")));
    }
    Ok(())
}
