//! `groundstate push`: a state file in place of the stored state.

use super::replace::{Replacement, replace};
use crate::args::PushArgs;
use crate::error::Result;
use crate::load::load;
use crate::managed_state::StateArg;
use crate::source::Source;

pub(super) fn run(args: &PushArgs) -> Result {
    let source = Source::beside(&args.file)?;
    let file = load(&source)?.file;
    let how = Replacement {
        args: &args.change,
        operation: "state-push",
        source: &args.file,
        backup_suffix: ".backup",
        force: args.force,
        over_encrypted: args.over_encrypted,
        checked: true,
    };
    replace(StateArg::at(&args.place.state)?, &how, |_| Ok(file))
}
