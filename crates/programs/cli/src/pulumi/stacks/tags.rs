//! `groundstate stacks tags`: shows, sets and removes the tags of a stack.

use std::collections::{BTreeMap, BTreeSet};

use groundstate_pulumi_diy::{Error, ErrorKind, Stack, Tags};

use crate::args::StacksTagsArgs;
use crate::input::found_stack::{FoundPlace, FoundStack, stack_failure};
use crate::input::runtime::runtime;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::report::text::{did_you_mean, similar};
use crate::session::interrupt::Interrupts;
use crate::session::stack_lock::stack_locked;

/// The tags before and after.
struct Looked {
    stack: Stack,
    before: BTreeMap<String, String>,
    after: BTreeMap<String, String>,
}

pub(super) fn run(args: &StacksTagsArgs) -> Result {
    refuse_impossible(args)?;
    match FoundPlace::at(&args.place)? {
        FoundPlace::Bucket(found) => in_bucket(args, &found),
        #[cfg(feature = "http")]
        FoundPlace::Service(found) => super::service::tags(args, &found),
    }
}

fn in_bucket(args: &StacksTagsArgs, found: &FoundStack) -> Result {
    let interrupts = Interrupts::listen()?;
    let looked = runtime()?.block_on(look(args, found, &interrupts))?;
    let Looked { stack, before, after } = looked;
    let names = [stack.backend().to_string(), stack.reference().to_string(), stack.to_string()];
    print(args, &names, &before, &after)?;
    Ok(Outcome::Clean)
}

fn is_change(args: &StacksTagsArgs) -> bool {
    !args.set.is_empty() || !args.remove.is_empty()
}

/// Refuses what no stack can have, before anything is locked.
fn refuse_impossible(args: &StacksTagsArgs) -> Result<()> {
    let mut tags = Tags::default();
    let mut names = BTreeSet::new();
    for (name, value) in &args.set {
        tags.set(name, value).map_err(|error| stack_failure(&error))?;
    }
    for name in args.set.iter().map(|(name, _)| name).chain(&args.remove) {
        if !names.insert(name) {
            let message = format!("the tag {name:?} is given more than once");
            return Err(
                Failure::new(Kind::Usage, message).hint("give `--set` or `--remove` once for each tag")
            );
        }
    }
    Ok(())
}

async fn look(args: &StacksTagsArgs, found: &FoundStack, interrupts: &Interrupts) -> Result<Looked> {
    let stack = found.open().await?;
    if !stack.exists().await.map_err(|error| found.failure(&error))? {
        return Err(found.missing(&stack).await);
    }
    if !is_change(args) {
        let tags = stack.tags().await.map_err(|error| unreadable(found, &error))?;
        return Ok(Looked { stack, before: tags.all().clone(), after: tags.all().clone() });
    }
    let (before, after) = stack_locked(found, &stack, args.wait.lock_timeout, interrupts, async |lock| {
        let mut tags = stack.tags().await.map_err(|error| unreadable(found, &error))?;
        let before = tags.all().clone();
        let mut after = before.clone();
        change(args, &stack.to_string(), &mut after)?;
        for name in before.keys().filter(|name| !after.contains_key(*name)) {
            tags.remove(name);
        }
        for (name, value) in &after {
            tags.set(name, value).map_err(|error| stack_failure(&error))?;
        }
        if *tags.all() != before {
            interrupts.check()?;
            stack.save_tags(&tags, &lock).await.map_err(|error| found.failure(&error))?;
        }
        Ok((before, tags.all().clone()))
    })
    .await?;
    Ok(Looked { stack, before, after })
}

/// Changes the tags of a stack as the arguments say.
pub(super) fn change(args: &StacksTagsArgs, stack: &str, tags: &mut BTreeMap<String, String>) -> Result<()> {
    for name in &args.remove {
        let known: Vec<String> = tags.keys().cloned().collect();
        if tags.remove(name).is_none() {
            let failure = Failure::new(Kind::NotFound, format!("{stack} has no tag {name:?}"));
            return Err(did_you_mean(&similar(name, known)).into_iter().fold(failure, Failure::hint));
        }
    }
    tags.extend(args.set.iter().cloned());
    Ok(())
}

fn unreadable(found: &FoundStack, error: &Error) -> Failure {
    let failure = found.failure(error);
    match error.kind() {
        ErrorKind::Corrupt => failure.hint("the file holds nothing but tags: remove it, and set them again"),
        _ => failure,
    }
}

/// Prints the tags of a stack; `names` are its backend, its full name, and what messages call it.
pub(super) fn print(
    args: &StacksTagsArgs,
    [backend, name, stack]: &[String; 3],
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> Result<()> {
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("backend", backend);
            json.text("stack", name);
            json.raw("written", before != after);
            json.objects("tags", after, |json, (name, value)| {
                json.text("name", name);
                json.text("value", value);
            });
        }))?;
        return Ok(out.finish()?);
    }
    if is_change(args) {
        let lacks = |tags: &BTreeMap<String, String>, name, value| tags.get(name) != Some(value);
        for (name, value) in before.iter().filter(|(name, value)| lacks(after, *name, *value)) {
            out.line(&format!("- {name}={value}"))?;
        }
        for (name, value) in after.iter().filter(|(name, value)| lacks(before, *name, *value)) {
            out.line(&format!("+ {name}={value}"))?;
        }
        if before == after {
            Messages::stderr().note("the tags are set already, so nothing was written");
        }
        return Ok(out.finish()?);
    }
    for (name, value) in after {
        out.line(&format!("{name}={value}"))?;
    }
    if after.is_empty() {
        Messages::stderr().note(&format!("{stack} has no tags"));
    }
    Ok(out.finish()?)
}
