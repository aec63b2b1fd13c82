//! `groundstate stacks remove`: a stack with its history and tags, and its copies if that is asked for.

use groundstate_pulumi_diy::{CopySource, ErrorKind, RemoveOptions, Removed, Stack};

use crate::args::StacksRemoveArgs;
use crate::input::found_stack::{FoundPlace, FoundStack};
use crate::input::runtime::runtime;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::report::text::count;
use crate::session::consent::{Loss, confirm};
use crate::session::interrupt::Interrupts;
use crate::session::stack_lock::stack_locked;

/// What a removal removes, and which copies of the state it leaves.
#[derive(Debug, PartialEq, Eq)]
struct Removal {
    removed: Removed,
    /// Copies, the one that the removal makes among them.
    copies: Vec<String>,
}

pub(super) fn run(args: &StacksRemoveArgs) -> Result {
    match FoundPlace::at(&args.at.place)? {
        FoundPlace::Bucket(found) => in_bucket(args, &found),
        #[cfg(feature = "http")]
        FoundPlace::Service(found) => super::service::remove(args, &found),
    }
}

fn in_bucket(args: &StacksRemoveArgs, found: &FoundStack) -> Result {
    let interrupts = Interrupts::listen()?;
    let (stack, removal) = runtime()?.block_on(remove(args, found, &interrupts))?;
    print(args, &stack, &removal)?;
    if removal.removed.has_journal && !args.dry_run {
        Messages::stderr().warning("the journal of a killed update stays in the bucket");
    }
    Ok(Outcome::Clean)
}

async fn remove(
    args: &StacksRemoveArgs,
    found: &FoundStack,
    interrupts: &Interrupts,
) -> Result<(Stack, Removal)> {
    let mut options = RemoveOptions::default();
    options.force = args.force;
    options.backups = args.backups;
    let stack = found.open().await?;
    let plan = plan(found, &stack, &options).await?;
    if args.dry_run {
        return Ok((stack, plan));
    }
    interrupts.check()?;
    if !args.yes {
        let message = format!("{stack} would be removed, with {}", count(plan.removed.keys.len(), "object"));
        let stays = plan.copies.iter().map(|key| format!("  {key} stays"));
        let lines = plan.removed.keys.iter().map(|key| format!("- {key}")).chain(stays);
        let loss = Loss {
            message: &message,
            lines: lines.collect(),
            question: "Remove it?",
            hint: "`--dry-run` shows what would be removed; `--yes` removes it",
        };
        confirm(loss, interrupts).await?;
    }
    let done = stack_locked(found, &stack, args.wait.lock_timeout, interrupts, async |lock| {
        // What was shown is what is removed.
        if !args.yes && self::plan(found, &stack, &options).await? != plan {
            let message = format!("{stack} has changed since it was shown, so nothing was removed");
            return Err(Failure::new(Kind::Conflict, message).hint("run the command again"));
        }
        interrupts.check()?;
        let removed = stack.remove(&lock, &options).await;
        let removed = removed.map_err(|error| match error.kind() {
            ErrorKind::Changed => {
                found.failure(&error).hint(format!("run `{}` again", found.command("stacks remove")))
            }
            _ => refused(found, &error),
        })?;
        Ok(Removal { removed, copies: plan.copies })
    })
    .await?;
    Ok((stack, done))
}

async fn plan(found: &FoundStack, stack: &Stack, options: &RemoveOptions) -> Result<Removal> {
    let removed = match stack.removal(options).await {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(found.missing(stack).await),
        removed => removed.map_err(|error| refused(found, &error))?,
    };
    let copies = stack.copies().await.map_err(|error| found.failure(&error))?;
    let others = copies.iter().filter(|copy| copy.source != CopySource::History);
    let others = others.map(|copy| copy.key.to_string());
    let mut copies: Vec<String> = removed.kept.iter().cloned().chain(others).collect();
    copies.retain(|key| !removed.keys.contains(key));
    copies.sort();
    copies.dedup();
    Ok(Removal { removed, copies })
}

/// The failure for a removal that the backend refuses.
fn refused(found: &FoundStack, error: &groundstate_pulumi_diy::Error) -> Failure {
    let failure = found.failure(error);
    let force = found.command("stacks remove --force");
    match error.kind() {
        // The resources would be forgotten.
        ErrorKind::Invalid => Failure { kind: Kind::Loss, ..failure }
            .hint(format!("`{}` shows them; `{force}` forgets them", found.command("list"))),
        ErrorKind::Corrupt | ErrorKind::Unsupported => {
            failure.hint(format!("`{force}` removes it as it is, and keeps its bytes as `.bak`"))
        }
        ErrorKind::Changed => {
            failure.hint(format!("`{force}` removes the stack, and leaves the journal of that update"))
        }
        _ => failure,
    }
}

fn print(args: &StacksRemoveArgs, stack: &Stack, removal: &Removal) -> Result<()> {
    let Removal { removed, copies } = removal;
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("backend", &stack.backend().to_string());
            json.text("stack", &stack.reference().to_string());
            json.raw("dry_run", args.dry_run);
            json.texts("removed", &removed.keys);
            json.texts("copies", copies);
            json.raw("has_journal", removed.has_journal);
        }))?;
        return Ok(out.finish()?);
    }
    for key in &removed.keys {
        out.line(&format!("- {key}"))?;
    }
    for key in copies {
        out.line(&format!("  {key} stays"))?;
    }
    let (verb, objects) = (if args.dry_run { "Would remove" } else { "Removed" }, removed.keys.len());
    let objects = count(objects, "object");
    out.line(&format!("{verb} the stack {} from {}: {objects}", stack.reference(), stack.backend()))?;
    Ok(out.finish()?)
}
