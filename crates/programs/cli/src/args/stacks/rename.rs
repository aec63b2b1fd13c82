//! Arguments of `stacks rename`.

use clap::Args;

use super::StackArg;
use crate::args::change::WaitArgs;

#[derive(Debug, Args)]
pub(crate) struct StacksRenameArgs {
    #[command(flatten)]
    pub(crate) at: StackArg,
    /// The new name: STACK, or organization/PROJECT/STACK to change the project too
    #[arg(value_name = "NEW")]
    pub(crate) new: String,
    /// Leaves references to providers that cannot be read as they are
    #[arg(long)]
    pub(crate) force: bool,
    /// Shows what would be renamed, and renames nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}
