//! A stack of a service into a bucket, in the files that `pulumi` keeps there.

use groundstate_pulumi_deployment::RawDeployment;
use groundstate_pulumi_diy::blobs::Precondition;
use groundstate_pulumi_diy::{Stack, Update};

use super::recode::{Recoder, digest};
use super::source::{OldEntry, OldStack};
use super::{Arrived, Outcome, Transfer};
use crate::input::found_stack::FoundStack;
use crate::input::pulumi;
use crate::report::error::{Failure, Kind, Result};
use crate::session::stack_lock::stack_locked;

pub(super) async fn copy(
    transfer: &Transfer<'_>,
    old: &OldStack<'_>,
    found: &FoundStack,
    recoder: Recoder,
) -> Result<Outcome> {
    if transfer.args.dry_run {
        // An empty directory is no backend yet, and nothing is in it.
        let Some(stack) = found.open_if_there().await? else {
            return Ok(Outcome::Would { objects: old.entries.len() + 1 });
        };
        return match present(old, found, &stack, &recoder).await? {
            Some(digest) => Ok(Outcome::Present { digest }),
            None => Ok(Outcome::Would { objects: old.entries.len() + 1 }),
        };
    }
    let stack = found.open_to_create().await?;
    let timeout = transfer.args.wait.lock_timeout;
    stack_locked(found, &stack, timeout, &transfer.interrupts, async |lock| {
        if let Some(digest) = present(old, found, &stack, &recoder).await? {
            return Ok(Outcome::Present { digest });
        }
        let failed = |error: groundstate_pulumi_diy::Error| found.failure(&error);
        // The state comes last, so a stack that is there is whole. What a killed run has written is written again.
        for entry in &old.entries {
            transfer.interrupts.check()?;
            let state = old.state(entry).await?;
            let update = recoded(old, entry, state.as_deref(), &recoder)?;
            let document =
                state.as_deref().map(|state| checkpoint(&stack, &recoder.state(state, &old.name)?));
            let document = document.transpose()?;
            let recorded = stack.record_past(&update, document.as_deref(), entry.stamp(), &*lock).await;
            recorded.map_err(failed)?;
        }
        let mut tags = stack.tags().await.map_err(failed)?;
        for (name, value) in &old.tags {
            tags.set(name, value).map_err(failed)?;
        }
        stack.save_tags(&tags, &*lock).await.map_err(failed)?;
        transfer.interrupts.check()?;
        let document = checkpoint(&stack, &recoder.state(&old.newest, &old.name)?)?;
        let mut writer = stack.writer(lock).expecting(Precondition::Absent).unchecked();
        writer.save(document.into()).await.map_err(failed)?;
        verify(old, found, &stack, &recoder).await
    })
    .await
}

/// An update as the bucket gets it.
fn recoded(old: &OldStack<'_>, entry: &OldEntry, state: Option<&[u8]>, recoder: &Recoder) -> Result<Update> {
    let mut update = entry.update.clone();
    // Buckets have no versions: the number of an update is that of its place.
    update.version = 0;
    if let Some(config) = update.config.take() {
        update.config = Some(recoder.config(&config, state.unwrap_or(&old.newest), &old.name)?);
    }
    Ok(update)
}

/// A state in the envelope of a checkpoint. Every value keeps its bytes.
fn checkpoint(stack: &Stack, text: &[u8]) -> Result<Vec<u8>> {
    let name = stack.to_string();
    let raw = RawDeployment::read(text).map_err(|error| pulumi::failure(&error, &name, text))?;
    Ok(raw.to_checkpoint(&stack.reference().to_string()))
}

/// The digest of the state, if the stack is there with the state of the source.
async fn present(
    old: &OldStack<'_>,
    found: &FoundStack,
    stack: &Stack,
    recoder: &Recoder,
) -> Result<Option<String>> {
    let failed = |error: groundstate_pulumi_diy::Error| found.failure(&error);
    if !stack.exists().await.map_err(failed)? {
        return Ok(None);
    }
    let text = stack.export().await.map_err(failed)?;
    if recoder.is_same(&text, &old.newest)? {
        return Ok(Some(digest(&text)));
    }
    let message = format!("{stack} exists already with another state, so nothing was written");
    Err(Failure::new(Kind::Conflict, message)
        .hint(format!("`{}` shows what it has", found.command("history"))))
}

/// Reads everything back.
async fn verify(old: &OldStack<'_>, found: &FoundStack, stack: &Stack, recoder: &Recoder) -> Result<Outcome> {
    let failed = |error: groundstate_pulumi_diy::Error| found.failure(&error);
    let other = |what: &str| {
        Failure::new(Kind::Conflict, format!("{what} of {stack} is not what was written"))
            .hint("look at the stack there before anything else; the source is as it was")
    };
    let history = stack.history(1, 0).await.map_err(failed)?;
    if history.total != old.entries.len() {
        return Err(other("the history"));
    }
    for (entry, was) in history.entries.iter().rev().zip(&old.entries) {
        let is_same_update = entry.update.as_ref().is_ok_and(|update| {
            (update.start_time, update.end_time, &update.kind)
                == (was.update.start_time, was.update.end_time, &was.update.kind)
        });
        let state = stack.history_checkpoint(entry).await.map_err(failed)?;
        let is_same_state = match (state, old.state(was).await?) {
            (None, None) => true,
            (Some(found), Some(state)) => {
                recoder.is_same(&super::source::exported(&found.bytes, &old.name)?, &state)?
            }
            _ => false,
        };
        if !is_same_update || !is_same_state {
            return Err(other(&format!("update {}", entry.number)));
        }
    }
    let text = stack.export().await.map_err(failed)?;
    if !recoder.is_same(&text, &old.newest)? {
        return Err(other("the state"));
    }
    Ok(Outcome::Arrived(Arrived { objects: old.entries.len() + 1, is_resumed: false, digest: digest(&text) }))
}
