//! Arguments of `stacks prune`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};

use crate::args::change::{WaitArgs, age};

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("rule").args(["keep", "older_than"]).required(true).multiple(true))]
pub(crate) struct StacksPruneArgs {
    /// A directory with a Pulumi.yaml, or `pulumi+URL#organization/PROJECT/STACK` with the URL of `pulumi login`; the stack is left out
    /// with `--all-stacks`
    #[arg(value_name = "STACK")]
    pub(crate) place: PathBuf,
    /// Keeps the newest N of each kind; the newest one always stays
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<usize>,
    /// Removes only what is older than this, such as `30d`, `2w` or `12h`
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub(crate) older_than: Option<Duration>,
    /// Looks at this kind only; may be given several times
    #[arg(long = "kind", value_enum, value_name = "KIND")]
    pub(crate) kinds: Vec<CopyKind>,
    /// Looks at all stacks of the backend
    #[arg(long)]
    pub(crate) all_stacks: bool,
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

/// What keeps copies of the state of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CopyKind {
    /// Updates, each with the state that it left
    History,
    /// Backups that `pulumi` made after updates
    Backups,
    /// Checkpoints that PULUMI_RETAIN_CHECKPOINTS kept
    Retained,
}

impl CopyKind {
    /// Its name on the command line and in documents.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::History => "history",
            Self::Backups => "backups",
            Self::Retained => "retained",
        }
    }
}
