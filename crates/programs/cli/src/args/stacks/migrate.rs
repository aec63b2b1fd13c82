//! Arguments of `stacks migrate`.

use std::path::PathBuf;

use clap::Args;

use crate::args::change::WaitArgs;

#[derive(Debug, Args)]
pub(crate) struct StacksMigrateArgs {
    /// The stack: a directory with a Pulumi.yaml, or `pulumi+URL#organization/PROJECT/STACK`; with `--all-stacks` a backend
    #[arg(value_name = "FROM")]
    pub(crate) from: PathBuf,
    /// The backend it goes to: a directory with a Pulumi.yaml, or `pulumi+` and the URL of `pulumi login`; behind `#`
    /// another name for it
    #[arg(value_name = "TO")]
    pub(crate) to: PathBuf,
    /// Migrates all stacks of the backend
    #[arg(long)]
    pub(crate) all_stacks: bool,
    /// The project of stacks that come from a backend without projects; that of their resources if it is not given
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Encrypts secrets anew where a stack goes from or to a service: `passphrase`, the URL of a key, or `service`
    #[arg(long, value_name = "PROVIDER")]
    pub(crate) secrets_provider: Option<String>,
    /// The file with the new passphrase, with `--secrets-provider passphrase`
    #[arg(long, value_name = "FILE", requires = "secrets_provider")]
    pub(crate) new_passphrase_file: Option<PathBuf>,
    /// Removes each stack from FROM after its copy has been read back
    #[arg(long)]
    pub(crate) remove: bool,
    /// Shows what would be migrated, and migrates nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Removes the stacks from FROM without asking
    #[arg(long, requires = "remove")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) wait: WaitArgs,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}
