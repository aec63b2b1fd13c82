//! The commands, one file each.

mod change;
pub(crate) mod check;
mod completions;
pub(crate) mod diff;
mod list;
mod lock;
mod locks;
mod man;
mod merge_errored;
mod order;
mod outputs;
mod pull;
mod push;
mod replace;
mod salvage;
mod show;
mod undo;
mod unlock;
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
        Command::Order(args) => order::run(&args),
        Command::Mv(args) => change::mv(&args),
        Command::Rm(args) => change::rm(&args),
        Command::ReplaceProvider(args) => change::replace_provider(&args),
        Command::Taint(args) => change::taint(&args),
        Command::Untaint(args) => change::untaint(&args),
        Command::Edit(args) => change::edit(&args),
        Command::Undo(args) => undo::run(&args),
        Command::Pull(args) => pull::run(&args),
        Command::Push(args) => push::run(&args),
        Command::Salvage(args) => salvage::run(&args),
        Command::MergeErrored(args) => merge_errored::run(&args),
        Command::Lock(args) => lock::run(&args),
        Command::Unlock(args) => unlock::run(&args),
        Command::Locks(args) => locks::run(&args),
        Command::Version(args) => version::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man => man::run(),
    }
}
