//! Arguments of the commands on the stacks of a Pulumi backend.

mod create;
mod list;
mod prune;
mod remove;
mod tags;

use std::path::PathBuf;

use clap::{Args, Subcommand};

pub(crate) use create::StacksCreateArgs;
pub(crate) use list::StacksListArgs;
pub(crate) use prune::{CopyKind, StacksPruneArgs};
pub(crate) use remove::StacksRemoveArgs;
pub(crate) use tags::StacksTagsArgs;

#[derive(Debug, Args)]
pub(crate) struct StacksArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: StacksCommand,
}

/// The stack that a command is about.
#[derive(Clone, Debug, Args)]
pub(crate) struct StackArg {
    /// A directory with a Pulumi.yaml, or `pulumi+URL#organization/PROJECT/STACK` with the URL of `pulumi login`
    #[arg(value_name = "STACK")]
    pub(crate) place: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StacksCommand {
    /// Lists the stacks of a backend
    ///
    /// Lists the stacks of a backend by their full names. No stack is read, so a damaged one is no obstacle; with `--long` each is, and
    /// one that cannot be read is named with the reason.
    List(StacksListArgs),
    /// Creates a stack without a state
    ///
    /// Creates a stack as `pulumi stack init` does: without a state, under its lock. An empty bucket becomes a backend. A stack that exists
    /// already is refused, also a damaged one. The new stack is not selected.
    Create(StacksCreateArgs),
    /// Removes a stack with its history and tags
    ///
    /// Removes a stack with its history and tags, under its lock, and asks before. Its state stays as `.bak`, and so do backups and retained
    /// checkpoints; `--backups` removes them too.
    ///
    /// A stack with resources is refused, because nothing manages them any more then; so is one that is damaged, or whose last update was
    /// killed. `--force` removes these as well. If the command is killed, the same command ends the removal.
    Remove(StacksRemoveArgs),
    /// Shows, sets and removes the tags of a stack
    ///
    /// Prints the tags of a stack, or sets and removes some under its lock. Other tags stay.
    ///
    /// A name has up to 40 letters, digits, `-`, `_`, `.` and `:`, a value up to 256 characters.
    Tags(StacksTagsArgs),
    /// Removes old updates, backups and retained checkpoints
    ///
    /// Removes old entries of the history with their states, backups and retained checkpoints, under the lock of each stack, and asks
    /// before. Nothing else removes them. The checkpoint itself, its `.bak` and the newest of each kind always stay.
    ///
    /// With both `--keep` and `--older-than` only what both call old is removed.
    Prune(StacksPruneArgs),
}
