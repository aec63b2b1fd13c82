//! Arguments of `stacks tags`.

use std::path::PathBuf;

use clap::Args;

use crate::args::change::WaitArgs;

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
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads a tag: its name ends at the first `=`.
fn tag(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}
