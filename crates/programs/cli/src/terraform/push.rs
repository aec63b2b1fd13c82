//! `groundstate push`: a state file in place of the stored state.

use super::replace::{Replacement, replace};
use crate::args::PushArgs;
use crate::input::source::Source;
use crate::input::terraform::load;
use crate::report::error::Result;
use crate::session::managed_state::StateArg;

pub(crate) fn run(args: &PushArgs) -> Result {
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
