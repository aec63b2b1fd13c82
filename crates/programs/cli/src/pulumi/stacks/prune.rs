//! `groundstate stacks prune`: removes old updates, backups and retained checkpoints.

use std::sync::Arc;

use groundstate_pulumi_diy::{Backend, CopySource, OldCopy, PrunePlan, PruneRules, Stack, StackFilter};

use crate::args::{CopyKind, StacksPruneArgs};
use crate::input::found_stack::{FoundPlace, FoundStack, stack_failure};
use crate::input::remote::warn_once;
use crate::input::runtime::runtime;
use crate::input::stack;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::report::text::{count, size};
use crate::session::consent::{Loss, confirm};
use crate::session::interrupt::Interrupts;
use crate::session::stack_lock::stack_locked;

/// The command, and what a service has in its place.
const COMMAND: &str = "stacks prune";
const INSTEAD: &str = "how many versions a service keeps is set there; `groundstate history` shows them";

/// A stack, what goes and what stays of its copies.
struct Pruned {
    found: FoundStack,
    stack: Stack,
    plan: PrunePlan,
    /// Why not all that is old was removed.
    failure: Option<Failure>,
}

pub(super) fn run(args: &StacksPruneArgs) -> Result {
    let interrupts = Interrupts::listen()?;
    let pruned = runtime()?.block_on(prune(args, &interrupts))?;
    print(args, &pruned)?;
    let mut outcome = Outcome::Clean;
    let mut is_interrupted = false;
    for failure in pruned.iter().filter_map(|pruned| pruned.failure.as_ref()) {
        // A signal ends the work on all stacks, and is told once.
        let is_signal = matches!(failure.kind, Kind::Signal(_));
        if !(is_signal && std::mem::replace(&mut is_interrupted, true)) {
            Messages::stderr().failure(failure);
        }
        outcome = outcome.and(failure.kind);
    }
    Ok(outcome)
}

async fn prune(args: &StacksPruneArgs, interrupts: &Interrupts) -> Result<Vec<Pruned>> {
    let mut rules = PruneRules::default();
    (rules.keep, rules.older_than) = (args.keep, args.older_than);
    let mut all = Vec::new();
    for (found, stack) in stacks(args).await? {
        interrupts.check()?;
        let (plan, failure) = match stack.prune_plan(&rules).await {
            Ok(plan) => (of_kinds(plan, &args.kinds), None),
            Err(error) if args.all_stacks => (PrunePlan::default(), Some(found.failure(&error))),
            Err(error) => return Err(found.failure(&error)),
        };
        all.push(Pruned { found, stack, plan, failure });
    }
    if let [only] = &all[..]
        && !args.all_stacks
        && only.plan == PrunePlan::default()
        && !only.stack.exists().await.map_err(|error| only.found.failure(&error))?
    {
        return Err(only.found.missing(&only.stack).await);
    }
    if args.dry_run || all.iter().all(|pruned| pruned.plan.old.is_empty()) {
        return Ok(all);
    }
    if !args.yes {
        ask(&all, interrupts).await?;
    }
    for pruned in all.iter_mut().filter(|pruned| !pruned.plan.old.is_empty()) {
        if let Err(failure) = remove(args, pruned, interrupts).await {
            pruned.failure = Some(failure);
        }
    }
    Ok(all)
}

/// The stacks that are meant.
async fn stacks(args: &StacksPruneArgs) -> Result<Vec<(FoundStack, Stack)>> {
    if !args.all_stacks {
        let found = FoundPlace::at(&args.place)?.bucket(COMMAND, INSTEAD)?;
        let stack = found.open().await?;
        return Ok(vec![(found, stack)]);
    }
    let found = stack::bucket(&args.place, COMMAND, INSTEAD)?;
    warn_once(&found.opened.notes);
    let (store, options) = (Arc::clone(&found.opened.store), found.options.clone());
    let backend = Backend::open_existing(store, stack::context(), options).await;
    let backend = backend.map_err(|error| stack_failure(&error))?;
    let names = backend.stack_names(&StackFilter::default()).await;
    let names = names.map_err(|error| stack_failure(&error))?;
    Ok(names.iter().map(|name| (found.stack(name), backend.stack(name))).collect())
}

/// The plan for these kinds only; all kinds if none is named.
fn of_kinds(mut plan: PrunePlan, kinds: &[CopyKind]) -> PrunePlan {
    let is_meant =
        |copy: &OldCopy| kinds.is_empty() || kinds.iter().any(|kind| source_of(*kind) == copy.source);
    plan.old.retain(is_meant);
    plan.kept.retain(is_meant);
    plan
}

fn source_of(kind: CopyKind) -> CopySource {
    match kind {
        CopyKind::History => CopySource::History,
        CopyKind::Backups => CopySource::Backup,
        CopyKind::Retained => CopySource::Retained,
    }
}

fn kind_of(copy: &OldCopy) -> &'static str {
    if copy.source == CopySource::Temporary {
        return "temporary";
    }
    let kinds = [CopyKind::History, CopyKind::Backups, CopyKind::Retained];
    kinds.into_iter().find(|kind| source_of(*kind) == copy.source).map_or("other", CopyKind::name)
}

async fn ask(all: &[Pruned], interrupts: &Interrupts) -> Result<()> {
    let copies = all.iter().map(|pruned| pruned.plan.old.len()).sum();
    let message = format!("{} would be removed", count(copies, "copy"));
    let loss = Loss {
        message: &message,
        lines: all.iter().filter(|pruned| !pruned.plan.old.is_empty()).map(summary).collect(),
        question: "Remove them?",
        hint: "`--dry-run` shows each of them; `--yes` removes them",
    };
    confirm(loss, interrupts).await
}

/// Removes the old copies of a stack. What another process removed meanwhile is no error.
async fn remove(args: &StacksPruneArgs, pruned: &mut Pruned, interrupts: &Interrupts) -> Result<()> {
    let Pruned { found, stack, plan, .. } = pruned;
    let old = std::mem::take(&mut plan.old);
    let mut done = 0;
    let outcome = stack_locked(found, stack, args.wait.lock_timeout, interrupts, async |lock| {
        // The oldest first, so that an interruption leaves no gap.
        for copy in old.iter().rev() {
            interrupts.check()?;
            let removed = stack.prune(std::slice::from_ref(copy), &lock).await;
            removed.map_err(|error| found.failure(&error))?;
            done += 1;
        }
        Ok(())
    })
    .await;
    let mut left = old;
    plan.old = left.split_off(left.len() - done);
    plan.kept.extend(left);
    outcome.map_err(|mut failure| {
        if done > 0 {
            let is_signal = matches!(failure.kind, Kind::Signal(_));
            let why = if is_signal { "interrupted" } else { &failure.message };
            failure.message = format!("removed {} of {stack}, then {why}", count(done, "copy"));
        }
        failure.hint("the same command removes the rest")
    })
}

/// What goes and what stays of a stack, in one line.
fn summary(pruned: &Pruned) -> String {
    let told = |copies: &[OldCopy]| {
        let bytes = copies.iter().map(|copy| copy.size).sum();
        format!("{} ({})", count(copies.len(), "copy"), size(bytes))
    };
    let (goes, stays) = (told(&pruned.plan.old), told(&pruned.plan.kept));
    format!("{}: removes {goes}, keeps {stays}", pruned.stack.reference())
}

fn print(args: &StacksPruneArgs, all: &[Pruned]) -> Result<()> {
    let mut out = Output::stdout();
    if args.json {
        let copies = |json: &mut Json, name: &str, copies: &[OldCopy]| {
            json.objects(name, copies, |json, copy| {
                json.text("kind", kind_of(copy));
                json.text("time", &copy.time.to_string());
                json.raw("bytes", copy.size);
                json.texts("keys", copy.keys.iter().map(ToString::to_string));
            });
        };
        out.json(&Json::document(|json| {
            json.raw("dry_run", args.dry_run);
            json.objects("stacks", all, |json, pruned| {
                json.text("backend", &pruned.stack.backend().to_string());
                json.text("stack", &pruned.stack.reference().to_string());
                copies(json, "removed", &pruned.plan.old);
                copies(json, "kept", &pruned.plan.kept);
                if let Some(failure) = &pruned.failure {
                    json.text("failure", &failure.text());
                }
            });
        }))?;
        return Ok(out.finish()?);
    }
    for pruned in all {
        for copy in &pruned.plan.old {
            let (stack, kind, bytes) = (pruned.stack.reference(), kind_of(copy), size(copy.size));
            out.line(&format!("- {stack}  {kind}  {}  {bytes}", copy.time))?;
        }
        out.line(&summary(pruned))?;
    }
    if args.dry_run {
        Messages::stderr().note("nothing was removed, because of `--dry-run`");
    }
    Ok(out.finish()?)
}
