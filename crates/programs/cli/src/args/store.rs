//! Arguments of `groundstate store`.

use clap::{Args, Subcommand};
use groundstate_server::versioned::{Name, VersionId};

use super::serve::ServerArgs;

#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// Action on the store.
    #[command(subcommand)]
    pub(crate) command: StoreCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Compares all that a server has stored with its checksums
    ///
    /// Reads every head, version, token and entry of the audit log of a directory, a bucket or a database, and the checkpoints, journals and events that updates of Pulumi stacks
    /// stored, while servers run or not, and compares them with their checksums. A line for each damage names the document or the stack, the problem and the place; the code is 1
    /// then. Nothing is written.
    Check(StoreCheckArgs),
    /// Makes heads anew that are damaged or missing
    ///
    /// Shows which heads of documents are damaged, missing or were put back to an earlier state, and what each would be after its repair: that of the last
    /// version whose record is there. With `--yes` the heads are replaced, and a damaged head is kept beside them. No version is changed or removed. A lock that the lost head had
    /// is not there afterwards, so make sure that no run works on the state.
    ///
    /// Damaged versions, updates, tokens and audit logs are named by `store check`, and a backup of the store restores them.
    Repair(StoreRepairArgs),
}

#[derive(Debug, Args)]
pub(crate) struct StoreCheckArgs {
    /// Compares heads and records, and not the contents of versions, checkpoints, journals and events
    #[arg(long)]
    pub(crate) quick: bool,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct StoreRepairArgs {
    /// The document, as `store check` names it; all of them if missing
    #[arg(value_name = "DOCUMENT", value_parser = Name::parse)]
    pub(crate) document: Option<Name>,
    /// The id of the last version, where several records have its number
    #[arg(long, value_name = "ID", value_parser = VersionId::parse, requires = "document")]
    pub(crate) last: Option<VersionId>,
    /// Carries it out
    #[arg(long)]
    pub(crate) yes: bool,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}
