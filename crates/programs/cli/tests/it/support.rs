//! Starts the command, and finds the states it is run on.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What a run of the command left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().expect("the command ends by itself"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Asserts that the command succeeded and said nothing but its result.
    #[track_caller]
    pub(crate) fn clean(self) -> String {
        assert_eq!((self.code, &*self.stderr), (0, ""), "{}", self.stdout);
        self.stdout
    }

    /// Asserts that the command failed with this code and printed no result.
    #[track_caller]
    pub(crate) fn failed(self, code: i32) -> String {
        assert_eq!((self.code, &*self.stdout), (code, ""), "{}", self.stderr);
        self.stderr
    }
}

/// The command with arguments, in the directory of the example states.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groundstate"));
    command.args(args).current_dir(workspace().join("tests/fixtures/states"));
    without_settings(&mut command);
    command
}

/// A line for the shell, which finds the command by its name.
pub(crate) fn shell(line: &str) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_groundstate"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = program.parent().into_iter().map(Path::to_owned).chain(std::env::split_paths(&path));
    let mut command = Command::new("sh");
    command.args(["-c", line]).env("PATH", std::env::join_paths(folders).unwrap());
    without_settings(&mut command);
    command
}

/// Variables of the user change nothing.
fn without_settings(command: &mut Command) {
    for name in [
        "TF_DATA_DIR",
        "TF_ENCRYPTION",
        "TF_WORKSPACE",
        "NO_COLOR",
        "CLICOLOR_FORCE",
        "COLUMNS",
        "PULUMI_CONFIG_PASSPHRASE",
        "PULUMI_CONFIG_PASSPHRASE_FILE",
        "GROUNDSTATE_CONFIG",
        "GROUNDSTATE_LISTEN",
        "GROUNDSTATE_STORE",
        "GROUNDSTATE_BACKUP_KEEP",
        "GROUNDSTATE_BACKUP_MAX_BYTES",
        "NOTIFY_SOCKET",
    ] {
        command.env_remove(name);
    }
    command.env("XDG_STATE_HOME", state_home().join("xdg"));
    command.env("GROUNDSTATE_STATE_DIR", state_home());
}

/// The directory of this run of the tests for backups of states elsewhere, and for the log.
pub(crate) fn state_home() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("state-home").join(std::process::id().to_string())
}

/// The backups beside a state, newest first.
pub(crate) fn backups(state: &str) -> Vec<PathBuf> {
    let path = Path::new(state);
    let name = path.file_name().unwrap().to_str().unwrap();
    let folder =
        path.with_file_name(format!(".{}.groundstate-backups", name.strip_prefix('.').unwrap_or(name)));
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.file_name().unwrap().to_str().unwrap().starts_with('0'));
    found.sort_by(|a, b| b.cmp(a));
    found
}

/// Runs the command.
pub(crate) fn groundstate(args: &[&str]) -> Run {
    Run::of(command(args).stdin(Stdio::null()).output().unwrap())
}

/// Runs the command with this text on standard input.
pub(crate) fn groundstate_with(args: &[&str], input: &[u8]) -> Run {
    let mut child =
        command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let run = Run::of(child.wait_with_output().unwrap());
    // A command that refuses its input early may leave the rest unread.
    drop(writer.join());
    run
}

/// The root of the workspace.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// The states that real releases wrote, if they are here.
pub(crate) fn shared_fixtures() -> Option<PathBuf> {
    let named = std::env::var_os("GROUNDSTATE_FIXTURES").map(PathBuf::from);
    let above = || {
        let mut parents = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        parents.find_map(|parent| Some(parent.join("shared/fixtures")).filter(|path| path.is_dir()))
    };
    let found = named.or_else(above);
    if found.is_none() {
        eprintln!("not run: shared fixtures not present");
    }
    found
}

/// A file in a directory of its own.
#[derive(Debug)]
pub(crate) struct TempState {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) path: String,
}

/// Writes a state into a temporary directory.
pub(crate) fn state(text: impl AsRef<[u8]>) -> TempState {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("terraform.tfstate");
    fs::write(&path, text).unwrap();
    TempState { path: path.to_str().unwrap().to_owned(), dir }
}

impl TempState {
    /// Replaces the path by `FILE`, so that snapshots do not depend on it.
    pub(crate) fn mask(&self, text: &str) -> String {
        text.replace(&self.path, "FILE")
    }
}

/// A state of format 4 with these resources.
pub(crate) fn with_resources(resources: &str) -> String {
    format!(
        "{{\"version\": 4, \"terraform_version\": \"1.11.4\", \"serial\": 1, \"lineage\": \"l\", \
         \"outputs\": {{}}, \"resources\": [{resources}]}}"
    )
}

/// A resource of format 4 with these instances.
pub(crate) fn resource(kind: &str, name: &str, instances: &str) -> String {
    format!(
        "{{\"mode\": \"managed\", \"type\": \"{kind}\", \"name\": \"{name}\", \
         \"provider\": \"provider[\\\"registry.terraform.io/hashicorp/test\\\"]\", \"instances\": [{instances}]}}"
    )
}
