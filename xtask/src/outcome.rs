//! How a command ends.

use std::fmt;
use std::process::Command;

/// Nothing, or why not.
pub(crate) type Outcome<T = ()> = Result<T, Failure>;

/// Why a command did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A check found something.
    Check(String),
    /// The command line is wrong.
    Usage(String),
    /// A tool, a package or a file that the command needs is not there or does not work.
    Missing(String),
}

impl Failure {
    /// The exit code that the usage text promises.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Check(_) => 1,
            Self::Usage(_) => 2,
            Self::Missing(_) => 3,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Check(text) | Self::Usage(text) | Self::Missing(text) => f.write_str(text),
        }
    }
}

/// Fails when there are arguments to a command that takes none.
pub(crate) fn no_arguments(command: &str, args: &[String]) -> Outcome {
    match args.first() {
        None => Ok(()),
        Some(arg) => Err(Failure::Usage(format!("`{command}` takes no arguments, found `{arg}`"))),
    }
}

/// Runs a program to its end with the terminal as it is, input excepted.
pub(crate) fn status(command: &mut Command) -> Outcome {
    let shown = show(command);
    let status = command
        .stdin(std::process::Stdio::null())
        .status()
        .map_err(|error| Failure::Missing(format!("cannot start `{shown}`: {error}")))?;
    if status.success() { Ok(()) } else { Err(Failure::Check(format!("`{shown}` failed: {status}"))) }
}

/// Runs a program and gives its standard output.
pub(crate) fn stdout(command: &mut Command) -> Outcome<String> {
    let shown = show(command);
    let output = command
        .stdin(std::process::Stdio::null())
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|error| Failure::Missing(format!("cannot start `{shown}`: {error}")))?;
    if !output.status.success() {
        return Err(Failure::Missing(format!("`{shown}` failed: {}", output.status)));
    }
    String::from_utf8(output.stdout).map_err(|_| Failure::Missing(format!("`{shown}` did not print UTF-8")))
}

/// Tells whether a program can be run with these arguments.
pub(crate) fn works(program: &str, args: &[&str]) -> bool {
    Command::new(program)
        .args(args)
        .stdin(std::process::Stdio::null())
        .output()
        .is_ok_and(|o| o.status.success())
}

/// The command as one would type it.
pub(crate) fn show(command: &Command) -> String {
    let mut text = command.get_program().to_string_lossy().into_owned();
    // The programs here are `cargo`, `git` and `rustup`, by whatever path they were found.
    text = text.rsplit('/').next().unwrap_or(&text).to_owned();
    for arg in command.get_args() {
        text.push(' ');
        text.push_str(&arg.to_string_lossy());
    }
    text
}
