//! The commands that read one state: each goes to the family of the state.

use groundstate_backends::Purpose;

use crate::args::{HistoryArgs, ListArgs, OutputsArgs, PullArgs, ShowArgs, UpgradeArgs};
use crate::input::locate::{is_standard, locate};
use crate::input::location::StateLocation;
use crate::input::remote::Located;
use crate::input::state::{State, StoredState};
use crate::report::error::{Failure, Kind, Result};
use crate::{pulumi, terraform};

pub(super) fn list(args: &ListArgs) -> Result {
    match State::find(&args.state.state)? {
        State::Terraform(state) => terraform::list::list(args, &state),
        State::Pulumi(_) if args.deposed => {
            let message = "`--deposed` is for Terraform states";
            Err(Failure::new(Kind::Usage, message).hint("`list` shows the old copies of replacements too"))
        }
        State::Pulumi(state) => pulumi::list(args, &state),
    }
}

pub(super) fn show(args: &ShowArgs) -> Result {
    match State::at(&args.state.state, args.at.as_deref())? {
        State::Terraform(state) => terraform::show::show(args, &state),
        State::Pulumi(state) => pulumi::show(args, &state),
    }
}

pub(super) fn outputs(args: &OutputsArgs) -> Result {
    let argument = &args.state.state;
    let state = match is_standard(argument) {
        true => State::find(argument)?,
        false => {
            let located = locate(argument, true, Purpose::Read)?;
            if let Some(outcome) = terraform::outputs::one_from_afar(args, &located)? {
                return Ok(outcome);
            }
            State::of_located(&located)?
        }
    };
    match state {
        State::Terraform(state) => terraform::outputs::outputs(args, &state),
        State::Pulumi(state) => pulumi::outputs(args, &state),
    }
}

pub(super) fn upgrade(args: &UpgradeArgs) -> Result {
    match State::find(&args.state.state)? {
        State::Terraform(state) => terraform::upgrade::upgrade(args, &state),
        State::Pulumi(state) => pulumi::upgrade(args, &state),
    }
}

pub(super) fn pull(args: &PullArgs) -> Result {
    match StoredState::to_read(&args.state)? {
        StoredState::Pulumi(found) if found.remote().is_some() => pulumi::pull(args, found),
        found => {
            let hint = "use `groundstate upgrade`, or `pulumi stack export`";
            terraform::pull::run(args, found.terraform("pull", hint)?)
        }
    }
}

pub(super) fn history(args: &HistoryArgs) -> Result {
    match locate(&args.state, false, Purpose::Read)? {
        Located::Remote(remote) if remote.is_stack() => {
            pulumi::history(args, StateLocation::of_remote(*remote, &args.state))
        }
        located => terraform::history::run(args, &located),
    }
}
