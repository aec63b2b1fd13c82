//! `groundstate completions`: scripts for shells.

use std::io::Write;

use clap::CommandFactory;

use crate::args::{Cli, CompletionsArgs};
use crate::report::error::{Outcome, Result};
use crate::report::output::Output;

pub(super) fn run(args: &CompletionsArgs) -> Result {
    // The generator insists on success, so it writes into memory.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "groundstate", &mut script);
    let mut out = Output::stdout();
    out.write_all(&script)?;
    out.finish()?;
    Ok(Outcome::Clean)
}
