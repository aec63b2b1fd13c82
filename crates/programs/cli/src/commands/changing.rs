//! The commands that change one state: each goes to the family of the state.

use std::path::{Path, PathBuf};

use groundstate_pulumi_integrity::Flag;

use crate::args::{
    AddressesArgs, ChangeSecretsProviderArgs, EditArgs, FlagArgs, Force, HistoryArgs, MergeErroredArgs,
    MvArgs, PendingCommand, PushArgs, RecoverArgs, RepairArgs, ReplaceProviderArgs, RmArgs, RollbackArgs,
    SplitArgs, StackMoveArgs, UndoArgs,
};
use crate::input::family::Family;
use crate::input::location::StateLocation;
use crate::input::remote::Remote;
use crate::input::state::{State, StoredState, family_of, not_theirs, stored_by_pulumi};
use crate::input::terraform::{TerraformState, load};
use crate::report::error::{Failure, Kind, Result};
use crate::session::back::{Backup, goes_by_backups};
use crate::session::backup::keeps_history;
use crate::{pulumi, terraform};

pub(super) fn mv(args: &MvArgs) -> Result {
    for (what, text) in [("SRC", Some(&args.from)), ("DST", args.to.as_ref())] {
        if text.is_some_and(|text| text.trim().is_empty()) {
            let message = format!("{what} is empty, and names no resource");
            return Err(Failure::new(Kind::Usage, message)
                .hint("nothing was changed; is a variable of the shell unset?"));
        }
    }
    let found = StoredState::existing(&args.place.state)?;
    let Some(other) = &args.other else {
        refuse(&args.stack, "this is one within a state")?;
        return match found {
            StoredState::Terraform(found) => terraform::change::mv(args, found),
            StoredState::Pulumi(found) => pulumi::mv(args, found),
        };
    };
    match found {
        StoredState::Terraform(found) => {
            refuse(&args.stack, OF_TERRAFORM)?;
            terraform::change::mv_to(args, found, StoredState::at(other)?.terraform("mv --to", ONE_FAMILY)?)
        }
        StoredState::Pulumi(found) => pulumi::mv_to(args, found, stack_beside(other)?),
    }
}

pub(super) fn split(args: &SplitArgs) -> Result {
    match StoredState::existing(&args.place.state)? {
        StoredState::Terraform(found) => {
            refuse(&args.stack, OF_TERRAFORM)?;
            let other = StoredState::at(&args.other)?.terraform("split", ONE_FAMILY)?;
            terraform::change::split(args, found, other)
        }
        StoredState::Pulumi(found) => pulumi::split(args, found, stack_beside(&args.other)?),
    }
}

const OF_TERRAFORM: &str = "these are Terraform states";

const ONE_FAMILY: &str = "resources move between states of one family: name another state of the same kind";

fn refuse(stack: &StackMoveArgs, why: &str) -> Result<()> {
    let Some(option) = stack.given() else { return Ok(()) };
    let message = format!("`{option}` is for moves to another Pulumi stack, and {why}");
    Err(Failure::new(Kind::Usage, message))
}

/// The stack that Pulumi resources move to, which has to be there: only its project makes it.
fn stack_beside(other: &Path) -> Result<StateLocation> {
    match StoredState::existing(other)? {
        StoredState::Pulumi(found) => Ok(found),
        StoredState::Terraform(found) => {
            let message = format!("{} is not Pulumi's, and what moves is", found.name());
            Err(Failure::new(Kind::Usage, message).hint(ONE_FAMILY))
        }
    }
}

pub(super) fn rm(args: &RmArgs) -> Result {
    match StoredState::existing(&args.addresses.place.state)? {
        StoredState::Terraform(found) => terraform::change::rm(args, found),
        StoredState::Pulumi(found) => pulumi::rm(args, found),
    }
}

pub(super) fn taint(args: &FlagArgs) -> Result {
    match StoredState::existing(&args.addresses.place.state)? {
        StoredState::Terraform(found) => terraform::change::taint(one_family(args)?, found),
        StoredState::Pulumi(found) => pulumi::flag(args, found, Flag::Taint(true)),
    }
}

pub(super) fn untaint(args: &FlagArgs) -> Result {
    match StoredState::existing(&args.addresses.place.state)? {
        StoredState::Terraform(found) => terraform::change::untaint(one_family(args)?, found),
        StoredState::Pulumi(found) => pulumi::flag(args, found, Flag::Taint(false)),
    }
}

/// The addresses of instances of Terraform, whose addresses mean one object each.
fn one_family(args: &FlagArgs) -> Result<&AddressesArgs> {
    match args.pick.given() {
        Some(option) => Err(Failure::new(Kind::Usage, format!("`{option}` is for Pulumi states"))),
        None => Ok(&args.addresses),
    }
}

pub(super) fn replace_provider(args: &ReplaceProviderArgs) -> Result {
    let found = StoredState::existing(&args.place.state)?;
    let found = found.terraform("replace-provider", "change the program, and run it")?;
    terraform::change::replace_provider(args, found)
}

pub(super) fn edit(args: &EditArgs) -> Result {
    let found = StoredState::existing(&args.place.state)?;
    let found = found.terraform("edit", "use `mv`, `rm`, `taint`, `protect`")?;
    terraform::change::edit(args, found)
}

pub(super) fn protect(args: &FlagArgs, command: &str, protect: bool) -> Result {
    pulumi::flag(args, stored_by_pulumi(&args.addresses.place.state, command)?, Flag::Protect(protect))
}

pub(super) fn repair(args: &RepairArgs) -> Result {
    match State::find(&args.place.state)? {
        State::Terraform(state) => terraform::repair::run(args, &state),
        State::Pulumi(state) => pulumi::repair(args, &state),
    }
}

pub(super) fn pending(command: &PendingCommand) -> Result {
    match command {
        PendingCommand::List(args) => {
            pulumi::list_pending(args, &State::find(&args.state.state)?.pulumi("pending")?)
        }
        PendingCommand::Clear(args) => {
            pulumi::clear(args, stored_by_pulumi(&args.place.state, "pending clear")?)
        }
        PendingCommand::Resolve(args) => {
            pulumi::resolve(args, stored_by_pulumi(&args.place.state, "pending resolve")?)
        }
    }
}

pub(super) fn change_secrets_provider(args: &ChangeSecretsProviderArgs) -> Result {
    pulumi::change_secrets_provider(args, stored_by_pulumi(&args.place.state, "change-secrets-provider")?)
}

pub(super) fn rollback(args: &RollbackArgs) -> Result {
    let found = StateLocation::at(&args.place.state)?;
    match is_stack(&found) {
        true => pulumi::rollback(args, found),
        false => {
            refuse_codes(&args.force)?;
            terraform::rollback::run(args, found)
        }
    }
}

pub(super) fn recover(args: &RecoverArgs) -> Result {
    let found = StateLocation::at(&args.state)?;
    match is_stack(&found) {
        true => pulumi::recover(args, found),
        false => terraform::recover::run(args, found),
    }
}

fn is_stack(found: &StateLocation) -> bool {
    found.remote().is_some_and(Remote::is_stack)
}

pub(super) fn undo(args: &UndoArgs) -> Result {
    let found = StateLocation::at(&args.place.state)?;
    if args.list {
        return match keeps_history(&found) {
            true => super::reading::history(&HistoryArgs {
                state: args.place.state.clone(),
                page: None,
                page_size: None,
                json: args.change.json,
            }),
            false => super::backups::list(&found, args.change.json),
        };
    }
    if is_stack(&found) && args.from.is_none() && !goes_by_backups(&found, args.to.as_deref())? {
        return match &args.to {
            Some(to) => {
                let message = format!("{} has no backup {to} on this machine", found.name());
                Err(Failure::new(Kind::NotFound, message)
                    .hint("`groundstate rollback --to ID` restores what the backend keeps"))
            }
            None => pulumi::undo_stack(args, found),
        };
    }
    match is_to_undo_by_pulumi(args, &found) {
        true => pulumi::undo(args, found),
        false => {
            refuse_codes(&args.force)?;
            terraform::undo::run(args, found)
        }
    }
}

/// Whether the state is one of Pulumi to go back from: its own, or damage that its backup tells whose it was.
fn is_to_undo_by_pulumi(args: &UndoArgs, found: &StateLocation) -> bool {
    let is_pulumi = |family| family == Some(Family::Pulumi);
    let family = family_of(found);
    if family.is_some() || !args.force.is_whole() {
        return is_pulumi(family);
    }
    let is_of_no_family = || match State::of_located(found.located()) {
        Ok(state) => state.source().family.is_none(),
        Err(_) => found.exists() && found.remote().is_none(),
    };
    let backup = || Backup::find(found, args.from.as_deref(), args.to.as_deref()).ok();
    let family_at = |path: PathBuf| StateLocation::file(path).ok().and_then(|copy| family_of(&copy));
    is_of_no_family() && is_pulumi(backup().and_then(|backup| family_at(backup.path)))
}

pub(super) fn push(args: &PushArgs) -> Result {
    const HINT: &str = "use `pulumi stack import`, or `groundstate undo --from`";
    let state = State::beside(&args.file)?;
    let found = StoredState::at(&args.place.state)?;
    let message = match (state, found) {
        (State::Terraform(state), StoredState::Terraform(found)) => {
            refuse_codes(&args.force)?;
            return terraform::push::run(args, &state, found);
        }
        (_, StoredState::Pulumi(found)) if !is_stack(&found) => {
            return Err(not_theirs(found.name(), "push", HINT));
        }
        (State::Pulumi(state), StoredState::Pulumi(found)) => {
            return pulumi::push(args, &state, found);
        }
        (State::Pulumi(state), StoredState::Terraform(found)) => {
            let (name, place) = (&state.name, found.name());
            format!("{name} is a Pulumi deployment, but {place} holds Terraform states")
        }
        (State::Terraform(state), StoredState::Pulumi(found)) => {
            // An empty or unknown file gets an error of its own.
            load(&state)?;
            format!("{} is a state of Terraform, and {} is a Pulumi stack", state.name, found.name())
        }
    };
    Err(Failure::new(Kind::Usage, message).hint("nothing was written; name a file and a place of one family"))
}

pub(super) fn merge_errored(args: &MergeErroredArgs) -> Result {
    const HINT: &str = "`pulumi refresh` finds what was not stored";
    let found = StoredState::existing(&args.place.state)?;
    let errored = terraform_beside(State::beside(&args.errored)?, "merge-errored", HINT)?;
    terraform::merge_errored::run(args, &errored, found.terraform("merge-errored", HINT)?)
}

/// The state, where only Terraform's has what `command` needs.
fn terraform_beside(state: State, command: &str, hint: &str) -> Result<TerraformState> {
    match state {
        State::Terraform(state) => Ok(state),
        State::Pulumi(state) => Err(not_theirs(&state.name, command, hint)),
    }
}

/// Refuses the codes of `--force`, which only name findings of Pulumi states.
fn refuse_codes(force: &Force) -> Result<()> {
    if force.has_codes() {
        let message = "`--force` takes codes for Pulumi stacks only";
        return Err(Failure::new(Kind::Usage, message).hint("leave them out: `--force` skips all checks"));
    }
    Ok(())
}
