//! `groundstate stacks create`: a new stack without a state.

use groundstate_common::shell_command;
use groundstate_pulumi_diy::{ErrorKind, Stack};

use crate::args::StacksCreateArgs;
use crate::input::found_stack::FoundStack;
use crate::input::runtime::runtime;
use crate::report::error::{Failure, Outcome, Result};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::session::interrupt::Interrupts;
use crate::session::stack_lock::stack_locked;

pub(super) fn run(args: &StacksCreateArgs) -> Result {
    let found = FoundStack::at(&args.at.place)?;
    let interrupts = Interrupts::listen()?;
    let stack = runtime()?.block_on(create(args, &found, &interrupts))?;
    let name = stack.reference().to_string();
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("backend", &stack.backend().to_string());
            json.text("stack", &name);
            json.text("outcome", "created");
        }))?;
    } else {
        out.line(&format!("Created the stack {name} in {}", stack.backend()))?;
    }
    out.finish()?;
    let select = shell_command("pulumi stack select", &[&name]);
    Messages::stderr().note(&format!("`{select}` selects it, and `pulumi up` makes its resources"));
    Ok(Outcome::Clean)
}

async fn create(args: &StacksCreateArgs, found: &FoundStack, interrupts: &Interrupts) -> Result<Stack> {
    let stack = found.open_to_create().await?;
    stack_locked(found, &stack, args.wait.lock_timeout, interrupts, async |lock| {
        interrupts.check()?;
        stack.create(lock, None).await.map_err(|error| match error.kind() {
            ErrorKind::Exists => exists(found, found.failure(&error)),
            _ => found.failure(&error),
        })
    })
    .await?;
    Ok(stack)
}

fn exists(found: &FoundStack, failure: Failure) -> Failure {
    failure.hint(format!("`{}` shows what it has", found.command("list")))
}
