//! The lock of a state: who holds it, and its end by force.

use groundstate_common::one_line;
use groundstate_versioned::{Head, Step};
use http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use super::extract::{Json, StateAccess, StateParams, UnreadBody};
use super::item::LockItem;
use crate::auth::Role;
use crate::problem::{Problem, ProblemDocument, ProblemType};
use crate::terraform::Refusal;

/// The longest reason, in bytes.
const LONGEST_REASON: usize = 1000;

/// Why a lock is broken.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BreakLock {
    /// The id of the lock, so that no other one is broken. Any lock if it is not given.
    id: Option<String>,
    /// Why, for the holder and the audit log: 1 to 1000 bytes.
    reason: String,
}

/// The lock of a state.
#[utoipa::path(
    get,
    path = "/api/v1/states/{project}/{state}/{workspace}/lock",
    tag = "locks",
    params(StateParams),
    responses(
        (status = 200, description = "The lock.", body = LockItem),
        (status = 404, description = "No lock is held.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn lock(state: StateAccess) -> Result<Json<LockItem>, Refusal> {
    let (access, ()) = state.with(Role::Read, "lock.show")?;
    let head = access.document().head().await?;
    match head.lock() {
        Some(lock) => Ok(Json(LockItem::new(lock, head.time()))),
        None => Err(Problem::new(ProblemType::NotFound, format!("{} is not locked", access.path)).into()),
    }
}

/// Ends the lock of a state by force. The holder's next write is refused, and says who did it and why.
///
/// It needs the role `admin`.
#[utoipa::path(
    post,
    path = "/api/v1/states/{project}/{state}/{workspace}/lock/break",
    tag = "locks",
    params(StateParams),
    request_body = BreakLock,
    responses(
        (status = 204, description = "The lock is broken."),
        (status = 404, description = "No lock is held.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, description = "Another lock is held than the one that was named.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn break_lock(state: StateAccess, body: UnreadBody) -> Result<StatusCode, Refusal> {
    let (access, ()) = state.with(Role::Admin, "lock.break")?;
    access.check_audit()?;
    let body: BreakLock = body.json(&access.app).await?;
    let reason = body.reason.trim();
    if reason.is_empty() || reason.len() > LONGEST_REASON {
        let detail = format!("the reason has 1 to {LONGEST_REASON} bytes; say why the lock is broken");
        return Err(Problem::new(ProblemType::BadRequest, detail).into());
    }
    let reason = one_line(reason).into_owned();
    let mut broken = None;
    let decide = |head: &Head| {
        let Some(lock) = head.recorded_lock() else {
            return Err(Problem::new(ProblemType::NotFound, format!("{} is not locked", access.path)));
        };
        if body.id.as_ref().is_some_and(|id| *id != lock.id) {
            let detail = format!("{} has the lock {}, not the one to be broken", access.path, lock.id);
            return Err(Problem::new(ProblemType::Conflict, detail));
        }
        broken = Some((lock.id.clone(), lock.by.clone()));
        Ok(Step::break_lock(access.caller.name(), &reason))
    };
    let stepped = access.document().step(decide).await?;
    if let Err(problem) = &stepped {
        access.refused("lock.break", problem.outcome(), problem.detail().to_owned());
    }
    stepped?;
    let (id, by) = broken.unwrap_or_default();
    access.record("lock.break", format!("lock {id}, which {by} took: {reason}")).await;
    Ok(StatusCode::NO_CONTENT)
}
