//! `groundstate stacks`: the stacks of a Pulumi backend.

mod create;
mod list;
mod migrate;
mod prune;
mod remove;
mod rename;
#[cfg(feature = "http")]
mod service;
mod tags;
#[cfg(feature = "http")]
mod transfer;
mod upgrade;

use crate::args::StacksCommand;
use crate::report::error::Result;

pub(crate) fn run(command: &StacksCommand) -> Result {
    match command {
        StacksCommand::List(args) => list::run(args),
        StacksCommand::Create(args) => create::run(args),
        StacksCommand::Remove(args) => remove::run(args),
        StacksCommand::Tags(args) => tags::run(args),
        StacksCommand::Prune(args) => prune::run(args),
        StacksCommand::Rename(args) => rename::run(args),
        StacksCommand::Migrate(args) => migrate::run(args),
        StacksCommand::Upgrade(args) => upgrade::run(args),
    }
}
