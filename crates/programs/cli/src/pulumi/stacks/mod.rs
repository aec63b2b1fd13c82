//! `groundstate stacks`: the stacks of a backend of Pulumi.

mod list;

use groundstate_pulumi_diy::{Error, ErrorKind};

use crate::args::StacksCommand;
use crate::report::error::{Failure, Kind, Result, chain};

pub(crate) fn run(command: &StacksCommand) -> Result {
    match command {
        StacksCommand::List(args) => list::run(args),
    }
}

/// What a backend says, as a failure of the command.
fn failure(error: &Error) -> Failure {
    let kind = match error.kind() {
        ErrorKind::Invalid | ErrorKind::Legacy => Kind::Usage,
        ErrorKind::Corrupt | ErrorKind::Unsupported => Kind::Unusable,
        _ => Kind::NoState,
    };
    Failure::new(kind, chain(error))
}
