//! The lock of a stack, taken without an update: `POST`, `PATCH` and `DELETE …/lock?id=ID`.

use axum::response::Response;
use groundstate_pulumi_protocol::{self as protocol, Capability, StackLock};
use groundstate_pulumi_service::{Error, ErrorKind};

use super::access::{Client, problem};
use super::answer::{done, json};
use crate::auth::Role;
use crate::problem::{Problem, ProblemType};

/// `POST …/lock`.
pub(super) async fn take(
    client: &Client,
    path: &protocol::StackPath,
    query: Option<&str>,
) -> Result<Response, Problem> {
    const ACTION: &str = "stack.lock";
    let access = client.stack(ACTION, Role::Write, path).await?;
    let id = lock_id(query)?;
    let locked = client.app.carry_out(access.stack.lock(&id, client.name())).await?;
    let expires = locked.map_err(|error| access.refused(ACTION, &error))?;
    access.record(ACTION, format!("lock {id}")).await;
    json(&StackLock { expires: expires.seconds() })
}

/// `PATCH …/lock`.
pub(super) async fn renew(
    client: &Client,
    path: &protocol::StackPath,
    query: Option<&str>,
) -> Result<Response, Problem> {
    let access = client.stack("stack.lock", Role::Write, path).await?;
    let renewed = access.stack.renew_lock(&lock_id(query)?, client.name()).await;
    json(&StackLock { expires: renewed.map_err(|error| lost(&error))?.seconds() })
}

/// `DELETE …/lock`.
pub(super) async fn release(
    client: &Client,
    path: &protocol::StackPath,
    query: Option<&str>,
) -> Result<Response, Problem> {
    const ACTION: &str = "stack.unlock";
    let access = client.stack(ACTION, Role::Write, path).await?;
    let id = lock_id(query)?;
    let released = client.app.carry_out(access.stack.unlock(&id, client.name())).await?;
    released.map_err(|error| lost(&error))?;
    access.record(ACTION, format!("lock {id}")).await;
    Ok(done())
}

fn lock_id(query: Option<&str>) -> Result<String, Problem> {
    let mut pairs = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let id = pairs.find(|(name, _)| name == Capability::LOCK_ID).map(|(_, value)| value.into_owned());
    id.ok_or_else(|| Problem::new(ProblemType::BadRequest, "Bad Request: the query has no `id` of a lock"))
}

/// The response where a lock is not held. Status 403 would say that the user lacks a role.
fn lost(error: &Error) -> Problem {
    match error.kind() {
        ErrorKind::LeaseLost => {
            Problem::new(ProblemType::PreconditionFailed, format!("Precondition Failed: {}", error.reason()))
        }
        _ => problem(error),
    }
}
