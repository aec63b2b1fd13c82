//! Arguments of the commands on the stacks of a Pulumi backend.

mod create;
mod list;
mod migrate;
mod prune;
mod remove;
mod rename;
mod tags;
mod upgrade;

use std::path::PathBuf;

use clap::{Args, Subcommand};

pub(crate) use create::StacksCreateArgs;
pub(crate) use list::StacksListArgs;
pub(crate) use migrate::StacksMigrateArgs;
pub(crate) use prune::{CopyKind, StacksPruneArgs};
pub(crate) use remove::StacksRemoveArgs;
pub(crate) use rename::StacksRenameArgs;
pub(crate) use tags::StacksTagsArgs;
pub(crate) use upgrade::StacksUpgradeArgs;

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
    /// Lists the stacks of a backend by their full names. No stack is read, so a damaged one is no obstacle; with `--long`
    /// each is, and one that cannot be read is named with the reason.
    List(StacksListArgs),
    /// Creates a stack without a state
    ///
    /// Creates a stack as `pulumi stack init` does: without a state, under its lock. An empty bucket becomes a backend. A
    /// stack that exists already is refused, also a damaged one. The new stack is not selected.
    Create(StacksCreateArgs),
    /// Removes a stack with its history and tags
    ///
    /// Removes a stack with its history and tags, under its lock, and asks before. Its state stays as `.bak`, and so do
    /// backups and retained checkpoints; `--backups` removes them too.
    ///
    /// A stack with resources is refused, because nothing would manage them any more; so is one that is damaged, or whose
    /// last update was killed. `--force` removes these as well. If the command is killed, the same command completes the
    /// removal.
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
    /// Renames a stack, with everything that belongs to it
    ///
    /// Gives a stack another name, or another project: in its URNs, in the name of its root resource, and in the names of
    /// its history, tags, backups and other copies. The locks of both names are held. The state before stays as `.bak` under
    /// the new name.
    ///
    /// In a project directory the file `Pulumi.STACK.yaml` gets the new name too. If the command is killed, the same command goes on.
    Rename(StacksRenameArgs),
    /// Copies stacks to another backend, or moves them there
    ///
    /// Copies a stack to another backend with its history, tags, backups and other copies, byte for byte, under the locks of
    /// both. What was written is read back. The stack stays where it was, unless `--remove` removes it there after that.
    ///
    /// With `--all-stacks` every stack of the backend is copied; one that cannot be is named, and the others go on. If the
    /// command is killed, the same command goes on; a stack whose state is there already is left alone.
    ///
    /// Each of the two may be a Pulumi service. Versions, tags and the newest state go there or come from there, with their
    /// kinds, messages and times. A service that takes no versions of other histories gets the newest states and tags alone.
    /// Secrets stay as they are, except for those that a service encrypts: the service at the target encrypts them anew, and
    /// for a bucket `--secrets-provider` says what does.
    Migrate(StacksMigrateArgs),
    /// Brings stacks into projects, as Pulumi has them since 3.61
    ///
    /// Gives a backend of the layout before Pulumi 3.61 the layout with projects, and every stack that is in no project the
    /// project of its resources, with history, tags and backups. Pulumi 3.257 and newer refuse the old layout.
    ///
    /// A stack that cannot be read ends the command before anything is written, unless `--skip-unreadable` leaves it as it
    /// is. A stack that is locked stays, too. The same command again goes on.
    Upgrade(StacksUpgradeArgs),
}
