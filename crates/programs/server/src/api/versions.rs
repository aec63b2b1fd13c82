//! The history of a state.

use axum::response::Response;
use groundstate_versioned::Version;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::extract::{Json, Query, StateAccess, StateParams};
use super::item::VersionItem;
use super::state::never_written;
use crate::auth::Role;
use crate::caller::Access;
use crate::download::download;
use crate::problem::ProblemDocument;
use crate::terraform::{Refusal, described};

/// Which versions are listed.
#[derive(Clone, Copy, Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Range {
    /// Only versions with smaller numbers: `next_before` of the page before.
    before: Option<u64>,
    /// How many are listed at most: 1 to 1000.
    limit: Option<usize>,
}

/// A version that cannot be read.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DamagedVersion)]
pub(super) struct DamagedVersion {
    /// Its number.
    number: u64,
    /// Damage, in words.
    problem: String,
}

/// Versions of a state.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Versions)]
pub(super) struct VersionList {
    /// The versions, the newest first.
    versions: Vec<VersionItem>,
    /// The numbers of versions that the history should have, and that are missing from the store. Absent if none is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<u64>,
    /// The versions whose records are damaged. Absent if none is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damaged: Vec<DamagedVersion>,
    /// `before` of the next page. Absent if this is the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_before: Option<u64>,
}

/// The versions of a state, the newest first.
#[utoipa::path(
    get,
    path = "/api/v1/states/{project}/{state}/{workspace}/versions",
    tag = "history",
    params(StateParams, Range),
    responses(
        (status = 200, description = "The versions.", body = VersionList),
        (status = 404, description = "The state was never written.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn versions(
    state: StateAccess,
    Query(range): Query<Range>,
) -> Result<Json<VersionList>, Refusal> {
    let (access, ()) = state.with(Role::Read, "history.list")?;
    let limit = range.limit.unwrap_or(50).clamp(1, access.app.limits().page);
    let page = access.document().versions(range.before, limit).await?;
    if page.versions.is_empty() && page.unreadable().is_none() && range.before.is_none() {
        return Err(never_written(&access.path).into());
    }
    let versions = page.versions.iter().map(VersionItem::new).collect();
    let damaged = page.damaged.into_iter().map(|(number, problem)| DamagedVersion { number, problem });
    Ok(Json(VersionList {
        versions,
        missing: page.missing,
        damaged: damaged.collect(),
        next_before: page.next,
    }))
}

/// One version of a state.
#[utoipa::path(
    get,
    path = "/api/v1/states/{project}/{state}/{workspace}/versions/{number}",
    tag = "history",
    params(StateParams, ("number" = u64, Path, description = "The number of the version.")),
    responses(
        (status = 200, description = "The version.", body = VersionItem),
        (status = 404, description = "The history does not have it.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn version(state: StateAccess<u64>) -> Result<Json<VersionItem>, Refusal> {
    let (access, number) = state.with(Role::Read, "history.show")?;
    Ok(Json(VersionItem::new(&find(&access, number).await?)))
}

/// The bytes of a version, as they were stored.
#[utoipa::path(
    get,
    path = "/api/v1/states/{project}/{state}/{workspace}/versions/{number}/content",
    tag = "history",
    params(StateParams, ("number" = u64, Path, description = "The number of the version.")),
    responses(
        (status = 200, description = "The content.", body = serde_json::Value, content_type = "application/json"),
        (status = 404, description = "The history does not have it.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn content(state: StateAccess<u64>) -> Result<Response, Refusal> {
    let (access, number) = state.with(Role::Read, "history.read")?;
    let version = find(&access, number).await?;
    let reader = access.document().open(&version).await?;
    access.record_first("history.read", format!("version {number}")).await?;
    let body = download(access.caller.account(), reader, None).await?;
    let mut response = described(&version, StatusCode::OK, body);
    response.headers_mut().insert(http::header::CONTENT_LENGTH, version.size.into());
    Ok(response)
}

/// Protects a version from retention.
#[utoipa::path(
    put,
    path = "/api/v1/states/{project}/{state}/{workspace}/versions/{number}/pin",
    tag = "history",
    params(StateParams, ("number" = u64, Path, description = "The number of the version.")),
    responses(
        (status = 204, description = "Retention does not remove it."),
        (status = 404, description = "The history does not have it.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn pin(state: StateAccess<u64>) -> Result<StatusCode, Refusal> {
    set_pin(state, "history.pin", true).await
}

/// Leaves a version to retention again.
#[utoipa::path(
    delete,
    path = "/api/v1/states/{project}/{state}/{workspace}/versions/{number}/pin",
    tag = "history",
    params(StateParams, ("number" = u64, Path, description = "The number of the version.")),
    responses(
        (status = 204, description = "Retention may remove it."),
        (status = 404, description = "The history does not have it.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn unpin(state: StateAccess<u64>) -> Result<StatusCode, Refusal> {
    set_pin(state, "history.unpin", false).await
}

async fn set_pin(state: StateAccess<u64>, action: &'static str, pinned: bool) -> Result<StatusCode, Refusal> {
    let (access, number) = state.with(Role::Admin, action)?;
    access.check_audit()?;
    access.document().pin(number, pinned).await?;
    access.record(action, format!("version {number}")).await;
    Ok(StatusCode::NO_CONTENT)
}

async fn find(access: &Access, number: u64) -> Result<Version, Refusal> {
    Ok(access.document().version(number).await?)
}
