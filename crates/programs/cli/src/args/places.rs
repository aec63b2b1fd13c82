//! Arguments of the commands that deal with places: their workspaces, moving between them, their history.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use groundstate_statemgr::WorkspaceName;

use super::change::{ChangeArgs, ConsentArgs, LockArgs, PlaceArg, WaitArgs};
use super::force::{self, Force};

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
    /// Creates a workspace
    ///
    /// Creates a workspace without resources. It is not selected.
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
    /// A directory, or a URL such as `s3://bucket/key`
    #[arg(value_name = "PLACE", default_value = ".")]
    pub(crate) place: PathBuf,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorkspacesNewArgs {
    #[command(flatten)]
    pub(crate) at: BackendArg,
    /// The name of the new workspace
    #[arg(value_name = "NAME", value_parser = workspace_name)]
    pub(crate) name: WorkspaceName,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorkspacesDeleteArgs {
    #[command(flatten)]
    pub(crate) at: BackendArg,
    /// The workspace to delete
    #[arg(value_name = "NAME", value_parser = workspace_name)]
    pub(crate) name: WorkspaceName,
    /// Deletes it even if it has resources; nothing manages them afterwards
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    /// Where the states are: a file, a directory, or a URL
    #[arg(value_name = "FROM")]
    pub(crate) from: PathBuf,
    /// Where to copy them: a file, a directory, or a URL
    #[arg(value_name = "TO")]
    pub(crate) to: PathBuf,
    /// Takes all workspaces, not only the selected one
    #[arg(long)]
    pub(crate) all_workspaces: bool,
    /// Overwrites states of another lineage, newer states, and unreadable ones
    #[arg(long)]
    pub(crate) force: bool,
    /// Shows what would be copied, and writes nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Writes the receipt to this file
    #[arg(long, value_name = "FILE", default_value = "groundstate-migration.json")]
    pub(crate) receipt: PathBuf,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
    /// Prints the receipt as well
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// A directory, or a URL such as `s3://bucket/key`
    #[arg(value_name = "STATE", default_value = ".")]
    pub(crate) state: PathBuf,
    /// For a Pulumi stack: shows this page of its updates and copies, from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) page: Option<u32>,
    /// For a Pulumi stack: how many updates, and how many copies, a page has; 10 if missing, 0 for all
    #[arg(long, value_name = "M")]
    pub(crate) page_size: Option<u32>,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RollbackArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArg,
    /// The snapshot to restore: its id in `history`, or a beginning of it that no other has
    #[arg(long, value_name = "ID")]
    pub(crate) to: String,
    /// Restores even a snapshot of another lineage, for Pulumi of another stack, or over a state that cannot be read. For a Pulumi
    /// stack, codes accept only these findings of `check`
    #[arg(
        long, value_name = "CODE,…", num_args = 0..=1, require_equals = true, value_parser = Force::parse,
        default_value = force::NONE, default_missing_value = force::WHOLE, hide_default_value = true
    )]
    pub(crate) force: Force,
    /// With `--force`: lets plain text replace an encrypted state
    #[arg(long, requires = "force")]
    pub(crate) over_encrypted: bool,
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

#[derive(Debug, Args)]
pub(crate) struct MigrateLockArgs {
    #[command(flatten)]
    pub(crate) at: BackendArg,
    /// Takes all workspaces, not only the selected one
    #[arg(long)]
    pub(crate) all_workspaces: bool,
    /// Shows what would be done, and changes nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RepairDigestArgs {
    #[command(flatten)]
    pub(crate) at: BackendArg,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads the name of a workspace.
/// Reads the name and the value of a variable. Errors have no part of the value, which may be a secret.
pub(crate) fn variable_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err("write it as NAME=VALUE".to_owned()),
    }
}

pub(crate) fn workspace_name(text: &str) -> Result<WorkspaceName, String> {
    WorkspaceName::parse(text).map_err(|error| error.to_string())
}
