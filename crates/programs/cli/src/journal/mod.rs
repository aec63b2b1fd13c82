//! `groundstate journal`: Pulumi journals.

mod compact;
mod effect;
mod input;
mod inspect;
mod outcome;
mod place;
mod replay;
mod verify;

use crate::args::JournalCommand;
use crate::report::error::Result;

/// Runs one of the commands.
pub(crate) fn run(command: &JournalCommand) -> Result {
    match command {
        JournalCommand::Replay(args) => replay::run(args),
        JournalCommand::Inspect(args) => inspect::run(args),
        JournalCommand::Compact(args) => compact::run(args),
        JournalCommand::Verify(args) => verify::run(args),
    }
}
