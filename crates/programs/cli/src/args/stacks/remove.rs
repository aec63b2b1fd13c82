//! Arguments of `stacks remove`.

use clap::Args;

use super::StackArg;
use crate::args::change::WaitArgs;

#[derive(Debug, Args)]
pub(crate) struct StacksRemoveArgs {
    #[command(flatten)]
    pub(crate) at: StackArg,
    /// Removes it even if it has resources, is damaged, or has the journal of a killed update
    #[arg(long)]
    pub(crate) force: bool,
    /// Removes all copies of its state too: `.bak`, retained checkpoints and backups
    #[arg(long)]
    pub(crate) backups: bool,
    /// Shows what would be removed, and removes nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Removes it without a question
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}
