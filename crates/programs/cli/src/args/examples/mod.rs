//! Two examples for each command. A test runs every one of them.

mod changing;
mod looking;
mod places;
#[cfg(feature = "server")]
mod server;
mod stacks;

/// An example of a command.
#[derive(Debug)]
pub(super) struct Example {
    /// What it does.
    pub(super) what: &'static str,
    /// What to type.
    pub(super) line: &'static str,
}

const fn example(what: &'static str, line: &'static str) -> Example {
    Example { what, line }
}

/// The words that lead to a command, and its examples.
pub(super) type Examples = (&'static str, [Example; 2]);

/// The examples of each command.
pub(super) fn examples() -> impl Iterator<Item = &'static Examples> {
    let all = [looking::EXAMPLES, changing::EXAMPLES, places::EXAMPLES, EXAMPLES, stacks::EXAMPLES];
    let examples = all.into_iter().flatten();
    #[cfg(feature = "server")]
    let examples = examples.chain(server::EXAMPLES);
    examples
}

const EXAMPLES: &[Examples] = &[
    (
        "help",
        [
            example("Explain a command", "groundstate help mv"),
            example("Explain one inside another", "groundstate help order waves"),
        ],
    ),
    (
        "version",
        [
            example("Print the version", "groundstate version"),
            example("Print the versions and formats as JSON", "groundstate version --json"),
        ],
    ),
    (
        "completions",
        [
            example("Write a completion script for bash", "groundstate completions bash > groundstate.bash"),
            example("Write one for fish", "groundstate completions fish > groundstate.fish"),
        ],
    ),
    (
        "man",
        [
            example("Write the manual page to a file", "groundstate man > groundstate.1"),
            example("Compress it as distributions do", "groundstate man | gzip > groundstate.1.gz"),
        ],
    ),
];
