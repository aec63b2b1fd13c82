//! Arguments of `stacks upgrade`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::args::change::duration;

#[derive(Debug, Args)]
pub(crate) struct StacksUpgradeArgs {
    /// A directory with a Pulumi.yaml, or `pulumi+` and the URL of `pulumi login`
    #[arg(value_name = "BACKEND", default_value = ".")]
    pub(crate) backend: PathBuf,
    /// The project of a stack without resources; may be given more than once
    #[arg(long = "project", value_name = "STACK=PROJECT")]
    pub(crate) projects: Vec<String>,
    /// Upgrades the others where a stack cannot be read
    #[arg(long)]
    pub(crate) skip_unreadable: bool,
    /// Shows what would be upgraded, and upgrades nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Upgrades without a question
    #[arg(long)]
    pub(crate) yes: bool,
    /// Waits up to this long for a lock that another process holds, such as `30s` or `5m`
    #[arg(long, value_name = "DURATION", default_value = "0s", hide_default_value = true, value_parser = duration)]
    pub(crate) lock_timeout: Duration,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}
