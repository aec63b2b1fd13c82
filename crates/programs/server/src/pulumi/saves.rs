//! What an engine saves while it works: entries of its journal, or checkpoints.

use axum::response::Response;
use groundstate_json::RawJson;
use groundstate_pulumi_protocol::Edit;
use groundstate_pulumi_service::CheckpointUpload;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::access::problem;
use super::answer::done;
use super::body::Incoming;
use super::update::Request;
use crate::problem::{Problem, ProblemType};

#[derive(Deserialize)]
struct Entries {
    #[serde(default)]
    entries: Vec<Box<RawValue>>,
}

/// `PATCH …/journalentries`.
pub(super) async fn entries(request: &Request<'_>, incoming: Incoming<'_>) -> Result<Response, Problem> {
    let (update, token) = request.leased().await?;
    let batch: Entries = incoming.large().await?;
    let entries: Vec<&[u8]> = batch.entries.iter().map(|entry| entry.get().as_bytes()).collect();
    update.append(&token, &entries).await.map_err(|error| problem(&error))?;
    Ok(done())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Whole {
    #[serde(default)]
    is_invalid: bool,
    version: u64,
    #[serde(default)]
    features: Option<Vec<String>>,
    #[serde(default)]
    deployment: Option<Box<RawValue>>,
}

/// `PATCH …/checkpoint`.
pub(super) async fn whole(request: &Request<'_>, incoming: Incoming<'_>) -> Result<Response, Problem> {
    let (update, token) = request.leased().await?;
    let sent: Whole = incoming.large().await?;
    let Some(deployment) = sent.deployment.filter(|_| !sent.is_invalid) else {
        // What old releases send when they know no better; what is stored stays, since it is all there is.
        let detail = "Bad Request: the checkpoint has no deployment, so the one before stays";
        return Err(Problem::new(ProblemType::BadRequest, detail));
    };
    let deployment = RawJson::from_validated(deployment.get());
    let features = sent.features.unwrap_or_default();
    let upload =
        CheckpointUpload::Whole { version: sent.version, features: &features, deployment: &deployment };
    update.save(&token, upload).await.map_err(|error| problem(&error))?;
    Ok(done())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Verbatim {
    untyped_deployment: Box<RawValue>,
    sequence_number: u64,
}

/// `PATCH …/checkpointverbatim`.
pub(super) async fn verbatim(request: &Request<'_>, incoming: Incoming<'_>) -> Result<Response, Problem> {
    let (update, token) = request.leased().await?;
    let sent: Verbatim = incoming.large().await?;
    let text = sent.untyped_deployment.get().as_bytes();
    let upload = CheckpointUpload::Verbatim { sequence: sent.sequence_number, text };
    update.save(&token, upload).await.map_err(|error| problem(&error))?;
    Ok(done())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Delta {
    checkpoint_hash: String,
    sequence_number: u64,
    #[serde(default)]
    deployment_delta: Option<Vec<Edit>>,
}

/// `PATCH …/checkpointdelta`.
pub(super) async fn delta(request: &Request<'_>, incoming: Incoming<'_>) -> Result<Response, Problem> {
    let (update, token) = request.leased().await?;
    let sent: Delta = incoming.large().await?;
    let edits = sent.deployment_delta.unwrap_or_default();
    let upload = CheckpointUpload::Delta {
        sequence: sent.sequence_number,
        edits: &edits,
        sha256: &sent.checkpoint_hash,
    };
    update.save(&token, upload).await.map_err(|error| problem(&error))?;
    Ok(done())
}
