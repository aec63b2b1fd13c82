//! The arguments of `journal`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct JournalArgs {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: JournalCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum JournalCommand {
    /// Prints the deployment that a base and entries stand for
    ///
    /// Applies the entries to the base, in whichever order they stand, and writes the deployment they lead to. Operations that
    /// have begun and not ended are pending in it. Manifest and envelope are those of the base.
    #[command(override_usage = "groundstate journal replay [OPTIONS] [BASE] <ENTRIES>")]
    Replay(ReplayArgs),
    /// Shows entries and what each of them does
    ///
    /// Shows a line for each entry, in the order in which they count: its number, its operation, its kind, and what it does;
    /// then the operations that have begun and not ended. With a base, resources of it have their names.
    #[command(override_usage = "groundstate journal inspect [OPTIONS] [BASE] <ENTRIES>")]
    Inspect(InspectArgs),
    /// Makes a new base of a base and entries
    ///
    /// Makes of a journal that is over the base of the next one. A journal directory, or one in an object store, is compacted in its place, and
    /// begins anew with that base; of other entries the base is written, and they stay as they are.
    #[command(override_usage = "groundstate journal compact [OPTIONS] [BASE] <ENTRIES>")]
    Compact(ReplayArgs),
    /// Checks that entries go together, and that what they lead to is sound
    ///
    /// Checks that the entries can be read, that they go with each other and with the base, and that the deployment they lead
    /// to keeps the rules of snapshots; with `--every-prefix`, also each one on the way, as a crash would leave it.
    #[command(override_usage = "groundstate journal verify [OPTIONS] [BASE] <ENTRIES>")]
    Verify(VerifyArgs),
}

#[derive(Debug, Args)]
pub(crate) struct EntriesArgs {
    /// The deployment that the entries build on, and the entries
    ///
    /// BASE is a file with an export or a checkpoint; a journal directory, like one in an object store, has its own. ENTRIES is a file with entries one
    /// after the other, by custom on a line each, or in a list, or a batch of them as it is sent to a service; a journal
    /// directory, or the address of a journal in an object store, such as `s3://bucket/prefix`; or `-` for standard input.
    #[arg(required = true, num_args = 1..=2, value_names = ["BASE", "ENTRIES"])]
    pub(crate) paths: Vec<PathBuf>,
    /// There is no base: the stack is new
    #[arg(long)]
    pub(crate) empty_base: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) entries: EntriesArgs,
    /// Replaces this file, all at once; standard output if there is none, or with `-`
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    #[command(flatten)]
    pub(crate) entries: EntriesArgs,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) entries: EntriesArgs,
    /// Checks the deployment after each entry as well
    #[arg(long)]
    pub(crate) every_prefix: bool,
    /// Prints JSON
    #[arg(long)]
    pub(crate) json: bool,
}
