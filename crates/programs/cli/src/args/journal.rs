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
    /// Prints the deployment that a base and entries lead to
    ///
    /// Applies the entries to the base, whatever their order in the input, and writes the deployment they lead to. Operations
    /// that have begun and not ended are pending in it. Manifest and envelope are those of the base.
    #[command(override_usage = "groundstate journal replay [OPTIONS] [BASE] <ENTRIES>")]
    Replay(ReplayArgs),
    /// Shows entries and what each of them does
    ///
    /// Shows a line for each entry, in the order in which they apply: its number, operation, kind and effect; then the
    /// operations that have begun and not ended. With a base, its resources are shown by name.
    #[command(override_usage = "groundstate journal inspect [OPTIONS] [BASE] <ENTRIES>")]
    Inspect(InspectArgs),
    /// Merges a base and entries into a new base
    ///
    /// Turns a finished journal into the base of the next one. A journal directory, or a journal in an object store, is
    /// compacted in place and restarts with that base; for other entries the base is written, and they stay as they are.
    #[command(override_usage = "groundstate journal compact [OPTIONS] [BASE] <ENTRIES>")]
    Compact(ReplayArgs),
    /// Checks that entries fit together, and that their result is sound
    ///
    /// Checks that the entries can be read, that they fit each other and the base, and that the deployment they lead to
    /// keeps the rules of snapshots; with `--every-prefix`, also each deployment on the way, as a crash would leave it.
    #[command(override_usage = "groundstate journal verify [OPTIONS] [BASE] <ENTRIES>")]
    Verify(VerifyArgs),
}

#[derive(Debug, Args)]
pub(crate) struct EntriesArgs {
    /// The deployment that the entries build on, and the entries
    ///
    /// BASE is a file with an export or a checkpoint; a journal directory, or a journal in an object store, has its own. ENTRIES
    /// is a file with entries, usually one a line, in a list, or in a batch as it is sent to a service; a journal directory;
    /// the address of a journal in an object store, such as `s3://bucket/prefix`; or `-` for standard input.
    #[arg(required = true, num_args = 1..=2, value_names = ["BASE", "ENTRIES"])]
    pub(crate) paths: Vec<PathBuf>,
    /// Starts without a base: the stack is new
    #[arg(long)]
    pub(crate) empty_base: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) entries: EntriesArgs,
    /// Writes this file, all at once; standard output if missing, or with `-`
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
