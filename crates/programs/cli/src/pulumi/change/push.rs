//! `groundstate push` to a stack: an exported deployment becomes its state, as by `pulumi stack import`.

use std::error::Error as _;
use std::sync::Arc;

use groundstate_common::shell_command;
use groundstate_pulumi_diy::{Error, ErrorKind, ImportOptions, Stack};
use groundstate_pulumi_integrity::{GateError, Rule};

use super::done::{Change, Done};
use super::whole::{Plan, Replacing, Written, present, replace};
use crate::args::{Force, PushArgs};
use crate::input::location::StateLocation;
use crate::input::pulumi::PulumiState;
#[cfg(feature = "http")]
use crate::input::remote::Remote;
use crate::pulumi::admission::{Place, hinted};
use crate::report::error::{Failure, Kind, Result};
use crate::session::stack::ManagedStack;

pub(crate) fn push(args: &PushArgs, state: &PulumiState, found: StateLocation) -> Result {
    let how = Replacing { args: &args.change, command: "push", yes: args.consent.yes };
    let text = state.text()?;
    #[cfg(feature = "http")]
    if found.remote().and_then(Remote::service).is_some() {
        return super::service::push(args, &state.name, &text, found);
    }
    let options = options(&args.force);
    let place = Place::of(&found);
    let plan = async |managed: &ManagedStack, stack: &Stack| {
        managed.existing(stack).await?;
        // What is readable is encrypted behind this.
        let readable = options.clone().accepting(options.accepted.clone().and(Rule::SecretReadable));
        let importable = stack
            .importable(&text, &readable)
            .map_err(|error| explained(managed.failure(&error), &error, &state.name))?;
        let present = present(managed, stack).await?;
        let (document, secured) = place.secure_text(
            importable.document.to_vec(),
            present.file.snapshot.as_ref(),
            &state.name,
            &args.force,
        )?;
        let name = &state.name;
        let change = Change::new("push", "", format!("Stored {name}"), format!("Would store {name}"));
        let warnings = importable.warnings.into_iter().chain(secured).collect();
        let done = Done { changes: vec![change], warnings, success: "Deployment stored".to_owned() };
        Ok((Plan { text: document.to_vec(), done }, document))
    };
    replace(found, how, plan, async |managed, locked, document| {
        let imported = locked.stack.import(&document, &options, Arc::clone(&locked.guard)).await;
        let saved = imported.map_err(|error| managed.failure(&error))?.saved;
        Ok(Written { backup: saved.backup, warnings: saved.warnings })
    })
}

/// Findings that an import accepts.
pub(super) fn options(force: &Force) -> ImportOptions {
    match force.is_whole() {
        true => ImportOptions::default().force(),
        false => ImportOptions::default().accepting(force.accepted()),
    }
}

/// Adds the next commands to a failure of the gate, or to that of a state of another stack.
pub(super) fn explained(failure: Failure, error: &Error, name: &str) -> Failure {
    let refused = error.source().and_then(|source| source.downcast_ref::<GateError>());
    match refused {
        Some(refused) => hinted(failure, refused, name),
        None if failure.kind == Kind::Conflict => failure.hint("`--force` stores it nevertheless"),
        None if error.kind() == ErrorKind::Broken => {
            let check = shell_command("groundstate check", &[name]);
            failure.hint(format!("`{check}` shows all that is wrong; `--force` stores it nevertheless"))
        }
        None => failure,
    }
}
