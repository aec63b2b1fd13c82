//! `groundstate stacks migrate` from a service or to one: stacks with their histories, tags and secrets.
//!
//! What is at the target decides what is missing, so the same command goes on after a kill at any request: versions that are appended to
//! a service have keys, those of a bucket have names by their times, and the state of a stack comes last.

mod config;
mod recode;
mod source;
mod to_bucket;
mod to_service;

use std::path::Path;

use groundstate_pulumi_backends::pulumi_http::protocol::StackPath;
use groundstate_pulumi_diy::RemoveOptions;
use groundstate_pulumi_snapshot::ProjectName;

use self::recode::Recoder;
use self::source::{OldStack, Source};
use super::migrate::{Became, Migrated, confirm_removal, fragment, outcome, print};
use crate::args::StacksMigrateArgs;
use crate::input::found_stack::FoundPlace;
use crate::input::runtime::runtime;
use crate::input::stack::{self, FoundBackends};
use crate::report::error::{Failure, Kind, Result};
use crate::session::interrupt::Interrupts;
use crate::session::stack_lock::stack_locked;

/// A transfer of stacks of which one side is a service.
pub(super) struct Transfer<'a> {
    args: &'a StacksMigrateArgs,
    source: Source,
    target: FoundBackends,
    /// The stack that is meant; nothing for all.
    single: Option<FoundPlace>,
    /// The name that the command line gives the stack at the target.
    name: Option<String>,
    project: Option<ProjectName>,
    interrupts: Interrupts,
}

/// A stack that is at the target.
struct Arrived {
    /// How many versions and states were stored.
    objects: usize,
    is_resumed: bool,
    /// The SHA-256 of what was read back.
    digest: String,
}

/// What came of a stack at the target.
enum Outcome {
    Arrived(Arrived),
    Present { digest: String },
    Would { objects: usize },
}

impl<'a> Transfer<'a> {
    /// The transfer, if one of the two places is a service.
    pub(super) fn between_services(args: &'a StacksMigrateArgs) -> Result<Option<Self>> {
        let (from, target) = (stack::backend(&args.from)?, stack::backend(&args.to)?);
        if let (FoundBackends::Bucket(_), FoundBackends::Bucket(_)) = (&from, &target) {
            return Ok(None);
        }
        let (_, name) = fragment(&args.to);
        if args.all_stacks && (name.is_some() || fragment(&args.from).1.is_some()) {
            let message = "`--all-stacks` takes all stacks of a backend, so no stack is named behind `#`";
            return Err(Failure::new(Kind::Usage, message));
        }
        let project = args.project.as_deref().map(ProjectName::parse).transpose();
        let project = project.map_err(|error| Failure::new(Kind::Usage, error.to_string()))?;
        let single = if args.all_stacks { None } else { Some(FoundPlace::at(&args.from)?) };
        let interrupts = Interrupts::listen()?;
        let source = Source::new(from);
        Ok(Some(Self { args, source, target, single, name, project, interrupts }))
    }

    pub(super) fn run(self) -> Result {
        let done = runtime()?.block_on(self.all())?;
        print(self.args, &self.source.name(), &self.target_name(), &done)?;
        Ok(outcome(done))
    }

    fn target_name(&self) -> String {
        match &self.target {
            FoundBackends::Bucket(found) => found.name.clone(),
            FoundBackends::Service(found) => found.service.to_string(),
        }
    }

    async fn all(&self) -> Result<Vec<Migrated>> {
        let names = self.source.names(self.single.as_ref()).await?;
        confirm_removal(self.args, &self.source.name(), &names, &self.interrupts).await?;
        let mut done = Vec::new();
        for name in names {
            self.interrupts.check()?;
            let (mut to, mut digest) = (None, None);
            let became = match self.one(&name, &mut to).await {
                Ok(Outcome::Arrived(arrived)) => {
                    digest = Some(arrived.digest);
                    Became::Copied { objects: arrived.objects, is_resumed: arrived.is_resumed }
                }
                Ok(Outcome::Present { digest: found }) => {
                    digest = Some(found);
                    Became::Present
                }
                Ok(Outcome::Would { objects }) => Became::Would { objects },
                Err(failure) => Became::Failed(failure),
            };
            done.push(Migrated { stack: name, to, became, digest });
        }
        Ok(done)
    }

    /// Copies a stack. One of a bucket is locked meanwhile; one of a service must not change.
    async fn one(&self, name: &str, to: &mut Option<String>) -> Result<Outcome> {
        match &self.source {
            Source::Service(account) => {
                let found = account.stack(name);
                let old = source::of_service(&found).await?;
                let copied = self.copy(&old, to).await?;
                self.source_is_unchanged(&old).await?;
                if self.args.remove && !self.args.dry_run {
                    let stack = found.stack().await.map_err(|error| found.failure(&error))?;
                    stack.remove(true).await.map_err(|error| found.failure(&error))?;
                }
                Ok(copied)
            }
            Source::Bucket(backend) => {
                let found = backend.named(name);
                let stack = found.open().await?;
                if self.args.dry_run {
                    return self
                        .copy(&source::of_bucket(&found, &stack, self.project.as_ref()).await?, to)
                        .await;
                }
                let timeout = self.args.wait.lock_timeout;
                stack_locked(&found, &stack, timeout, &self.interrupts, async |lock| {
                    let old = source::of_bucket(&found, &stack, self.project.as_ref()).await?;
                    let copied = self.copy(&old, to).await?;
                    if self.args.remove {
                        let options = RemoveOptions::default().force();
                        stack.remove(&*lock, &options).await.map_err(|error| found.failure(&error))?;
                    }
                    Ok(copied)
                })
                .await
            }
        }
    }

    async fn copy(&self, old: &OldStack<'_>, to: &mut Option<String>) -> Result<Outcome> {
        match &self.target {
            FoundBackends::Service(account) => {
                let owner = self.owner().await?;
                let path = StackPath::new(owner, &old.project, &old.stack);
                self.check_name(&path)?;
                *to = Some(path.to_string());
                let found = account.stack(&path.to_string());
                let stack = found.stack().await.map_err(|error| found.failure(&error))?;
                let recoder = Recoder::to_service(self.args, stack.clone());
                to_service::copy(self, old, &found, stack, recoder).await
            }
            FoundBackends::Bucket(backend) => {
                let path = StackPath::new("organization", &old.project, &old.stack);
                self.check_name(&path)?;
                *to = Some(path.to_string());
                let found = backend.named(&path.to_string());
                to_bucket::copy(self, old, &found, Recoder::to_bucket(self.args)).await
            }
        }
    }

    /// The organisation that stacks get in a service.
    async fn owner(&self) -> Result<String> {
        let FoundBackends::Service(account) = &self.target else { return Ok("organization".to_owned()) };
        if let Some([owner, _, _]) =
            self.name.as_deref().map(|name| name.split('/').collect::<Vec<_>>()).as_deref()
        {
            return Ok((*owner).to_owned());
        }
        let owner = account.service.default_organization().await;
        owner.map_err(|error| crate::input::service::service_failure(&error))
    }

    /// URNs have the names of project and stack, and the service at the target changes none.
    fn check_name(&self, path: &StackPath) -> Result<()> {
        let Some(name) = &self.name else { return Ok(()) };
        let is_same = *name == path.stack || *name == path.to_string();
        if is_same {
            return Ok(());
        }
        let message =
            format!("a stack keeps the names of its project and its own, so it becomes {path}, not {name}");
        Err(Failure::new(Kind::Usage, message)
            .hint("rename it with `groundstate stacks rename`, before or after"))
    }

    /// Fails if the stack of a service has got another version since it was read.
    async fn source_is_unchanged(&self, old: &OldStack<'_>) -> Result<()> {
        if self.args.dry_run || old.version_now().await? == old.version() {
            return Ok(());
        }
        let message = format!("{} has got another version while it was copied", old.name);
        Err(Failure::new(Kind::Conflict, message).hint("run the command again, which copies what is missing"))
    }
}

/// What names a stack in keys: where it is, and its name.
fn place_of(argument: &Path, name: &str) -> String {
    format!("{}\n{name}", argument.display())
}
