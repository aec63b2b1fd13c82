//! `groundstate stacks upgrade`: the stacks of a bucket without projects into the layout with them.

use std::ops::ControlFlow;
use std::sync::Arc;

use groundstate_pulumi_diy::{
    Backend, LegacyStack, LockOptions, StackRef, Upgrade, UpgradeOptions, UpgradedStack,
};
use groundstate_pulumi_snapshot::ProjectName;

use crate::args::StacksUpgradeArgs;
use crate::input::found_stack::stack_failure;
use crate::input::remote::warn_once;
use crate::input::runtime::runtime;
use crate::input::stack::{self, FoundBackend};
use crate::input::stack_store::this_process;
use crate::report::error::{Failure, Kind, Outcome, Result, chain};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::session::consent::{Loss, confirm};
use crate::session::interrupt::Interrupts;
use crate::session::who::who;

/// A stack in the report.
struct Line {
    stack: StackRef,
    to: Option<StackRef>,
    outcome: &'static str,
    /// Why it stays as it is.
    reason: Option<String>,
}

const NO_PROJECT: &str = "it has no resources, so its project is not known";

pub(super) fn run(args: &StacksUpgradeArgs) -> Result {
    let instead = "stacks of a service are always in projects, so there is nothing to upgrade";
    let found = stack::bucket(&args.backend, "stacks upgrade", instead)?;
    let interrupts = Interrupts::listen()?;
    let lines = runtime()?.block_on(upgrade(args, &found, &interrupts))?;
    print(args, &found, &lines)?;
    interrupts.check()?;
    let stays = lines.iter().any(|line| line.reason.is_some());
    Ok(if stays { Outcome::Found(Kind::Findings) } else { Outcome::Clean })
}

async fn upgrade(
    args: &StacksUpgradeArgs,
    found: &FoundBackend,
    interrupts: &Interrupts,
) -> Result<Vec<Line>> {
    warn_once(&found.opened.notes);
    let failed = |error: groundstate_pulumi_diy::Error| stack_failure(&error);
    let (store, options) = (Arc::clone(&found.opened.store), found.options.clone().allow_legacy());
    let backend = Backend::open_existing(store, stack::context(), options).await.map_err(failed)?;
    let options = self::options(args)?;
    let plan = backend.upgrade(&options).await.map_err(|error| {
        stack_failure(&error).hint("`--skip-unreadable` upgrades the others, and leaves this one as it is")
    })?;
    if let Some(unknown) = options.projects.keys().find(|name| !has(&plan, name)) {
        let message = format!("`--project {unknown}=…` names no stack that is in no project");
        return Err(Failure::new(Kind::NotFound, message).hint("`--dry-run` lists them"));
    }
    if args.dry_run || plan.stacks().is_empty() {
        let mut lines = Vec::new();
        for stack in plan.stacks() {
            lines.push(planned(&plan, stack).await);
        }
        return Ok(lines);
    }
    if !args.yes {
        let message = format!(
            "{} would get the layout with projects, which Pulumi before 3.61 cannot read",
            found.name
        );
        let loss = Loss {
            message: &message,
            lines: plan.stacks().iter().map(|stack| format!("- {}", stack.reference)).collect(),
            question: "Upgrade it?",
            hint: "`--dry-run` shows what would be upgraded; `--yes` upgrades it",
        };
        confirm(loss, interrupts).await?;
    }
    interrupts.check()?;
    let locks = LockOptions::default().timeout(args.wait.lock_timeout);
    let before = |_: &StackRef| match interrupts.check() {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    };
    let upgraded = plan.carry_out(&this_process(&who()), &locks, before).await.map_err(failed)?;
    Ok(upgraded.stacks.into_iter().map(|(stack, outcome)| done(stack, outcome)).collect())
}

fn options(args: &StacksUpgradeArgs) -> Result<UpgradeOptions> {
    let mut options = UpgradeOptions::default();
    options.skip_unreadable = args.skip_unreadable;
    for text in &args.projects {
        let (stack, project) = text.split_once('=').ok_or_else(|| {
            let message = format!("`--project {text}` does not say which stack");
            Failure::new(Kind::Usage, message).hint("write it as `--project STACK=PROJECT`")
        })?;
        let project = ProjectName::parse(project);
        let project = project.map_err(|error| Failure::new(Kind::Usage, error.to_string()))?;
        options = options.project(stack, project);
    }
    Ok(options)
}

fn has(plan: &Upgrade, name: &str) -> bool {
    plan.stacks().iter().any(|stack| stack.reference.stack().as_str() == name)
}

/// Plans the upgrade of a stack: a stack that the upgrade would leave stays in the preview too.
async fn planned(plan: &Upgrade, stack: &LegacyStack) -> Line {
    let name = stack.reference.clone();
    match &stack.project {
        Ok(Some(_)) => match plan.planned(stack).await {
            Ok(to) => Line { stack: name, to, outcome: "planned", reason: None },
            Err(error) => Line { stack: name, to: None, outcome: "failed", reason: Some(chain(&error)) },
        },
        Ok(None) => {
            Line { stack: name, to: None, outcome: "no-project", reason: Some(NO_PROJECT.to_owned()) }
        }
        Err(error) => Line { stack: name, to: None, outcome: "failed", reason: Some(chain(error)) },
    }
}

fn done(stack: StackRef, outcome: UpgradedStack) -> Line {
    match outcome {
        UpgradedStack::Moved(to, relocated) => {
            let mut messages = Messages::stderr();
            relocated.warnings.iter().for_each(|warning| messages.warning(&format!("{to}: {warning}")));
            Line { stack, to: Some(to), outcome: "upgraded", reason: None }
        }
        UpgradedStack::NoProject => {
            Line { stack, to: None, outcome: "no-project", reason: Some(NO_PROJECT.to_owned()) }
        }
        UpgradedStack::Failed(error) => {
            Line { stack, to: None, outcome: "failed", reason: Some(chain(&error)) }
        }
        _ => {
            let reason = Some("the command was ended before".to_owned());
            Line { stack, to: None, outcome: "not-reached", reason }
        }
    }
}

fn print(args: &StacksUpgradeArgs, found: &FoundBackend, lines: &[Line]) -> Result<()> {
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("backend", &found.name);
            json.raw("dry_run", args.dry_run);
            json.objects("stacks", lines, |json, line| {
                json.text("stack", &line.stack.to_string());
                json.text("outcome", line.outcome);
                if let Some(to) = &line.to {
                    json.text("to", &to.to_string());
                }
                if let Some(reason) = &line.reason {
                    json.text("reason", reason);
                }
            });
        }))?;
        return Ok(out.finish()?);
    }
    for line in lines {
        match &line.to {
            Some(to) if args.dry_run => out.line(&format!("{}  would be {to}", line.stack))?,
            Some(to) => out.line(&format!("{}  is {to} now", line.stack))?,
            None => out.line(&format!("{}  stays", line.stack))?,
        }
    }
    out.finish()?;
    let mut messages = Messages::stderr();
    for line in lines {
        if let Some(reason) = &line.reason {
            messages.warning(&format!("{}: {reason}", line.stack));
        }
    }
    if lines.iter().any(|line| line.outcome == "no-project") {
        messages.note("`--project STACK=PROJECT` puts a stack without resources into a project");
    }
    if lines.is_empty() {
        messages.note(&format!("all stacks in {} are in projects", found.name));
    }
    Ok(())
}
