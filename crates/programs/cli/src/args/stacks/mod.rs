//! Arguments of the commands on the stacks of a Pulumi backend.

mod list;

use clap::{Args, Subcommand};

pub(crate) use list::StacksListArgs;

#[derive(Debug, Args)]
pub(crate) struct StacksArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: StacksCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StacksCommand {
    /// Lists the stacks of a backend
    ///
    /// Lists the stacks of a backend by their full names. No stack is read, so a damaged one is no obstacle; with `--long` each is, and
    /// one that cannot be read is named with the reason.
    List(StacksListArgs),
}
