//! Arguments of `stacks rename`.

use std::time::Duration;

use clap::Args;

use super::StackArg;
use crate::args::change::duration;

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
    /// Waits up to this long for a lock that another process holds, such as `30s` or `5m`
    #[arg(long, value_name = "DURATION", default_value = "0s", hide_default_value = true, value_parser = duration)]
    pub(crate) lock_timeout: Duration,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}
