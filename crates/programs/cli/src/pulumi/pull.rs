//! `groundstate pull` of a stack: its deployment, as `pulumi stack export` prints it.

use crate::args::PullArgs;
use crate::input::location::StateLocation;
use crate::report::error::{Outcome, Result};
use crate::session::save::write_document;
use crate::session::stack::ManagedStack;

pub(crate) fn pull(args: &PullArgs, found: StateLocation) -> Result {
    let managed = ManagedStack::open(found, "pull", false)?;
    let text = managed.unlocked(async |stack| {
        managed.existing(stack).await?;
        managed.warn_of_journal(stack).await;
        stack.export().await.map_err(|error| managed.failure(&error))
    })?;
    write_document(&text, args.output.as_deref())?;
    Ok(Outcome::Clean)
}
