//! `groundstate push`: a state file in place of the stored state.

use super::replace::{Replacement, replace};
use crate::args::PushArgs;
use crate::input::location::StateLocation;
use crate::input::terraform::{TerraformState, load};
use crate::report::error::Result;

/// Stores `state` in place of what is stored.
pub(crate) fn run(args: &PushArgs, state: &TerraformState, found: StateLocation) -> Result {
    let file = load(state)?.file;
    let how = Replacement {
        args: &args.change,
        yes: args.consent.yes,
        operation: "state-push",
        source: &args.file,
        restored: None,
        force: args.force.is_whole(),
        over_encrypted: args.over_encrypted,
        checked: true,
        expected: None,
    };
    replace(found, &how, |_| Ok(file))
}
