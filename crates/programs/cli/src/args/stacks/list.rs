//! Arguments of `stacks list`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct StacksListArgs {
    /// A directory with a Pulumi.yaml, or `pulumi+` and the URL of `pulumi login`
    #[arg(value_name = "BACKEND", default_value = ".")]
    pub(crate) backend: PathBuf,
    /// Only the stacks of this project
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only the stacks with this tag
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub(crate) tag: Option<String>,
    /// Reads every stack: when it was updated, and how many resources it has
    #[arg(long)]
    pub(crate) long: bool,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}
