//! What an engine saves while it works: entries of its journal, or checkpoints.

use axum::response::Response;
use groundstate_json::RawJson;
use groundstate_pulumi_protocol::{Checkpoint, CheckpointDelta, CheckpointVerbatim, JournalEntries};
use groundstate_pulumi_service::CheckpointUpload;

use super::access::problem;
use super::answer::done;
use super::body::{Cost, Incoming};
use super::update::Request;
use crate::app::App;
use crate::problem::{Problem, ProblemType};

/// Memory of an entry beside its text.
const EACH_ENTRY: u64 = 4 << 10;

/// Stores entries; many of them where they hold up no other request.
async fn large<T>(app: &App, entries: &[&[u8]], work: impl Future<Output = T>) -> Result<T, Problem> {
    const LARGE: usize = 64 << 10;
    match entries.iter().map(|entry| entry.len()).sum::<usize>() {
        ..LARGE => Ok(work.await),
        _ => app.carry_out(work).await,
    }
}

/// `PATCH …/journalentries`.
pub(super) async fn entries(request: &Request<'_>, incoming: Incoming<'_>) -> Result<Response, Problem> {
    let (update, token) = request.checked().await?;
    let (app, account) = (incoming.app, incoming.account);
    let batch: JournalEntries = incoming.large(Cost::LIST).await?;
    let entries: Vec<&[u8]> = batch.entries.iter().map(|entry| entry.as_bytes()).collect();
    account.take(entries.len() as u64 * EACH_ENTRY)?;
    large(app, &entries, update.append(&token, &entries)).await?.map_err(|error| problem(&error))?;
    Ok(done())
}

/// `PATCH …/checkpoint`.
pub(super) async fn whole(request: &Request<'_>, incoming: Incoming<'_>) -> Result<Response, Problem> {
    let (update, token) = request.checked().await?;
    let app = incoming.app;
    let sent: Checkpoint = incoming.large(Cost::STATE).await?;
    let Some(deployment) = sent.deployment.filter(|_| !sent.is_invalid) else {
        // What old releases send when they know no better; what is stored stays, since it is all there is.
        let detail = "Bad Request: the checkpoint has no deployment, so the one before stays";
        return Err(Problem::new(ProblemType::BadRequest, detail));
    };
    let deployment = RawJson::from_validated(deployment.as_str());
    let (version, features) = (sent.version, &sent.features);
    let upload = CheckpointUpload::Whole { version, features, deployment: &deployment };
    app.carry_out(update.save(&token, upload)).await?.map_err(|error| problem(&error))?;
    Ok(done())
}

/// `PATCH …/checkpointverbatim`.
pub(super) async fn verbatim(request: &Request<'_>, incoming: Incoming<'_>) -> Result<Response, Problem> {
    let (update, token) = request.checked().await?;
    let app = incoming.app;
    let sent: CheckpointVerbatim = incoming.large(Cost::STATE).await?;
    let text = sent.untyped_deployment.as_bytes();
    let upload = CheckpointUpload::Verbatim { sequence: sent.sequence_number, text };
    app.carry_out(update.save(&token, upload)).await?.map_err(|error| problem(&error))?;
    Ok(done())
}

/// `PATCH …/checkpointdelta`.
pub(super) async fn delta(request: &Request<'_>, incoming: Incoming<'_>) -> Result<Response, Problem> {
    let (update, token) = request.checked().await?;
    let app = incoming.app;
    let sent: CheckpointDelta = incoming.large(Cost::VALUES).await?;
    let (sequence, edits, sha256) = (sent.sequence_number, &sent.deployment_delta, &*sent.checkpoint_hash);
    let upload = CheckpointUpload::Delta { sequence, edits, sha256 };
    app.carry_out(update.save(&token, upload)).await?.map_err(|error| problem(&error))?;
    Ok(done())
}
