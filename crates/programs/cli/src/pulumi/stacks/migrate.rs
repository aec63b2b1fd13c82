//! `groundstate stacks migrate`: stacks to another backend, with everything that belongs to them.

use std::path::Path;
use std::sync::Arc;

use groundstate_pulumi_deployment::readable_values;
use groundstate_pulumi_diy::{
    Backend, ErrorKind, Layout, RelocateOptions, Relocation, Stack, StackFilter, StackRef,
};
use groundstate_pulumi_snapshot::ProjectName;

use super::list::warn_of_unlisted;
use crate::args::StacksMigrateArgs;
use crate::input::found_stack::{FoundPlace, FoundStack, stack_failure};
use crate::input::remote::warn_once;
use crate::input::runtime::runtime;
use crate::input::stack::{self, FoundBackend};
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::report::text::count;
use crate::session::consent::{Loss, confirm};
use crate::session::interrupt::Interrupts;
use crate::session::stack_lock::stacks_locked;

/// The two backends, and what is asked for.
struct Migration<'a> {
    args: &'a StacksMigrateArgs,
    from: FoundBackend,
    to: FoundBackend,
    source: Backend,
    target: Backend,
    /// The name that the only stack gets.
    name: Option<String>,
    /// The project of stacks that have none.
    project: Option<ProjectName>,
    interrupts: Interrupts,
}

/// What became of a stack.
pub(super) struct Migrated {
    pub(super) stack: String,
    pub(super) to: Option<String>,
    pub(super) became: Became,
    /// The SHA-256 of the export that was read back, where a service is one of the two.
    pub(super) digest: Option<String>,
}

pub(super) enum Became {
    Copied {
        objects: usize,
        is_resumed: bool,
    },
    /// The same state is there already.
    Present,
    Would {
        objects: usize,
    },
    Failed(Failure),
}

impl Became {
    fn as_str(&self, removes: bool) -> &'static str {
        match self {
            Self::Copied { .. } if removes => "moved",
            Self::Copied { .. } => "copied",
            Self::Present => "present",
            Self::Would { .. } => "planned",
            Self::Failed(_) => "failed",
        }
    }
}

pub(super) fn run(args: &StacksMigrateArgs) -> Result {
    #[cfg(feature = "http")]
    if let Some(transfer) = super::transfer::Transfer::between_services(args)? {
        return transfer.run();
    }
    if args.secrets_provider.is_some() {
        let message = "`--secrets-provider` is for stacks that go from or to a service";
        return Err(Failure::new(Kind::Usage, message).hint(
            "`groundstate change-secrets-provider` encrypts a stack of a bucket anew, before or after",
        ));
    }
    let interrupts = Interrupts::listen()?;
    let (migration, names) = runtime()?.block_on(open(args, interrupts))?;
    let done = runtime()?.block_on(migration.all(names))?;
    print(args, &migration.from.name, &migration.to.name, &done)?;
    Ok(outcome(done))
}

/// How the command ends.
pub(super) fn outcome(done: Vec<Migrated>) -> Outcome {
    let mut outcome = Outcome::Clean;
    for migrated in done {
        if let Became::Failed(failure) = migrated.became {
            outcome = outcome.and(failure.kind);
        }
    }
    outcome
}

async fn open(args: &StacksMigrateArgs, interrupts: Interrupts) -> Result<(Migration<'_>, Vec<StackRef>)> {
    let (_, name) = fragment(&args.to);
    if args.all_stacks && (name.is_some() || fragment(&args.from).1.is_some()) {
        let message = "`--all-stacks` takes all stacks of a backend, so no stack is named behind `#`";
        return Err(Failure::new(Kind::Usage, message));
    }
    let project = args.project.as_deref().map(ProjectName::parse).transpose();
    let project = project.map_err(|error| Failure::new(Kind::Usage, error.to_string()))?;
    // Services were looked at before.
    let bucket = |argument| stack::bucket(argument, "stacks migrate", "use a build with the feature `http`");
    let single = match args.all_stacks {
        true => None,
        false => {
            let found = FoundPlace::at(&args.from)?;
            Some(found.bucket("stacks migrate", "use a build with the feature `http`")?)
        }
    };
    let (from, to) = (bucket(&args.from)?, bucket(&args.to)?);
    warn_once(&from.opened.notes);
    warn_once(&to.opened.notes);
    // What is left behind may be of the old layout; nothing but locks is written there unless it is to be removed.
    let options = from.options.clone().allow_legacy();
    let failed = |error: groundstate_pulumi_diy::Error| stack_failure(&error);
    let source = Backend::open_existing(Arc::clone(&from.opened.store), stack::context(), options);
    let source = source.await.map_err(failed)?;
    let store = Arc::clone(&to.opened.store);
    let target = match args.dry_run {
        true => Backend::open_existing(store, stack::context(), to.options.clone()).await,
        false => {
            to.opened.prepare().await.map_err(|error| stack::refused(&error))?;
            Backend::open(store, stack::context(), to.options.clone()).await
        }
    };
    let target = target.map_err(failed)?;
    let names = match &single {
        Some(found) => vec![found.reference(&source)?],
        None => {
            warn_of_unlisted(&source).await?;
            source.stack_names(&StackFilter::default()).await.map_err(failed)?
        }
    };
    Ok((Migration { args, from, to, source, target, name, project, interrupts }, names))
}

/// Asks before stacks go from where they were, unless the command line says yes.
pub(super) async fn confirm_removal<N: std::fmt::Display>(
    args: &StacksMigrateArgs,
    from: &str,
    names: &[N],
    interrupts: &Interrupts,
) -> Result<()> {
    if !args.remove || args.dry_run || args.yes || names.is_empty() {
        return Ok(());
    }
    let loss = Loss {
        message: &format!("{} would be removed from {from} once copied", count(names.len(), "stack")),
        lines: names.iter().map(|name| format!("- {name}")).collect(),
        question: "Remove them there?",
        hint: "`--dry-run` shows what would be migrated; `--yes` removes the stacks where they were; \
               without `--remove` they stay",
    };
    confirm(loss, interrupts).await
}

/// An address without the stack behind `#`, and that.
pub(super) fn fragment(argument: &Path) -> (&Path, Option<String>) {
    let text = stack::address(argument).and_then(|text| text.split_once('#'));
    (argument, text.map(|(_, stack)| stack.to_owned()).filter(|stack| !stack.is_empty()))
}

impl Migration<'_> {
    async fn all(&self, names: Vec<StackRef>) -> Result<Vec<Migrated>> {
        confirm_removal(self.args, &self.from.name, &names, &self.interrupts).await?;
        let mut done = Vec::new();
        for stack in names {
            self.interrupts.check()?;
            let to = self.destination(&stack).await;
            let became = match &to {
                Err(failure) => Err(failure.clone()),
                Ok(to) => self.one(&stack, to).await,
            };
            let became = became.unwrap_or_else(Became::Failed);
            let (stack, to) = (stack.to_string(), to.ok().map(|to| to.to_string()));
            done.push(Migrated { stack, to, became, digest: None });
        }
        Ok(done)
    }

    /// The name of a stack in the other backend.
    async fn destination(&self, stack: &StackRef) -> Result<StackRef> {
        let named = |text: &str, project: Option<&ProjectName>| {
            self.target.reference(text, project).map_err(|error| {
                let message = format!("{text:?} cannot be the name of a stack in {}: {error}", self.to.name);
                Failure::new(Kind::Usage, message)
            })
        };
        let project = match (self.target.layout(), stack.project()) {
            (Layout::Legacy, _) => {
                return named(self.name.as_deref().unwrap_or(stack.stack().as_str()), None);
            }
            (Layout::Projects, Some(project)) => Some(project.clone()),
            (Layout::Projects, None) => match &self.project {
                Some(project) => Some(project.clone()),
                None => self
                    .source
                    .stack(stack)
                    .project_of_resources()
                    .await
                    .map_err(|error| stack_failure(&error))?,
            },
        };
        match (&self.name, project) {
            (Some(name), project) => named(name, project.as_ref()),
            (None, Some(project)) => Ok(StackRef::new(project, stack.stack().clone())),
            (None, None) => {
                let message = format!("the stack {stack} has no resources, so its project is not known");
                Err(Failure::new(Kind::Usage, message).hint("`--project PROJECT` puts it into one"))
            }
        }
    }

    async fn one(&self, from: &StackRef, to: &StackRef) -> Result<Became> {
        let (source, target) = (self.source.stack(from), self.target.stack(to));
        if source.to_string() == target.to_string() {
            let message = format!("the stack {from} is in {} already", self.to.name);
            return Err(
                Failure::new(Kind::Usage, message).hint("name another backend, or another stack behind `#`")
            );
        }
        let (old, new) = (self.from.stack(from), self.to.stack(to));
        refuse_readable(&old, &source).await?;
        let mut options = RelocateOptions::default();
        options.keep_source = !self.args.remove;
        if self.args.dry_run {
            return match self.plan(&old, &source, &target, options).await? {
                Some(plan) => Ok(Became::Would { objects: plan.objects().len() }),
                None => self.present(&old),
            };
        }
        let (timeout, interrupts) = (self.args.wait.lock_timeout, &self.interrupts);
        stacks_locked([(&old, &source), (&new, &target)], timeout, interrupts, async |locks| {
            let Some(plan) = self.plan(&old, &source, &target, options).await? else {
                return self.present(&old);
            };
            let done = plan.carry_out(&locks).await.map_err(|error| old.failure(&error))?;
            done.warnings.iter().for_each(|warning| Messages::stderr().warning(warning));
            Ok(Became::Copied { objects: done.objects, is_resumed: done.is_resumed })
        })
        .await
    }

    /// That the same state is there already. It was copied before, so nothing tells that its other objects are there too.
    fn present(&self, found: &FoundStack) -> Result<Became> {
        if !self.args.remove {
            return Ok(Became::Present);
        }
        let message = format!("the same state is in {} already, so it was not moved", self.to.name);
        let remove = found.command("stacks remove --force --backups");
        Err(Failure::new(Kind::Conflict, message)
            .hint(format!("`{remove}` removes the stack from the source backend")))
    }

    /// The plan; none if the same state is there already.
    async fn plan(
        &self,
        found: &FoundStack,
        source: &Stack,
        target: &Stack,
        options: RelocateOptions,
    ) -> Result<Option<Relocation>> {
        let error = match source.relocation(target, options).await {
            Ok(plan) => return Ok(Some(plan)),
            Err(error) => error,
        };
        match error.kind() {
            ErrorKind::NotFound => return Err(found.missing(source).await),
            ErrorKind::Exists => {
                let read = (source.read().await, target.read().await);
                if let (Ok(Some(source)), Ok(Some(target))) = read
                    && source.bytes == target.bytes
                {
                    return Ok(None);
                }
            }
            _ => {}
        }
        Err(found.failure(&error))
    }
}

/// Refuses to copy a state with readable secrets, whose bytes would be the same at the target.
async fn refuse_readable(found: &FoundStack, source: &Stack) -> Result<()> {
    // A state that cannot be read is explained where it is to be copied.
    let Ok(Some(file)) = source.read().await.and_then(|read| read.map(|read| read.decode()).transpose())
    else {
        return Ok(());
    };
    let readable = file.snapshot.as_ref().map_or(0, readable_values);
    if readable == 0 {
        return Ok(());
    }
    let secrets = count(readable, "secret");
    let message = format!("{secrets} of {source} stand readable in its state, and would be copied so");
    Err(Failure::new(Kind::Unusable, message)
        .hint(format!(
            "encrypt them first: `{}`, then `{} stack.json`",
            found.command("pull -o stack.json"),
            found.command("push")
        ))
        .hint(format!("`{}` encrypts them under a new key", found.command("change-secrets-provider"))))
}

pub(super) fn print(args: &StacksMigrateArgs, from: &str, to: &str, done: &[Migrated]) -> Result<()> {
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("from", from);
            json.text("to", to);
            json.raw("dry_run", args.dry_run);
            json.raw("removes", args.remove);
            json.objects("stacks", done, |json, migrated| {
                json.text("stack", &migrated.stack);
                if let Some(to) = &migrated.to {
                    json.text("to", to);
                }
                json.text("outcome", migrated.became.as_str(args.remove));
                match &migrated.became {
                    Became::Copied { objects, .. } | Became::Would { objects } => {
                        json.raw("objects", objects);
                    }
                    Became::Failed(failure) => json.text("reason", &failure.message),
                    Became::Present => {}
                }
                if let Some(digest) = &migrated.digest {
                    json.text("sha256", digest);
                }
            });
        }))?;
        return Ok(out.finish()?);
    }
    let mut failures = Vec::new();
    for Migrated { stack, to, became, .. } in done {
        let name = match to {
            Some(to) if to != stack => format!("{stack} to {to}"),
            _ => stack.clone(),
        };
        let line = match became {
            Became::Copied { objects, is_resumed } => {
                let verb = if args.remove { "moved" } else { "copied" };
                let ended = if *is_resumed { ", which another process had begun" } else { "" };
                format!("{name}  {verb} with {}{ended}", count(*objects, "object"))
            }
            Became::Present => format!("{name}  is there already"),
            Became::Would { objects } => {
                let verb = if args.remove { "moved" } else { "copied" };
                format!("{name}  would be {verb} with {}", count(*objects, "object"))
            }
            Became::Failed(failure) => {
                failures.push(failure.clone());
                format!("{name}  stays")
            }
        };
        out.line(&line)?;
    }
    if done.is_empty() {
        Messages::stderr().note(&format!("there are no stacks in {from}"));
    }
    out.finish()?;
    let mut messages = Messages::stderr();
    failures.iter().for_each(|failure| messages.failure(failure));
    let is_copied = done.iter().any(|migrated| matches!(migrated.became, Became::Copied { .. }));
    if is_copied && !args.remove {
        messages.note(&format!(
            "the stacks are still in {from}: let nothing change them there any more, and remove them when all use {to}"
        ));
    }
    Ok(())
}
