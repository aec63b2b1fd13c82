//! `groundstate pending`: operations whose outcome is unknown.

use groundstate_pulumi_integrity::{PendingError, clear_pending, resolve_pending};
use groundstate_pulumi_snapshot::{Operation, Snapshot};

use super::done::{Change, Done};
use super::run::{Soundness, run};
use crate::args::{PendingClearArgs, PendingListArgs, PendingResolveArgs};
use crate::input::location::StateLocation;
use crate::input::pulumi::{PulumiState, load, snapshot};
use crate::input::remote::command_on;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::output::Output;
use crate::report::text::count;

/// Lists the pending operations.
pub(crate) fn list(args: &PendingListArgs, state: &PulumiState) -> Result {
    let loaded = load(state)?;
    let snapshot = snapshot(&loaded.file);
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.objects("operations", &snapshot.pending_operations, |json, operation: &Operation| {
                json.text("type", operation.kind.as_str());
                json.text("urn", operation.resource.urn.as_str());
                if let Some(id) = operation.resource.id() {
                    json.text("id", id.as_str());
                }
            });
        }))?;
    } else {
        for operation in &snapshot.pending_operations {
            out.line(&format!("{} {}", operation.kind, operation.resource.urn))?;
        }
    }
    out.finish()?;
    Ok(Outcome::Clean)
}

/// Forgets pending operations.
pub(crate) fn clear(args: &PendingClearArgs, found: StateLocation) -> Result {
    run(found, &args.change, "state-pending-clear", Soundness::Whatever, |snapshot, subject| {
        let name = subject.name;
        let mut indexes: Vec<usize> = match args.addresses.as_slice() {
            [] => (0..snapshot.pending_operations.len()).collect(),
            _ => Vec::new(),
        };
        for word in &args.addresses {
            indexes.extend(find(snapshot, word, name)?);
        }
        let cleared = clear_pending(snapshot, indexes);
        let change = |operation: &Operation| {
            let (kind, urn) = (&operation.kind, &operation.resource.urn);
            let change = Change::new(
                "clear",
                urn,
                format!("Forgot that {urn} was pending ({kind})"),
                format!("Would forget that {urn} is pending ({kind})"),
            );
            change.member("type", kind.to_string())
        };
        let success = format!("{} cleared", count(cleared.len(), "pending operation"));
        Ok(Done { changes: cleared.iter().map(change).collect(), warnings: Vec::new(), success })
    })
}

/// Notes that a resource which was being created exists.
pub(crate) fn resolve(args: &PendingResolveArgs, found: StateLocation) -> Result {
    run(found, &args.change, "state-pending-resolve", Soundness::Whatever, |snapshot, subject| {
        let name = subject.name;
        let found = find(snapshot, &args.address, name)?;
        let [index] = found.as_slice() else {
            let message = format!("{} has {} pending operations in {name}", args.address, found.len());
            return Err(
                Failure::new(Kind::Usage, message).hint("name one by its URN, or clear those that are over")
            );
        };
        let operation = snapshot.pending_operations.get(*index);
        let urn = operation.map(|operation| operation.resource.urn.clone()).unwrap_or_default();
        resolve_pending(snapshot, *index, args.id.as_str().into()).map_err(|error| {
            let kind = if matches!(error, PendingError::NoId) { Kind::Usage } else { Kind::Conflict };
            Failure::new(kind, error.to_string())
        })?;
        let id = &args.id;
        let done = match subject.is_export {
            true => format!("{urn} exists as {id}"),
            false => format!("{urn} exists as {id}, and the next refresh takes it over"),
        };
        let dropped = subject.is_export.then(|| {
            format!(
                "{name} is an export, and `pulumi stack import` clears all pending operations, so it forgets this; import the \
                 file, then take the resource over with `pulumi import` and the identifier {id}"
            )
        });
        let change = Change::new("resolve", &urn, done, format!("Would note that {urn} exists as {id}"))
            .member("id", id.clone());
        Ok(Done {
            changes: vec![change],
            warnings: dropped.into_iter().collect(),
            success: "Pending operation resolved".to_owned(),
        })
    })
}

/// The indexes of the pending operations of a resource; there is at least one.
fn find(snapshot: &Snapshot, word: &str, name: &str) -> Result<Vec<usize>> {
    let is_urn = word.starts_with("urn:");
    let matches = |operation: &Operation| {
        let urn = &operation.resource.urn;
        if is_urn { *urn == word } else { urn.name() == word }
    };
    let operations = snapshot.pending_operations.iter().enumerate();
    let found: Vec<usize> =
        operations.filter(|(_, operation)| matches(operation)).map(|(at, _)| at).collect();
    if found.is_empty() {
        let message = format!("{name} has no pending operation of {word}");
        return Err(Failure::new(Kind::NotFound, message)
            .hint(format!("`{}` shows what there is", command_on("groundstate pending list", name))));
    }
    Ok(found)
}
