//! `groundstate rollback` and `groundstate undo` of a stack: a copy of its state becomes its state.

use std::error::Error as _;
use std::sync::Arc;

use groundstate_pulumi_diy::{CopySource, Stack};
use groundstate_pulumi_integrity::GateError;

use super::done::{Change, Done};
use super::push::options;
use super::whole::{Plan, Replacing, Written, present, replace};
use crate::args::{Force, RollbackArgs, UndoArgs};
use crate::input::history::choose;
use crate::input::location::StateLocation;
#[cfg(feature = "http")]
use crate::input::remote::Remote;
use crate::input::stack_history::NamedCopy;
use crate::pulumi::admission::Place;
use crate::report::error::{Failure, Kind, Result};
use crate::session::stack::ManagedStack;

/// Restores the copy that `--to` names.
pub(crate) fn rollback(args: &RollbackArgs, found: StateLocation) -> Result {
    #[cfg(feature = "http")]
    if found.remote().and_then(Remote::service).is_some() {
        return super::service::rollback(args, found);
    }
    let how = Replacing { args: &args.change, command: "rollback", yes: args.consent.yes };
    restore(found, how, &args.force, async |managed, stack| {
        let mut copies = copies(managed, stack).await?;
        let ids: Vec<&str> = copies.iter().map(|named| named.id.as_str()).collect();
        let at = choose(&ids, &args.to, managed.name())?;
        Ok(copies.swap_remove(at))
    })
}

/// Restores what the last save, or the last update of this program, replaced.
pub(crate) fn undo_stack(args: &UndoArgs, found: StateLocation) -> Result {
    #[cfg(feature = "http")]
    if found.remote().and_then(Remote::service).is_some() {
        return super::service::undo(args, found);
    }
    let how = Replacing { args: &args.change, command: "undo", yes: args.consent.yes };
    restore(found, how, &args.force, async |managed, stack| {
        let copies = copies(managed, stack).await?;
        let last = copies.into_iter().find(|named| named.copy.source == CopySource::Previous);
        last.ok_or_else(|| {
            let message = format!("there is no `.bak` of {}", managed.name());
            Failure::new(Kind::NoState, message).hint(format!(
                "`{}` shows the copies that there are, `{}` restores one",
                managed.command("history"),
                managed.command("rollback --to ID")
            ))
        })
    })
}

async fn copies(managed: &ManagedStack, stack: &Stack) -> Result<Vec<NamedCopy>> {
    Ok(NamedCopy::all(stack.copies().await.map_err(|error| managed.failure(&error))?))
}

fn restore(
    found: StateLocation,
    how: Replacing<'_>,
    force: &Force,
    find: impl AsyncFnOnce(&ManagedStack, &Stack) -> Result<NamedCopy>,
) -> Result {
    let options = options(force);
    let place = Place::of(&found);
    let plan = async |managed: &ManagedStack, stack: &Stack| {
        let found = find(managed, stack).await?;
        let read = stack.restorable(&found.copy, &options).await.map_err(|error| {
            let failure = managed.failure(&error);
            match (failure.kind, error.source().and_then(|source| source.downcast_ref::<GateError>())) {
                (_, Some(refused)) => failure.hint(format!(
                    "`--force={}` accepts these findings and no others, `--force` all",
                    refused.codes()
                )),
                (Kind::Conflict, None) => failure.hint("`--force` restores it nevertheless"),
                _ => failure,
            }
        })?;
        let id = &found.id;
        let present = present(managed, stack).await?;
        let (document, warnings) =
            place.secure_text(read.bytes.to_vec(), present.file.snapshot.as_ref(), id, force)?;
        let change =
            Change::new(how.command, "", format!("Went back to {id}"), format!("Would go back to {id}"));
        let done = Done {
            changes: vec![change.member("id", id.clone())],
            warnings,
            success: "State brought back".to_owned(),
        };
        Ok((Plan { text: document.to_vec(), done }, (found.copy, document)))
    };
    replace(found, how, plan, async |managed, locked, (copy, document)| {
        let saved = locked.stack.restore_as(&copy, document, &options, Arc::clone(&locked.guard)).await;
        let saved = saved.map_err(|error| managed.failure(&error))?;
        Ok(Written { backup: saved.backup, warnings: saved.warnings })
    })
}
