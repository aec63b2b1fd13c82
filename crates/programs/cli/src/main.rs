//! The `groundstate` command.
//!
//! This package alone prints, reads and writes files; everything it knows of state comes from the crates below it.

mod args;
mod commands;
mod hardening;
mod input;
mod journal;
mod pulumi;
mod report;
mod session;
mod terraform;

use std::process::ExitCode;

use clap::FromArgMatches;

use crate::args::{Cli, grammar};
use crate::input::environment::Environment;
use crate::report::log;
use crate::report::messages::Messages;

fn main() -> ExitCode {
    hardening::protect_memory();
    let cli = Cli::from_arg_matches(&grammar().get_matches()).unwrap_or_else(|error| error.exit());
    log::start(cli.verbose, cli.log_format);
    if let Some(workspace) = cli.workspace {
        Environment::choose(workspace);
    }
    if cli.trust_directory {
        Environment::trust_directories();
    }
    let code = match commands::run(cli.command) {
        Ok(outcome) => outcome.exit_code(),
        Err(failure) => {
            if !failure.quiet {
                Messages::stderr().failure(&failure);
            }
            failure.exit_code()
        }
    };
    ExitCode::from(session::lock_end::exit_code(code))
}
