//! The `groundstate` command with the backends that its features have.

use std::process::ExitCode;

fn main() -> ExitCode {
    groundstate_cli::main_with(groundstate_cli::backends::Registry::standard())
}
