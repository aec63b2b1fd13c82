//! Arguments of `stacks upgrade`.

use std::path::PathBuf;

use clap::Args;

use crate::args::change::WaitArgs;

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
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}
