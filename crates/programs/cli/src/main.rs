//! The `groundstate` command.
//!
//! This package alone prints, reads and writes files; everything it knows of state comes from the crates below it.

mod args;
mod backup_store;
mod changes;
mod commands;
mod diagnostic;
mod error;
mod excerpt;
mod family;
mod graph;
mod hardening;
mod head;
mod history;
mod interrupt;
mod journal;
mod json;
mod line_span;
mod listing;
mod load;
mod lock_end;
mod managed_state;
mod output;
mod packed;
mod paths;
mod place;
mod progress;
mod pulumi;
mod save;
mod select;
mod session;
mod source;
mod state_error;
mod svg;
mod tokens;
mod value;
mod who;
mod workdir;

use std::process::ExitCode;

use clap::FromArgMatches;

use crate::args::{Cli, grammar};
use crate::output::Messages;
use crate::workdir::Environment;

fn main() -> ExitCode {
    hardening::protect_memory();
    let cli = Cli::from_arg_matches(&grammar().get_matches()).unwrap_or_else(|error| error.exit());
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
    ExitCode::from(lock_end::exit_code(code))
}
