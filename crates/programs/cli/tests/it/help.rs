//! The help texts, and `docs/commands.md`, which shows them.

use std::fs;

use super::support::{Run, command, groundstate, workspace};

pub(crate) const COMMANDS: &[&str] = &[
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
    "split",
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
    "change-secrets-provider",
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
    "stacks",
    "stacks list",
    "stacks create",
    "stacks remove",
    "stacks tags",
    "stacks prune",
    "stacks rename",
    "stacks migrate",
    "stacks upgrade",
    "workspaces",
    "workspaces list",
    "workspaces new",
    "workspaces delete",
    "migrate",
    "encryption",
    "encryption status",
    "encryption encrypt",
    "encryption decrypt",
    "encryption rotate",
    "migrate-lock",
    "repair-digest",
    "history",
    "log",
    "rollback",
    "serve",
    "token",
    "token create",
    "token list",
    "token revoke",
    "audit",
    "audit show",
    "audit verify",
    "store",
    "store check",
    "store repair",
    "help",
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
    for &command in COMMANDS {
        let name = if command.is_empty() { "groundstate" } else { command };
        insta::assert_snapshot!(format!("help_{name}"), help(command));
    }
}

#[test]
fn documentation_shows_the_help_of_every_command() {
    let path = workspace().join("docs/commands.md");
    let text = fs::read_to_string(&path).unwrap();
    let mut expected = text.clone();
    for &command in COMMANDS {
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
    for args in [
        &["nope"][..],
        &["mv", "a"],
        &["list", "a", "--nope"],
        &["help", "nope"],
        &["upgrade", "a", "--dialect", "pulumi"],
        &[],
    ] {
        let run = groundstate(args);
        assert_eq!((run.code, &*run.stdout), (2, ""), "{args:?}");
    }
}

#[test]
fn help_explains_what_its_words_lead_to() {
    for &command in COMMANDS {
        let words: Vec<&str> = ["help"].into_iter().chain(command.split_whitespace()).collect();
        assert_eq!(groundstate(&words).clean(), help(command), "{command}");
    }
}

#[test]
fn habits_of_other_tools_are_answered_with_the_command_that_is_meant() {
    for (line, expected) in [
        (&["state", "mv", "a.b", "a.c[\"d\"]"][..], "help: run `groundstate mv . a.b 'a.c[\"d\"]'`"),
        (&["output", "-json"], "help: run `groundstate outputs . --json`"),
        (&["stack", "export", "--file", "x.json"], "help: run `groundstate pull . --output x.json`"),
        (&["untaint", "a.b"], "help: run `groundstate untaint . a.b`"),
        (&["help", "state", "list"], "help: run `groundstate list .`"),
        (&["list", "-state=old.tfstate"], "help: run `groundstate list old.tfstate`"),
        (&["stack", "init", "dev"], "help: run `groundstate stacks create . --stack dev`"),
        (&["cancel", "-s", "dev"], "help: run `groundstate unlock . --force --stack dev`"),
        (&["apply"], "help: `terraform apply` or `tofu apply` does that"),
    ] {
        let said = groundstate(line).failed(2);
        assert!(said.lines().any(|line| line == expected), "{line:?}: {said}");
    }
    let said = groundstate(&["show", "a_b.c"]).failed(3);
    assert!(said.contains("`. a_b.c`"), "{said}");
}

#[test]
fn commands_that_read_take_the_current_directory() {
    let dir = tempfile::tempdir().unwrap();
    let state = workspace().join("tests/fixtures/states/webshop-v4-terraform.tfstate");
    fs::copy(state, dir.path().join("terraform.tfstate")).unwrap();
    let run = |words: &[&str]| Run::of(command(words).current_dir(dir.path()).output().unwrap());
    for verb in [
        "list",
        "show",
        "outputs",
        "pull",
        "upgrade",
        "graph",
        "locks",
        "order destroy",
        "order waves",
        "workspaces list",
    ] {
        let words: Vec<&str> = verb.split(' ').collect();
        assert_eq!(run(&words).clean(), run(&[&words[..], &["."]].concat()).clean(), "{verb}");
    }
    let checked = run(&["check"]);
    assert_eq!(checked.stdout, run(&["check", "."]).stdout);
}
