//! `groundstate push` to a stack: an exported deployment becomes its state, as by `pulumi stack import`.

use std::sync::Arc;

use groundstate_common::shell_command;
use groundstate_pulumi_diy::{ErrorKind, ImportOptions, Stack};

use super::done::{Change, Done};
use super::whole::{Plan, Replacing, Written, replace};
use crate::args::PushArgs;
use crate::input::location::StateLocation;
use crate::input::pulumi::PulumiState;
#[cfg(feature = "http")]
use crate::input::remote::Remote;
use crate::report::error::{Kind, Result};
use crate::session::stack::ManagedStack;

pub(crate) fn push(args: &PushArgs, state: &PulumiState, found: StateLocation) -> Result {
    let how = Replacing { args: &args.change, command: "push", yes: args.consent.yes };
    let text = state.text()?;
    #[cfg(feature = "http")]
    if found.remote().and_then(Remote::service).is_some() {
        return super::service::push(args, &state.name, &text, found);
    }
    let options = if args.force { ImportOptions::default().force() } else { ImportOptions::default() };
    let plan = async |managed: &ManagedStack, stack: &Stack| {
        managed.existing(stack).await?;
        let importable = stack.importable(&text, options).map_err(|error| {
            let failure = managed.failure(&error);
            let check = shell_command("groundstate check", &[&state.name]);
            match (failure.kind, error.kind()) {
                (Kind::Conflict, _) => failure.hint("`--force` stores it nevertheless"),
                (_, ErrorKind::Broken) => failure
                    .hint(format!("`{check}` shows all that is wrong; `--force` stores it nevertheless")),
                _ => failure,
            }
        })?;
        let name = &state.name;
        let change = Change::new("push", "", format!("Stored {name}"), format!("Would store {name}"));
        let done = Done {
            changes: vec![change],
            warnings: importable.warnings,
            success: "Deployment stored".to_owned(),
        };
        Ok((Plan { text: importable.document.to_vec(), done }, ()))
    };
    replace(found, how, plan, async |managed, locked, ()| {
        let imported = locked.stack.import(&text, options, Arc::clone(&locked.guard)).await;
        let saved = imported.map_err(|error| managed.failure(&error))?.saved;
        Ok(Written { backup: saved.backup, warnings: saved.warnings })
    })
}
