//! Arguments of the commands that deal with places: their workspaces, moving between them, their history.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use groundstate_statemgr::WorkspaceName;

use super::change::{ChangeArgs, LockArgs, PlaceArg, duration};
use crate::place::workspace_name;

#[derive(Debug, Args)]
pub(crate) struct WorkspacesArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: WorkspacesCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkspacesCommand {
    /// Lists the workspaces of a place, the selected one with a star
    List(WorkspacesListArgs),
    /// Makes a workspace
    ///
    /// Makes a workspace that has no resources yet. It is not selected.
    New(WorkspacesNewArgs),
    /// Deletes a workspace with its state, under its lock
    ///
    /// Deletes a workspace with its state. The lock is held until it is gone.
    Delete(WorkspacesDeleteArgs),
}

/// The place whose workspaces they are.
#[derive(Clone, Debug, Args)]
pub(crate) struct BackendArg {
    /// A directory, or a URL such as `s3://bucket/key`
    #[arg(value_name = "PLACE")]
    pub(crate) place: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct WorkspacesListArgs {
    #[command(flatten)]
    pub(crate) at: BackendArg,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorkspacesNewArgs {
    #[command(flatten)]
    pub(crate) at: BackendArg,
    /// The name
    #[arg(value_name = "NAME", value_parser = workspace_name)]
    pub(crate) name: WorkspaceName,
}

#[derive(Debug, Args)]
pub(crate) struct WorkspacesDeleteArgs {
    #[command(flatten)]
    pub(crate) at: BackendArg,
    /// The workspace
    #[arg(value_name = "NAME", value_parser = workspace_name)]
    pub(crate) name: WorkspaceName,
    /// Deletes it although it has resources, which nobody manages any more then
    #[arg(long)]
    pub(crate) force: bool,
    /// Waits so long for a lock that somebody else holds, such as `30s` or `5m`
    #[arg(long, value_name = "DURATION", default_value = "0s", hide_default_value = true, value_parser = duration)]
    pub(crate) lock_timeout: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    /// Where the states are: a file, a directory, or a URL
    #[arg(value_name = "FROM")]
    pub(crate) from: PathBuf,
    /// Where they are to go: a file, a directory, or a URL
    #[arg(value_name = "TO")]
    pub(crate) to: PathBuf,
    /// Takes all workspaces, instead of the selected one only
    #[arg(long)]
    pub(crate) all_workspaces: bool,
    /// Overwrites states of another lineage, newer ones, and ones that cannot be read
    #[arg(long)]
    pub(crate) force: bool,
    /// Says what would be copied, and writes nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Keeps the receipt here
    #[arg(long, value_name = "FILE", default_value = "groundstate-migration.json")]
    pub(crate) receipt: PathBuf,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
    /// Prints the receipt, too
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// A directory, or a URL such as `s3://bucket/key`
    #[arg(value_name = "STATE")]
    pub(crate) state: PathBuf,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RollbackArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArg,
    /// The snapshot to go back to: its id in `history`, or so much of the beginning that it is the only one
    #[arg(long, value_name = "ID")]
    pub(crate) to: String,
    /// Goes back also to a snapshot of another lineage, or where the state cannot be read
    #[arg(long)]
    pub(crate) force: bool,
    /// With `--force`: plain text may take the place of a state that is encrypted
    #[arg(long, requires = "force")]
    pub(crate) over_encrypted: bool,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct MigrateLockArgs {
    #[command(flatten)]
    pub(crate) at: BackendArg,
    /// Takes all workspaces, instead of the selected one only
    #[arg(long)]
    pub(crate) all_workspaces: bool,
    /// Says what would be done, and changes nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Waits so long for a lock that somebody else holds, such as `30s` or `5m`
    #[arg(long, value_name = "DURATION", default_value = "0s", hide_default_value = true, value_parser = duration)]
    pub(crate) lock_timeout: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct RepairDigestArgs {
    #[command(flatten)]
    pub(crate) at: BackendArg,
    /// Waits so long for a lock that somebody else holds, such as `30s` or `5m`
    #[arg(long, value_name = "DURATION", default_value = "0s", hide_default_value = true, value_parser = duration)]
    pub(crate) lock_timeout: Duration,
}
