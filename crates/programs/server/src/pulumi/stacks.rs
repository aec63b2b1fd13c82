//! Lists of stacks, and new ones.

use axum::body::Body;
use axum::response::Response;
use groundstate_blobs::PageToken;
use groundstate_pulumi_protocol::{
    self as protocol, CreateStack, CreatedStack, ProjectPath, StackLinks, StackList, StackSummary, Tags,
    encode,
};
use groundstate_pulumi_service::{ListedStack, NewStack, StackFilter, StackPath};

use super::access::{Client, problem};
use super::answer::{json, typed};
use super::body::{Cost, Incoming};
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
    let continuation_token = page.next.as_ref().map(|next| next.as_str().to_owned());
    let mut stacks: Vec<StackSummary> = visible.map(summary).collect();
    for (path, reason) in page.damaged.iter().filter(|(path, _)| client.may(Role::Read, path)) {
        tracing::error!(stack = %path, reason, "a stack is damaged; see `groundstate store check`");
        // The protocol has no word for it: a client sees that it is there, and is told more when it asks for it.
        stacks.push(named(path));
    }
    json(&StackList { stacks, continuation_token })
}

/// A stack of which nothing but its name is known.
fn named(path: &StackPath) -> StackSummary {
    StackSummary {
        id: String::new(),
        org_name: path.owner().to_owned(),
        project_name: path.project().to_owned(),
        stack_name: path.stack().to_owned(),
        last_update: None,
        resource_count: None,
        links: StackLinks::default(),
    }
}

fn summary(stack: &ListedStack) -> StackSummary {
    let path = &stack.path;
    // The CLI shows 0 as an update that runs, and nothing as none ever.
    let last_update = if stack.running { Some(0) } else { stack.updated.map(|updated| updated.seconds()) };
    StackSummary {
        id: stack.id.clone(),
        org_name: path.owner().to_owned(),
        project_name: path.project().to_owned(),
        stack_name: path.stack().to_owned(),
        last_update,
        resource_count: stack.resources.filter(|resources| stack.updated.is_some() || *resources > 0),
        links: StackLinks::default(),
    }
}

/// `HEAD /api/stacks/{owner}/{project}`.
pub(super) async fn project(client: &Client, path: &ProjectPath) -> Result<Response, Problem> {
    let ProjectPath { owner, project } = path;
    let stacks = client.app.stacks();
    // A role on one stack of it is enough to know of it.
    let mut page = None;
    loop {
        let filter = StackFilter::default().owner(owner).project(project).page(page).limit(PAGE);
        let found = stacks.list(&filter).await.map_err(|error| problem(&error))?;
        let damaged = found.damaged.iter().map(|(path, _)| path);
        if found
            .stacks
            .iter()
            .map(|stack| &stack.path)
            .chain(damaged)
            .any(|path| client.may(Role::Read, path))
        {
            return Ok(typed(Body::empty()));
        }
        page = found.next;
        if page.is_none() {
            return Err(Problem::new(ProblemType::NotFound, "Not Found: there is no such project"));
        }
    }
}

/// `POST /api/stacks/{owner}/{project}`.
pub(super) async fn create(
    client: &Client,
    path: &ProjectPath,
    incoming: Incoming<'_>,
) -> Result<Response, Problem> {
    const ACTION: &str = "stack.create";
    client.check_any(ACTION, Role::Write, path)?;
    let asked: CreateStack = incoming.large(Cost::STATE).await?;
    let refuse = |why: &str| Err(Problem::new(ProblemType::BadRequest, format!("Bad Request: {why}")));
    if asked.config.is_some() {
        return refuse("configuration is not kept by this server; keep it in Pulumi.STACK.yaml");
    }
    if !asked.teams.is_empty() {
        return refuse("this server has no teams; grant roles to principals");
    }
    let path = StackPath::new(&path.owner, &path.project, asked.stack_name)
        .map_err(|error| Problem::new(ProblemType::InvalidName, format!("Bad Request: {error}")))?;
    client.check(ACTION, Role::Write, &path)?;
    client.check_audit()?;
    check_tags(&asked.tags)?;
    let mut new = NewStack::default().tags(asked.tags);
    if let Some(state) = asked.state {
        let unwritable = |_| Problem::new(ProblemType::Internal, "the state cannot be written");
        new = new.state(encode(&state).map_err(unwritable)?);
    }
    let created = client.app.carry_out(client.app.stacks().create(&path, client.name(), new)).await?;
    created.map_err(|error| problem(&error))?;
    client.record(ACTION, &path, String::new()).await;
    json(&CreatedStack::default())
}

/// Checks tags by the rules of Pulumi.
pub(super) fn check_tags(tags: &Tags) -> Result<(), Problem> {
    protocol::check_tags(tags)
        .map_err(|error| Problem::new(ProblemType::BadRequest, format!("Bad Request: {error}")))
}
