//! Arguments of `stacks tags`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::args::change::duration;

#[derive(Debug, Args)]
pub(crate) struct StacksTagsArgs {
    /// A directory with a Pulumi.yaml, or `pulumi+URL#organization/PROJECT/STACK` with the URL of `pulumi login`
    #[arg(value_name = "STACK", default_value = ".")]
    pub(crate) place: PathBuf,
    /// Sets a tag; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = tag)]
    pub(crate) set: Vec<(String, String)>,
    /// Removes a tag; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) remove: Vec<String>,
    /// Waits up to this long for a lock that another process holds, such as `30s` or `5m`
    #[arg(long, value_name = "DURATION", default_value = "0s", hide_default_value = true, value_parser = duration)]
    pub(crate) lock_timeout: Duration,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads a tag: its name ends at the first `=`.
fn tag(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}
