//! `groundstate-bench journal`: what appending to journals costs, and what a run costs that stores each of its changes.

mod append;
mod distant;
mod runs;

use std::path::PathBuf;

use clap::Args;

use super::{Failure, Outcome, machine};

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Where journals and states are written; a temporary folder if missing
    #[arg(long)]
    folder: Option<PathBuf>,
    /// How many batches are appended in all
    #[arg(long, default_value_t = 2_000)]
    appends: usize,
    /// How many tasks append at once
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 128])]
    tasks: Vec<usize>,
    /// The bytes of a record
    #[arg(long, default_value_t = 600)]
    bytes: usize,
    /// How long a request to the emulated object store takes, in milliseconds
    #[arg(long, default_value_t = 20)]
    latency: u64,
    /// How many resources the run creates, one change each; 0 leaves that part out
    #[arg(long, default_value_t = 5_000)]
    changes: usize,
}

/// Measures, and prints tables.
pub(crate) fn run(options: &Options) -> Outcome {
    let failed = |error: std::io::Error| Failure::Step(format!("nothing can be measured: {error}"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().map_err(failed)?;
    let temporary = match &options.folder {
        Some(folder) => tempfile::tempdir_in(folder),
        None => tempfile::tempdir(),
    };
    let folder = temporary.map_err(failed)?;
    let build = if cfg!(debug_assertions) { ", debug build" } else { "" };
    println!("- machine: {}{build}\n", machine::line());
    runtime.block_on(async {
        append::measure(options, folder.path()).await?;
        if options.changes > 0 {
            runs::measure(options, folder.path()).await?;
        }
        Ok(())
    })
}

/// What went wrong, whatever it was.
fn step(error: impl std::error::Error) -> Failure {
    let (mut text, mut source) = (error.to_string(), error.source());
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    Failure::Step(text)
}
