//! The help texts, and `docs/commands.md`, which shows them.

use std::fs;

use super::support::{groundstate, workspace};

pub(crate) const COMMANDS: [&str; 55] = [
    "",
    "list",
    "show",
    "outputs",
    "upgrade",
    "check",
    "diff",
    "graph",
    "order",
    "order destroy",
    "order plan",
    "order waves",
    "order why",
    "order blast",
    "mv",
    "rm",
    "replace-provider",
    "taint",
    "untaint",
    "protect",
    "unprotect",
    "repair",
    "pending",
    "pending list",
    "pending clear",
    "pending resolve",
    "journal",
    "journal replay",
    "journal inspect",
    "journal compact",
    "journal verify",
    "encrypt",
    "decrypt",
    "edit",
    "undo",
    "pull",
    "push",
    "salvage",
    "merge-errored",
    "recover",
    "lock",
    "unlock",
    "locks",
    "workspaces",
    "workspaces list",
    "workspaces new",
    "workspaces delete",
    "migrate",
    "migrate-lock",
    "repair-digest",
    "history",
    "rollback",
    "version",
    "completions",
    "man",
];

pub(crate) fn help(command: &str) -> String {
    let args: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
    groundstate(&args).clean()
}

#[test]
fn explains_every_command() {
    for command in COMMANDS {
        let name = if command.is_empty() { "groundstate" } else { command };
        insta::assert_snapshot!(format!("help_{name}"), help(command));
    }
}

#[test]
fn documentation_shows_the_help_of_every_command() {
    let path = workspace().join("docs/commands.md");
    let text = fs::read_to_string(&path).unwrap();
    let mut expected = text.clone();
    for command in COMMANDS {
        let begin = format!("<!-- help: {} -->\n```text\n", format!("groundstate {command}").trim_end());
        let (before, rest) = expected.split_once(&begin).unwrap_or_else(|| panic!("{begin} is missing"));
        let (_, after) = rest.split_once("```\n").unwrap();
        expected = format!("{before}{begin}{}```\n{after}", help(command));
    }
    if std::env::var_os("GROUNDSTATE_UPDATE_DOCS").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    assert!(
        text == expected,
        "docs/commands.md is out of date: run this test with GROUNDSTATE_UPDATE_DOCS=1"
    );
}

#[test]
fn refuses_wrong_command_lines_with_code_2() {
    for args in
        [&["nope"][..], &["list"], &["list", "a", "--nope"], &["upgrade", "a", "--dialect", "pulumi"], &[]]
    {
        let run = groundstate(args);
        assert_eq!((run.code, &*run.stdout), (2, ""), "{args:?}");
    }
}
