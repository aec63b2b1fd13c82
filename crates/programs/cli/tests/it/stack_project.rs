//! A Pulumi project with its bucket, as the real pulumi left both.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::support::{Run, command, workspace};

/// A copy of a project with its bucket, as pulumi left both.
#[derive(Debug)]
pub(crate) struct Project(tempfile::TempDir);

impl Project {
    pub(crate) fn of(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy(&workspace().join("tests/fixtures/pulumi-diy").join(name), folder.path());
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn url(&self) -> String {
        format!("pulumi+file://{}/bucket", self.path().display())
    }

    pub(crate) fn stack(&self) -> String {
        format!("{}#organization/shop/dev", self.url())
    }

    /// Runs the command in the project, where the stack is selected.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        Run::of(self.command(args).output().unwrap())
    }

    /// The command in the project, where the stack is selected.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = command(args);
        self.select(&mut command);
        command
    }

    /// Has a command run in the project, where the stack is selected.
    pub(crate) fn select(&self, command: &mut Command) {
        command.current_dir(self.path()).env("PULUMI_HOME", self.path().join("home"));
        command.env("PULUMI_BACKEND_URL", format!("file://{}/bucket", self.path().display()));
        command.env("PULUMI_STACK", "dev").stdin(Stdio::null());
    }

    /// Where the backend keeps its objects.
    pub(crate) fn bucket(&self) -> PathBuf {
        self.path().join("bucket/.pulumi")
    }

    /// The locks of a stack, by the names of their files.
    pub(crate) fn locks(&self, stack: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.bucket().join("locks/organization/shop").join(stack)) else {
            return Vec::new();
        };
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| !name.ends_with(".attrs")).collect()
    }

    /// The names of the files of the stack, without descriptions.
    pub(crate) fn files(&self) -> Vec<String> {
        let stacks = self.path().join("bucket/.pulumi/stacks/shop");
        let names =
            fs::read_dir(stacks).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| !name.ends_with(".attrs")).collect();
        names.sort();
        names
    }

    pub(crate) fn stored(&self, name: &str) -> Vec<u8> {
        fs::read(self.path().join("bucket/.pulumi/stacks/shop").join(name)).unwrap()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}
