//! The commands, one file each.

mod check;
mod completions;
mod diff;
mod list;
mod man;
mod outputs;
mod show;
mod upgrade;
mod version;

use crate::args::Command;
use crate::error::Result;

/// Runs a command.
pub(crate) fn run(command: Command) -> Result {
    match command {
        Command::List(args) => list::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Outputs(args) => outputs::run(&args),
        Command::Upgrade(args) => upgrade::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Version(args) => version::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man => man::run(),
    }
}
