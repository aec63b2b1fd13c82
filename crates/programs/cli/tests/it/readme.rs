//! The blocks of the READMEs: every command in them runs, on copies of the fixtures, and shows what they say it shows.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use groundstate_testkit::{PulumiPlace, PulumiProject, pulumi_takes_part};

use super::serve::Server;
use super::support::{Run, shell, workspace};
use super::terraform::{printed, terraform};

/// Runs the command from its sources. Without its package Cargo would unite the features that all members ask for, and build
/// the clients of the clouds after all.
const RUN_FROM_SOURCE: &str =
    "cargo run --profile look -p groundstate-cli --no-default-features --bin groundstate -- ";

/// The lines of all blocks that show a terminal: a command, and what it prints if the block says so.
fn commands(readme: &str) -> Vec<(String, Option<String>)> {
    let text = fs::read_to_string(workspace().join(readme)).unwrap();
    let blocks = text.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("console\n"));
    let parts =
        blocks.flat_map(|block| block.split("$ ").filter(|part| !part.is_empty()).collect::<Vec<_>>());
    let command = |part: &str| {
        let (line, shown) = part.split_once('\n').unwrap_or((part, ""));
        (line.to_owned(), Some(shown.trim_end().to_owned()).filter(|shown| !shown.is_empty()))
    };
    parts.map(command).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// The exit codes of a command that has done what the README says.
fn is_expected(line: &str, code: i32) -> bool {
    // These find something in the fixtures.
    code == 0
        || code == 1 && (line.contains(" check") || line.contains(" diff ") || line.contains(" repair "))
}

/// What the README has as the address of a server.
const ADDRESS: &str = "127.0.0.1:4778";

/// Starts a server as the line does, on a port that is free, and compares what it says. It runs until it is dropped. If terraform is
/// there, the block that the server prints is pasted as it is, but for the names; if pulumi is, it logs in by the line behind it.
fn serve(line: &str, folder: &Path, expected: Option<&str>) -> Server {
    let mut command = shell(&format!("exec {line}"));
    command.current_dir(folder).env("GROUNDSTATE_LISTEN", "127.0.0.1:0");
    let server = Server::started(command);
    assert_eq!(Some(server.said.replace(server.address(), ADDRESS).trim_end()), expected, "{line}");
    let dir = tempfile::tempdir().unwrap();
    let (_, said) = server.said.split_once("\n\n").unwrap();
    let (block, login) = said.rsplit_once("\n\n").unwrap();
    let resource = "resource \"terraform_data\" \"a\" { input = \"one\" }\n";
    fs::write(dir.path().join("main.tf"), format!("{block}\n{resource}")).unwrap();
    if terraform(dir.path(), &["version"]).is_some() {
        printed(dir.path(), &["init", "-no-color", "-input=false"]);
        printed(dir.path(), &["apply", "-auto-approve", "-no-color"]);
        assert_eq!(printed(dir.path(), &["state", "list"]), "terraform_data.a\n");
    }
    if pulumi_takes_part() {
        let project = PulumiProject::new(&PulumiPlace::service(&server.url, "none"));
        let run = project.prepared(std::process::Command::new("sh"), &["-c", login]).output().unwrap();
        assert!(run.status.success(), "{login}: {run:?}");
        project.pulumi(&["stack", "init", "dev"]).succeeds();
    }
    server
}

/// Runs the lines one after the other, as a shell does that stays where `cd` leads it.
fn run_all(readme: &str, root: &Path) -> usize {
    let mut folder = root.to_owned();
    let mut ran = 0;
    let mut servers = Vec::new();
    for (line, expected) in commands(readme) {
        if let Some((_, arguments)) = line.split_once("--features server --bin groundstate -- ") {
            servers.push(serve(&format!("groundstate {arguments}"), &folder, expected.as_deref()));
            ran += 1;
            continue;
        }
        if let Some(install) = line.strip_prefix("cargo install --path ") {
            // Building takes minutes; the package is there, with the program and the lock file.
            let (package, rest) = install.split_once(' ').unwrap();
            let manifest = fs::read_to_string(root.join(package).join("Cargo.toml")).unwrap();
            assert!(manifest.contains("[[bin]]\nname = \"groundstate\"") && rest == "--locked", "{line}");
            assert!(workspace().join("Cargo.lock").exists());
            continue;
        }
        if line == "cargo test --workspace" {
            // This test is a part of it.
            continue;
        }
        // What is built for tests is the same program.
        let line = match line.strip_prefix(RUN_FROM_SOURCE) {
            Some(arguments) => format!("groundstate {arguments}"),
            None => line,
        };
        let run = shell(&format!("exec 2>&1; {line}")).current_dir(&folder).stdin(Stdio::null()).output();
        let run = Run::of(run.unwrap());
        assert!(is_expected(&line, run.code), "{line}: {}\n{}", run.code, run.stdout);
        if let Some(expected) = expected {
            assert_eq!(run.stdout.trim_end(), expected, "{line}");
        }
        if let Some((_, inside)) = line.split_once(" cd ") {
            folder.push(inside.trim());
        }
        ran += 1;
    }
    ran
}

#[test]
fn every_block_of_the_readme_runs_in_a_clone() {
    let clone = tempfile::tempdir().unwrap();
    copy(&workspace().join("tests/fixtures"), &clone.path().join("tests/fixtures"));
    let package = Path::new("crates/programs/cli");
    fs::create_dir_all(clone.path().join(package)).unwrap();
    fs::create_dir(clone.path().join("target")).unwrap();
    let manifest = package.join("Cargo.toml");
    fs::copy(workspace().join(&manifest), clone.path().join(&manifest)).unwrap();
    assert!(run_all("README.md", clone.path()) > 30);
}

#[test]
fn the_block_of_the_readme_of_the_package_runs() {
    let dir = tempfile::tempdir().unwrap();
    for (from, to) in [
        ("states/webshop-v4-terraform.tfstate", "terraform.tfstate"),
        ("states/webshop-v3.tfstate", "old.tfstate"),
        ("pulumi/states/export-pretty.json", "stack.json"),
    ] {
        fs::copy(workspace().join("tests/fixtures").join(from), dir.path().join(to)).unwrap();
    }
    assert_eq!(run_all("crates/programs/cli/README.md", dir.path()), 8);
}
