//! `groundstate stacks create`: a new stack without a state.

use groundstate_common::shell_command;
use groundstate_pulumi_diy::{ErrorKind, Stack, Warning};

use crate::args::StacksCreateArgs;
use crate::input::found_stack::{FoundPlace, FoundStack};
use crate::input::runtime::runtime;
use crate::report::error::{Failure, Outcome, Result};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::session::interrupt::Interrupts;
use crate::session::stack_lock::stack_locked;

pub(super) fn run(args: &StacksCreateArgs) -> Result {
    match FoundPlace::at(&args.at.place)? {
        FoundPlace::Bucket(found) => in_bucket(args, &found),
        #[cfg(feature = "http")]
        FoundPlace::Service(found) => super::service::create(args, &found),
    }
}

fn in_bucket(args: &StacksCreateArgs, found: &FoundStack) -> Result {
    let interrupts = Interrupts::listen()?;
    let (stack, warnings) = runtime()?.block_on(create(args, found, &interrupts))?;
    if !warnings.is_empty() {
        let mut messages = Messages::stderr();
        warnings.iter().for_each(|warning| messages.warning(&warning.to_string()));
        messages.note(&format!(
            "`{}` shows the copies, and `{}` restores one",
            found.command("history"),
            found.command("rollback --to ID")
        ));
    }
    print(args, &stack.backend().to_string(), &stack.reference().to_string())
}

pub(super) fn print(args: &StacksCreateArgs, backend: &str, name: &str) -> Result {
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("backend", backend);
            json.text("stack", name);
            json.text("outcome", "created");
        }))?;
    } else {
        out.line(&format!("Created the stack {name} in {backend}"))?;
    }
    out.finish()?;
    let select = shell_command("pulumi stack select", &[name]);
    Messages::stderr().note(&format!("`{select}` selects it, and `pulumi up` makes its resources"));
    Ok(Outcome::Clean)
}

async fn create(
    args: &StacksCreateArgs,
    found: &FoundStack,
    interrupts: &Interrupts,
) -> Result<(Stack, Vec<Warning>)> {
    let stack = found.open_to_create().await?;
    let saved = stack_locked(found, &stack, args.wait.lock_timeout, interrupts, async |lock| {
        interrupts.check()?;
        stack.create(lock, None).await.map_err(|error| match error.kind() {
            ErrorKind::Exists => exists(&found.command("list"), found.failure(&error)),
            _ => found.failure(&error),
        })
    })
    .await?;
    Ok((stack, saved.warnings))
}

/// The failure for a stack that exists, which the command `list` shows.
pub(super) fn exists(list: &str, failure: Failure) -> Failure {
    failure.hint(format!("`{list}` shows what it has"))
}
