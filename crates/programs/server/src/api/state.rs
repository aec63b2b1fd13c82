//! One state: what is known of it, and its deletion.

use http::StatusCode;
use http::request::Parts;

use super::extract::{Json, StateAccess, StateParams};
use super::item::StateItem;
use crate::auth::Role;
use crate::headers::Conditions;
use crate::problem::{Problem, ProblemDocument, ProblemType};
use crate::terraform::{Refusal, delete_state, lock_id};

/// What is known of a state without reading it: its present version, its lock.
///
/// A state that was deleted is there without a version: its history can be read, and a rollback brings it back.
#[utoipa::path(
    get,
    path = "/api/v1/states/{project}/{state}/{workspace}",
    tag = "states",
    params(StateParams),
    responses(
        (status = 200, description = "The state.", body = StateItem),
        (status = 404, description = "It was never written or locked.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn summary(state: StateAccess) -> Result<Json<StateItem>, Refusal> {
    let (access, ()) = state.with(Role::Read, "state.show")?;
    let head = access.document().head().await?;
    if head.number() == 0 && head.lock().is_none() {
        return Err(never_written(&access.path).into());
    }
    Ok(Json(StateItem::new(&access.path, &head)))
}

/// Deletes a state. Its history stays, until retention removes it.
///
/// It needs the role `admin`, and passes a lock: the holder loses it. `ID` names a lock that the caller holds.
#[utoipa::path(
    delete,
    path = "/api/v1/states/{project}/{state}/{workspace}",
    tag = "states",
    params(
        StateParams,
        ("ID" = Option<String>, Query, description = "The id of the lock that the caller holds."),
        ("If-Match" = Option<String>, Header, description = "The entity tag of the version that is deleted."),
    ),
    responses(
        (status = 204, description = "It is deleted, or was not there."),
        (status = 412, description = "Another version is stored.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn delete(state: StateAccess, parts: Parts) -> Result<StatusCode, Refusal> {
    let (access, ()) = state.with(Role::Admin, "state.delete")?;
    access.check_audit()?;
    let id = lock_id(parts.uri.query())?;
    let conditions = Conditions::read(&parts.headers)?;
    match delete_state(&access, id.as_deref(), &conditions).await {
        Ok(Some(number)) => access.record("state.delete", format!("version {number} is the last")).await,
        Ok(None) => {}
        Err(refusal) => {
            access.refused("state.delete", refusal.outcome(), refusal.reason());
            return Err(refusal.into_problem().into());
        }
    }
    Ok(StatusCode::NO_CONTENT)
}

/// The problem of a state of which nothing is known.
pub(super) fn never_written(path: &crate::names::StatePath) -> Problem {
    Problem::new(ProblemType::NotFound, format!("there is no state {path}"))
}
