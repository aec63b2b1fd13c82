//! What the help has beyond the grammar: headings over the commands, and examples at the end of each command's help.

use clap::builder::Styles;
use clap::{Command, CommandFactory};

use super::cli::Cli;
use super::examples::{Example, examples};

/// The commands of the server, if it is built in.
const SERVER: &[&str] = if cfg!(feature = "server") { &["serve", "token", "audit", "store"] } else { &[] };

/// The commands under their headings, in the order of the help.
const HEADINGS: [(&str, &[&str]); 10] = [
    ("Look at a state", &["list", "show", "outputs", "check", "diff", "graph"]),
    (
        "Change a state",
        &["mv", "split", "rm", "replace-provider", "taint", "untaint", "edit", "upgrade", "salvage"],
    ),
    ("Order operations", &["order"]),
    ("Move and store states", &["pull", "push", "merge-errored", "migrate", "workspaces", "encryption"]),
    ("Lock states", &["lock", "unlock", "locks", "migrate-lock", "repair-digest"]),
    ("Go back in history", &["undo", "log", "history", "rollback"]),
    ("Journals", &["recover", "journal"]),
    (
        "Pulumi only",
        &[
            "stacks",
            "protect",
            "unprotect",
            "repair",
            "pending",
            "encrypt",
            "decrypt",
            "change-secrets-provider",
        ],
    ),
    ("Run a server", SERVER),
    ("This command", &["help", "version", "completions", "man"]),
];

/// The grammar of the command line with all of its help.
pub(crate) fn grammar() -> Command {
    let command = with_examples(Cli::command(), "");
    let commands = by_heading(&command);
    let options = heading(command.get_styles(), "Options");
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}{options}\n{{options}}{{after-help}}"
    ))
}

/// The commands with what each of them does, a block for each heading.
fn by_heading(command: &Command) -> String {
    let width = command.get_subcommands().map(|inner| inner.get_name().len()).max().unwrap_or(0);
    let literal = command.get_styles().get_literal();
    let mut text = String::new();
    for (title, names) in HEADINGS.into_iter().filter(|(_, names)| !names.is_empty()) {
        text.push_str(&heading(command.get_styles(), title));
        text.push('\n');
        for inner in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let name = inner.get_name();
            let about = inner.get_about().map(ToString::to_string).unwrap_or_default();
            let aliases: Vec<&str> = inner.get_visible_aliases().collect();
            let aliases = match aliases.as_slice() {
                [] => String::new(),
                aliases => format!(" [alias: {}]", aliases.join(", ")),
            };
            let space = " ".repeat(width - name.len() + 2);
            text.push_str(&format!("  {literal}{name}{literal:#}{space}{about}{aliases}\n"));
        }
        text.push('\n');
    }
    text
}

/// Adds examples to the help of a command and of all inside of it; `path` is the words that lead to it.
fn with_examples(command: Command, path: &str) -> Command {
    let examples = examples().find(|(known, _)| *known == path);
    let command = match examples {
        Some((_, examples)) => {
            let text = shown(command.get_styles(), examples);
            command.after_long_help(text)
        }
        None => command,
    };
    command.mut_subcommands(|inner| {
        let path = format!("{path} {}", inner.get_name());
        with_examples(inner, path.trim_start())
    })
}

fn shown(styles: &Styles, examples: &[Example]) -> String {
    let literal = styles.get_literal();
    let blocks: Vec<String> = examples
        .iter()
        .map(|Example { what, line }| format!("  {what}:\n    {literal}{line}{literal:#}"))
        .collect();
    format!("{}\n{}", heading(styles, "Examples"), blocks.join("\n\n"))
}

fn heading(styles: &Styles, title: &str) -> String {
    let style = styles.get_header();
    format!("{style}{title}:{style:#}")
}

#[cfg(test)]
mod tests {
    use super::{Command, HEADINGS, examples, grammar};

    #[test]
    fn every_command_stands_under_one_heading() {
        let command = grammar();
        for inner in command.get_subcommands() {
            let name = inner.get_name();
            let headings = HEADINGS.iter().filter(|(_, names)| names.contains(&name)).count();
            assert_eq!(headings, 1, "{name}");
        }
        let named = HEADINGS.iter().flat_map(|(_, names)| *names);
        assert_eq!(named.count(), command.get_subcommands().count());
    }

    #[test]
    fn every_command_has_its_examples() {
        fn paths(command: &Command, path: &str, all: &mut Vec<String>) {
            for inner in command.get_subcommands() {
                let path = format!("{path} {}", inner.get_name()).trim_start().to_owned();
                paths(inner, &path, all);
                all.push(path);
            }
        }
        let mut all = Vec::new();
        paths(&grammar(), "", &mut all);
        for path in &all {
            assert_eq!(examples().filter(|(known, _)| known == path).count(), 1, "{path}");
        }
        assert_eq!(examples().count(), all.len());
    }
}
