//! One stack: read, renamed, tagged, exported, imported into, removed.

use axum::body::Body;
use axum::response::Response;
use groundstate_pulumi_protocol::{
    self as protocol, Capability, CurrentOperation, ImportedStack, RenameStack, Tags,
};
use groundstate_pulumi_service::{ImportedState, StackPath};

use super::access::{Client, problem};
use super::answer::{done, json, typed};
use super::body::Incoming;
use super::history::kind;
use super::stacks::check_tags;
use crate::auth::Role;
use crate::problem::{Problem, ProblemType};

/// How much of a state is in memory at a time while it is sent.
const IN_MEMORY: u64 = 8 << 20;

/// `GET /api/stacks/{owner}/{project}/{stack}`.
pub(super) async fn get(client: &Client, path: &protocol::StackPath) -> Result<Response, Problem> {
    let access = client.stack("stack.read", Role::Read, path).await?;
    let state = access.stack.state().await.map_err(|error| problem(&error))?;
    let name = access.stack.path();
    let current_operation = state.current.map(|current| CurrentOperation {
        kind: kind(&current.kind),
        author: current.author,
        started: current.started.seconds(),
    });
    json(&protocol::Stack {
        id: access.stack.id().to_owned(),
        org_name: name.owner().to_owned(),
        project_name: name.project().to_owned(),
        stack_name: name.stack().to_owned(),
        current_operation,
        active_update: state.last_update.unwrap_or_default(),
        tags: access.stack.tags().await.map_err(|error| problem(&error))?,
        config: None,
        version: state.version,
    })
}

/// `DELETE /api/stacks/{owner}/{project}/{stack}`.
pub(super) async fn delete(
    client: &Client,
    path: &protocol::StackPath,
    query: Option<&str>,
) -> Result<Response, Problem> {
    const ACTION: &str = "stack.delete";
    let access = client.stack(ACTION, Role::Write, path).await?;
    let force = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes())
        .any(|(name, value)| name == "force" && value == "true");
    let removed = client.app.carry_out(access.stack.remove(force, client.name())).await?;
    removed.map_err(|error| access.refused(ACTION, &error))?;
    access.record(ACTION, if force { "forced".to_owned() } else { String::new() }).await;
    Ok(done())
}

/// `POST …/rename`.
pub(super) async fn rename(
    client: &Client,
    path: &protocol::StackPath,
    incoming: Incoming<'_>,
) -> Result<Response, Problem> {
    const ACTION: &str = "stack.rename";
    let access = client.stack(ACTION, Role::Write, path).await?;
    let asked: RenameStack = incoming.small().await?;
    let old = access.stack.path();
    let part = |asked: String, old: &str| if asked.is_empty() { old.to_owned() } else { asked };
    let (project, stack) = (part(asked.new_project, old.project()), part(asked.new_name, old.stack()));
    let to = StackPath::new(old.owner(), project, stack)
        .map_err(|error| Problem::new(ProblemType::InvalidName, format!("Bad Request: {error}")))?;
    client.check(ACTION, Role::Write, &to)?;
    let renamed = client.app.carry_out(access.stack.rename(&to, client.name())).await?;
    renamed.map_err(|error| access.refused(ACTION, &error))?;
    access.record(ACTION, format!("to {to}")).await;
    Ok(done())
}

/// `PATCH …/tags`.
pub(super) async fn tags(
    client: &Client,
    path: &protocol::StackPath,
    incoming: Incoming<'_>,
) -> Result<Response, Problem> {
    const ACTION: &str = "stack.tag";
    let access = client.stack(ACTION, Role::Write, path).await?;
    let tags: Tags = incoming.small().await?;
    check_tags(&tags)?;
    access.stack.set_tags(&tags, client.name()).await.map_err(|error| access.refused(ACTION, &error))?;
    access.record(ACTION, format!("{} tags", tags.len())).await;
    Ok(done())
}

/// `GET …/export` and `GET …/export/{version}`.
pub(super) async fn export(
    client: &Client,
    path: &protocol::StackPath,
    version: Option<u64>,
) -> Result<Response, Problem> {
    const ACTION: &str = "stack.export";
    let access = client.stack(ACTION, Role::Read, path).await?;
    let reader = match version {
        Some(version) => access.stack.export_version(version).await,
        None => access.stack.export().await,
    };
    let reader = reader.map_err(|error| problem(&error))?;
    client.account().take_first(reader.size().min(IN_MEMORY)).await?;
    let number = reader.number();
    access.client.caller.note(
        &client.app,
        ACTION,
        &format!("stack {}", access.stack.path()),
        groundstate_audit::Outcome::Done,
        format!("version {number}"),
    );
    let parts = futures_util::stream::try_unfold(reader, async |mut reader| {
        let part = reader.next_part().await;
        part.map(|part| part.map(|part| (part, reader))).map_err(|error| {
            tracing::error!(error = %error, "a state that is being sent cannot be read");
            std::io::Error::other("the state cannot be read")
        })
    });
    Ok(typed(Body::from_stream(parts)))
}

/// `POST …/import`. With [`Capability::EXPECTED_SHA256`] in its query only in place of that state.
pub(super) async fn import(
    client: &Client,
    path: &protocol::StackPath,
    query: Option<&str>,
    incoming: Incoming<'_>,
) -> Result<Response, Problem> {
    const ACTION: &str = "stack.import";
    let expected = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes())
        .find(|(name, _)| name == Capability::EXPECTED_SHA256)
        .map(|(_, value)| value.into_owned());
    let access = client.stack(ACTION, Role::Write, path).await?;
    let state = incoming.state().await?;
    let importing = access.stack.import(&state, expected.as_deref(), client.name());
    let imported = client.app.carry_out(importing).await?;
    let ImportedState { version, sha256, .. } = imported.map_err(|error| access.refused(ACTION, &error))?;
    access.record(ACTION, format!("version {}", version.number)).await;
    json(&ImportedStack { update_id: version.note.update.unwrap_or_default(), sha256 })
}
