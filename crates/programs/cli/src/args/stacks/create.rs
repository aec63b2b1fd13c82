//! Arguments of `stacks create`.

use std::time::Duration;

use clap::Args;

use super::StackArg;
use crate::args::change::duration;

#[derive(Debug, Args)]
pub(crate) struct StacksCreateArgs {
    #[command(flatten)]
    pub(crate) at: StackArg,
    /// Waits up to this long for a lock that another process holds, such as `30s` or `5m`
    #[arg(long, value_name = "DURATION", default_value = "0s", hide_default_value = true, value_parser = duration)]
    pub(crate) lock_timeout: Duration,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}
