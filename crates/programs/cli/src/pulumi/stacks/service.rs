//! `groundstate stacks` where the stacks are in a Pulumi service.

use std::time::{Duration, Instant};

use groundstate_common::{Timestamp, one_line};
use groundstate_pulumi_backends::pulumi_http::protocol::{Stack, StackPath, StackSummary, Tags};
use groundstate_pulumi_backends::pulumi_http::{
    Error, ErrorKind, Result as ServiceResult, ServiceStack, StackFilter,
};
use groundstate_pulumi_deployment::{DecodeOptions, decode};
use groundstate_statemgr::LOCK_WAITS;

use super::list::{Details, Listed};
use super::{rename, tags};
use crate::args::{StacksCreateArgs, StacksListArgs, StacksRemoveArgs, StacksRenameArgs, StacksTagsArgs};
use crate::input::pulumi as deployment;
use crate::input::runtime::runtime;
use crate::input::service::{FoundService, service_failure};
use crate::input::stack::FoundAccount;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::report::text::count;
use crate::session::consent::{Loss, confirm};
use crate::session::interrupt::Interrupts;

/// Lists the stacks that the user may see.
pub(super) fn list(args: &StacksListArgs, found: &FoundAccount) -> Result {
    let mut filter = StackFilter::default();
    if let Some(project) = &args.project {
        filter = filter.project(project);
    }
    if let Some(tag) = &args.tag {
        let (name, value) =
            tag.split_once('=').map_or((tag.as_str(), None), |(name, value)| (name, Some(value)));
        filter = filter.tag(name, value.map(str::to_owned));
    }
    let stacks =
        runtime()?.block_on(found.service.stacks(&filter)).map_err(|error| service_failure(&error))?;
    let mut listed: Vec<Listed> = stacks.into_iter().map(|stack| one(args, stack)).collect();
    listed.sort_by(|one, other| one.name.cmp(&other.name));
    super::list::print(args, &found.service.to_string(), &listed, None)?;
    Ok(Outcome::Clean)
}

fn one(args: &StacksListArgs, stack: StackSummary) -> Listed {
    let details = (args.long || args.tag.is_some()).then(|| {
        // 0 is an update that runs.
        let last_update = stack.last_update.filter(|seconds| *seconds != 0);
        let last_update = last_update.and_then(|seconds| Timestamp::from_unix(seconds, 0).ok());
        let resources = stack.resource_count.and_then(|number| usize::try_from(number).ok());
        Ok(Details { last_update, resources })
    });
    let name = StackPath::new(stack.org_name, stack.project_name, stack.stack_name).to_string();
    Listed { name, details }
}

/// Makes a stack without a state.
pub(super) fn create(args: &StacksCreateArgs, found: &FoundService) -> Result {
    let interrupts = Interrupts::listen()?;
    let stack = runtime()?.block_on(async {
        let stack = found.stack().await.map_err(|error| found.failure(&error))?;
        interrupts.check()?;
        let project = ("pulumi:project".to_owned(), stack.path().project.clone());
        let created =
            stack.create(Tags::from([project]), None).await.map_err(|error| match error.kind() {
                ErrorKind::Exists => super::create::exists(&found.command("list"), found.failure(&error)),
                _ => found.failure(&error),
            })?;
        let mut messages = Messages::stderr();
        created.messages.iter().for_each(|message| messages.note(&one_line(&message.message)));
        Ok::<_, Failure>(stack)
    })?;
    super::create::print(args, &stack.service().to_string(), &stack.path().to_string())
}

/// Removes a stack with its versions and tags.
pub(super) fn remove(args: &StacksRemoveArgs, found: &FoundService) -> Result {
    if args.backups {
        let message =
            "`--backups` is for stacks in buckets: a service keeps no copies beside the versions of a stack";
        return Err(Failure::new(Kind::Usage, message));
    }
    let interrupts = Interrupts::listen()?;
    let (stack, lost) = runtime()?.block_on(async {
        let stack = found.stack().await.map_err(|error| found.failure(&error))?;
        let (known, resources) = looked_at(found, stack).await?;
        if resources > 0 && !args.force {
            let message =
                format!("{stack} has {}, which nothing would manage any more", count(resources, "resource"));
            return Err(Failure::new(Kind::Loss, message).hint(format!(
                "`{}` shows them; `{}` forgets them",
                found.command("list"),
                found.command("stacks remove --force")
            )));
        }
        let versions = usize::try_from(known.version).unwrap_or(usize::MAX);
        let lost =
            vec![count(versions, "version"), count(known.tags.len(), "tag"), count(resources, "resource")];
        if args.dry_run {
            return Ok((stack, lost));
        }
        if !args.yes {
            let loss = Loss {
                message: &format!("{stack} would be removed"),
                lines: lost.iter().map(|what| format!("- {what}")).collect(),
                question: "Remove it?",
                hint: "`--dry-run` shows what would be removed; `--yes` removes it",
            };
            confirm(loss, &interrupts).await?;
            // What was shown is what is removed.
            let now = stack.get().await.map_err(|error| found.failure(&error))?;
            if now.version != known.version {
                let message = format!("{stack} has changed since it was shown, so nothing was removed");
                return Err(Failure::new(Kind::Conflict, message).hint("run the command again"));
            }
        }
        let removed =
            free(args.wait.lock_timeout, &interrupts, async || stack.remove(args.force).await).await?;
        removed.map_err(|error| found.failure(&error))?;
        Ok((stack, lost))
    })?;
    let mut out = Output::stdout();
    let (service, name) = (stack.service().to_string(), stack.path().to_string());
    if args.json {
        out.json(&Json::document(|json| {
            json.text("backend", &service);
            json.text("stack", &name);
            json.raw("dry_run", args.dry_run);
            json.texts("removed", &lost);
            json.texts("copies", &[] as &[String]);
            json.raw("has_journal", false);
        }))?;
    } else {
        let verb = if args.dry_run { "Would remove" } else { "Removed" };
        out.line(&format!("{verb} the stack {name} from {service}: {}", lost.join(", ")))?;
    }
    out.finish()?;
    Ok(Outcome::Clean)
}

/// What is known of a stack, and how many resources it has beside its root.
async fn looked_at(found: &FoundService, stack: &ServiceStack) -> Result<(Stack, usize)> {
    let known = match stack.get().await {
        Ok(known) => known,
        Err(error) => return Err(found.failed(&error, stack).await),
    };
    let text = stack.export().await.map_err(|error| found.failure(&error))?;
    let file = decode(&text, &DecodeOptions::default())
        .map_err(|error| deployment::failure(&error, &stack.to_string(), &text))?;
    let snapshot = deployment::snapshot(&file);
    let is_root_alone = snapshot.resources.len() == 1 && snapshot.root_stack().is_some();
    Ok((known, if is_root_alone { 0 } else { snapshot.resources.len() }))
}

/// The number of resources of a stack that an earlier command renamed and was killed before it could say so: the old name is gone,
/// and the newest version under the new one is a rename.
async fn renamed_before(found: &FoundService, stack: &ServiceStack, to: &StackPath) -> Result<Option<usize>> {
    let is_gone = |error: &Error| error.kind() == ErrorKind::NotFound;
    if !stack.get().await.as_ref().is_err_and(is_gone) {
        return Ok(None);
    }
    let target = stack.service().stack(to.clone());
    let newest = match target.history(1, 1).await {
        Err(error) if is_gone(&error) => return Ok(None),
        newest => newest.map_err(|error| found.failure(&error))?,
    };
    let kind =
        newest.first().and_then(|entry| entry.update.as_ref().ok()).map(|update| update.kind.to_string());
    match kind.as_deref() {
        Some("rename") => looked_at(found, &target).await.map(|(_, resources)| Some(resources)),
        _ => Ok(None),
    }
}

/// Gives a stack another name. The service changes its URNs.
pub(super) fn rename(args: &StacksRenameArgs, found: &FoundService) -> Result {
    if args.force {
        let message = "`--force` is for stacks in buckets: the service itself changes what is in the state";
        return Err(Failure::new(Kind::Usage, message));
    }
    let interrupts = Interrupts::listen()?;
    let (from, to, resources, files, is_resumed) = runtime()?.block_on(async {
        let stack = found.stack().await.map_err(|error| found.failure(&error))?;
        let to = renamed(stack.path(), &args.new)?;
        let files = match stack.path().project == to.project {
            true => rename::configuration(&found.argument, &stack.path().stack, &to.stack)?,
            false => None,
        };
        if let Some(resources) = renamed_before(found, stack, &to).await? {
            return Ok((stack.path().clone(), to, resources, files, true));
        }
        let (_, resources) = looked_at(found, stack).await?;
        if !args.dry_run {
            interrupts.check()?;
            let work = async || stack.rename(&to.stack, Some(&to.project)).await;
            let done = free(args.wait.lock_timeout, &interrupts, work).await?;
            done.map_err(|error| found.failure(&error))?;
        }
        Ok::<_, Failure>((stack.path().clone(), to, resources, files, false))
    })?;
    let service = found.service.to_string();
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("backend", &service);
            json.text("stack", &from.to_string());
            json.text("renamed_to", &to.to_string());
            json.raw("dry_run", args.dry_run);
            json.raw("is_resumed", is_resumed);
            json.raw("resources", resources);
            json.objects("objects", &[] as &[()], |_, ()| {});
        }))?;
    } else {
        let verb = match (args.dry_run, is_resumed) {
            (true, _) => "Would rename",
            (false, false) => "Renamed",
            (false, true) => "Ended the rename of",
        };
        out.line(&format!("{verb} the stack {from} to {to} in {service}: {}", count(resources, "resource")))?;
    }
    out.finish()?;
    if !args.dry_run {
        rename::follow_up(files.as_ref(), &to.to_string());
    }
    Ok(Outcome::Clean)
}

/// The new name of a stack, whose owner stays.
fn renamed(old: &StackPath, new: &str) -> Result<StackPath> {
    use groundstate_pulumi_backends::pulumi_http::protocol::{project_name, stack_name};
    let wrong =
        |why: &str| Failure::new(Kind::Usage, format!("{new:?} cannot be the name of a stack: {why}"));
    let parts: Vec<&str> = new.split('/').collect();
    let (owner, project, stack) = match parts[..] {
        [stack] => (old.owner.as_str(), old.project.as_str(), stack),
        [owner, project, stack] => (owner, project, stack),
        _ => return Err(wrong("write STACK, or ORGANIZATION/PROJECT/STACK")),
    };
    stack_name(stack).map_err(|error| wrong(&error.to_string()))?;
    project_name(project).map_err(|error| wrong(&error.to_string()))?;
    if owner != old.owner {
        return Err(wrong("a stack keeps its organisation")
            .hint("`groundstate stacks migrate` copies it to another organisation"));
    }
    let new = StackPath::new(owner, project, stack);
    if new == *old {
        return Err(Failure::new(Kind::Usage, format!("the stack is called {new} already")));
    }
    Ok(new)
}

/// Shows, sets and removes tags.
pub(super) fn tags(args: &StacksTagsArgs, found: &FoundService) -> Result {
    let interrupts = Interrupts::listen()?;
    let (stack, before, after) = runtime()?.block_on(async {
        let stack = found.stack().await.map_err(|error| found.failure(&error))?;
        let before = match stack.get().await {
            Ok(known) => known.tags,
            Err(error) => return Err(found.failed(&error, stack).await),
        };
        let mut after = before.clone();
        tags::change(args, &stack.to_string(), &mut after)?;
        if after != before {
            interrupts.check()?;
            stack.set_tags(&after).await.map_err(|error| found.failure(&error))?;
        }
        Ok((stack, before, after))
    })?;
    let names = [stack.service().to_string(), stack.path().to_string(), stack.to_string()];
    tags::print(args, &names, &before, &after)?;
    Ok(Outcome::Clean)
}

/// Does something that the service refuses while an update runs, and waits for its end as long as there is time.
async fn free<T>(
    timeout: Duration,
    interrupts: &Interrupts,
    mut work: impl AsyncFnMut() -> ServiceResult<T>,
) -> Result<Result<T, Error>> {
    let started = Instant::now();
    let (mut waits, mut is_told) = (LOCK_WAITS, false);
    loop {
        let error = match work().await {
            Err(error) if error.kind() == ErrorKind::Running => error,
            done => return Ok(done),
        };
        let left = timeout.saturating_sub(started.elapsed());
        if left.is_zero() {
            return Ok(Err(error));
        }
        if !std::mem::replace(&mut is_told, true) {
            Messages::stderr().note(&format!("waiting for the update to end: {error}"));
        }
        tokio::select! {
            () = tokio::time::sleep(waits.wait().min(left)) => {}
            interrupted = interrupts.wait() => return Err(interrupted),
        }
    }
}
