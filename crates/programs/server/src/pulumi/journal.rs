//! The journal of an update, for people who look at it.

use axum::response::Response;
use groundstate_pulumi_protocol::{EntryTarget, EntryView, JournalView};
use groundstate_pulumi_service::pulumi_journal::{Entry, Target};

use super::access::problem;
use super::answer::json;
use super::update::Request;
use crate::auth::Role;
use crate::problem::{Problem, ProblemType};

impl Request<'_> {
    /// `GET …/journal?from=N`: entries from a position on. What they have of inputs and outputs is left out.
    pub(super) async fn journal(&self) -> Result<Response, Problem> {
        let (_, update) = self.access("stack.read", Role::Read).await?;
        let query = self.parts.uri.query().unwrap_or_default().as_bytes();
        let from = url::form_urlencoded::parse(query).find(|(name, _)| name == "from");
        let from = from.map_or(Ok(0), |(_, value)| value.parse::<u64>()).map_err(|_| {
            Problem::new(ProblemType::BadRequest, "Bad Request: `from` is not the position of an entry")
        })?;
        let page = self.app.carry_out(update.journal(from)).await?.map_err(|error| problem(&error))?;
        if page.entries.is_empty() {
            // Whether there is such an update at all.
            update.status().await.map_err(|error| problem(&error))?;
        }
        json(&JournalView {
            entries: page.entries.iter().map(view).collect(),
            next: page.next,
            more: !page.is_last,
        })
    }
}

fn view(entry: &Entry) -> EntryView {
    let resource = entry.state.as_ref().or(entry.operation.as_ref().map(|operation| &operation.resource));
    EntryView {
        sequence_id: entry.sequence.get(),
        kind: entry.kind.as_str().to_owned(),
        operation_id: entry.operation_id.get(),
        operation: entry.operation.as_ref().map(|operation| operation.kind.as_str().to_owned()),
        urn: resource.map(|resource| resource.urn.to_string()),
        resource_type: resource.map(|resource| resource.resource_type.to_string()),
        state: entry.state.is_some(),
        removed: entry.removed.map(target),
        pending_replacement: entry.pending_replacement.map(target),
        deleted: entry.deleted.map(target),
        resources: entry.new_snapshot.as_ref().map(|snapshot| snapshot.resources.len() as u64),
        secrets_provider: entry.secrets_provider.as_ref().map(|provider| provider.kind.to_string()),
    }
}

fn target(target: Target) -> EntryTarget {
    match target {
        Target::Old(index) => EntryTarget::Base(index),
        Target::New(operation) => EntryTarget::Operation(operation.get()),
    }
}
