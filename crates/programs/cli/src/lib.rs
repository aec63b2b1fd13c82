//! The `groundstate` command, to be built with backends of your own:
//!
//! ```no_run
//! use groundstate_cli::backends::Registry;
//!
//! // The last line of `main`; `Registry::with` adds a factory.
//! let code: std::process::ExitCode = groundstate_cli::main_with(Registry::standard());
//! ```
//!
//! This package alone prints, reads and writes files; everything it knows of state comes from the crates below it.
//!
//! # What is deliberately absent
//!
//! Functions for programs: `groundstate-client` is for those.

mod args;
mod commands;
mod hardening;
mod input;
mod journal;
mod pulumi;
mod report;
mod session;
mod terraform;

/// Registries and factories of backends.
pub use groundstate_backends as backends;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches;
use groundstate_backends::Registry;

use crate::args::{Cli, answer, grammar};
use crate::input::environment::Environment;
use crate::report::error::{Failure, Kind};
use crate::report::messages::Messages;
use crate::report::{log, message_json};

/// Runs the command that the arguments of this process name, with the backends of a registry: the whole of a `main`. Reads the
/// environment, prints, and takes signals, so a process calls it once.
pub fn main_with(registry: Registry) -> ExitCode {
    hardening::protect_memory();
    Environment::open_with(registry);
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    if message_json::is_asked_for(&words) {
        Messages::use_json();
    }
    let cli = match grammar().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error, &words),
    };
    log::start(cli.verbose, cli.log_format, cli.command.is_server());
    if let Some(workspace) = cli.workspace {
        Environment::choose(workspace);
    }
    if let Some(stack) = cli.stack {
        Environment::choose_stack(stack);
    }
    if let Some(path) = cli.encryption {
        input::encryption::choose(path);
    }
    if cli.trust_directory {
        Environment::trust_directories();
    }
    let given = Environment::give(cli.var_file, cli.var);
    let code = match given.and_then(|()| Environment::check()).and_then(|()| commands::run(cli.command)) {
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

/// Ends with what is wrong with the command line, or with the command that users of another tool mean by it.
fn refuse(error: &clap::Error, words: &[OsString]) -> ExitCode {
    use clap::error::ErrorKind;
    let is_unknown = matches!(
        error.kind(),
        ErrorKind::InvalidSubcommand | ErrorKind::UnknownArgument | ErrorKind::MissingRequiredArgument
    );
    match answer(words).filter(|_| is_unknown) {
        Some(habit) => {
            let failure = commands::habit(habit);
            Messages::stderr().failure(&failure);
            ExitCode::from(failure.exit_code())
        }
        None if error.use_stderr() && message_json::is_asked_for(words) => {
            let text = error.render().to_string();
            let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            let message = lines.next().unwrap_or_default();
            let failure = Failure::new(Kind::Usage, message.strip_prefix("error: ").unwrap_or(message));
            let failure = failure.details(lines.map(str::to_owned));
            Messages::stderr().failure(&failure);
            ExitCode::from(failure.exit_code())
        }
        None => error.exit(),
    }
}
