//! Which commands have `--json`: all, except those that are named here.

use clap::Command;

use super::help::grammar;

/// The commands without `--json`, and why. `docs/json.md` has the same list.
const WITHOUT: &[(&str, &str)] = &[
    ("upgrade", "it prints a state"),
    ("pull", "it prints a state"),
    ("journal replay", "it prints a deployment"),
    ("journal compact", "it prints a deployment, or changes a journal in place"),
    ("encrypt", "it prints a ciphertext"),
    ("decrypt", "it prints a value"),
    ("lock", "its output is that of the command that it runs"),
    #[cfg(feature = "server")]
    ("serve", "it prints where it listens, and a block for a configuration"),
    ("help", "it prints text for people"),
    ("completions", "it prints a script for a shell"),
    ("man", "it prints a manual page"),
];

/// The commands that do something, with the words that lead to them.
fn commands(command: &Command, path: &str, found: &mut Vec<(String, bool)>) {
    if !command.has_subcommands() {
        let has_json = command.get_arguments().any(|argument| argument.get_long() == Some("json"));
        found.push((path.to_owned(), has_json));
    }
    for inner in command.get_subcommands() {
        commands(inner, format!("{path} {}", inner.get_name()).trim_start(), found);
    }
}

#[test]
fn every_command_has_json_or_a_reason() {
    let mut found = Vec::new();
    commands(&grammar(), "", &mut found);
    assert!(found.len() > 40, "{}", found.len());
    for (command, has_json) in &found {
        let is_without = WITHOUT.iter().any(|(name, _)| name == command);
        assert!(*has_json != is_without, "`{command}`: it has `--json`: {has_json}");
    }
    for (name, _) in WITHOUT {
        assert!(found.iter().any(|(command, _)| command == name), "there is no `{name}`");
    }
}

#[test]
fn the_page_names_the_commands_without_json() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/json.md");
    let page = std::fs::read_to_string(path).expect("the page is there");
    for (name, why) in WITHOUT {
        assert!(page.contains(&format!("| `{name}` | {why} |\n")), "{name}");
    }
}
