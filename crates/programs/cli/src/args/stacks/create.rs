//! Arguments of `stacks create`.

use clap::Args;

use super::StackArg;
use crate::args::change::WaitArgs;

#[derive(Debug, Args)]
pub(crate) struct StacksCreateArgs {
    #[command(flatten)]
    pub(crate) at: StackArg,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}
