//! Other processes: this very program, started again with a role to play.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use groundstate_statemgr_fs::{FsOptions, Publish};

use crate::support::{Calls, open};
use crate::{counting, kills};

const ROLE: &str = "GROUNDSTATE_FS_TEST_ROLE";
const STATE: &str = "GROUNDSTATE_FS_TEST_STATE";
const READY: &str = "ready to go";

/// A running process that plays a role on a state.
pub(crate) struct Player {
    child: Child,
    /// Closing it tells the process to come to an end.
    input: Option<ChildStdin>,
    /// Read up to where the process said that it is ready. Closed, it would end a process that says more.
    output: BufReader<ChildStdout>,
}

/// The command that plays `role` on the state at `path`.
pub(crate) fn command(role: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child::plays_the_role_it_is_given", "--nocapture", "--test-threads=1"]);
    command.env(ROLE, role).env(STATE, path);
    command
}

impl Player {
    /// Starts it without waiting for anything.
    pub(crate) fn start(role: &str, path: &Path) -> Self {
        let mut command = command(role, path);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        Self { child, input, output: BufReader::new(output) }
    }

    /// Waits until it says that it is ready.
    pub(crate) fn ready(mut self) -> Self {
        let mut line = String::new();
        while !line.contains(READY) {
            line.clear();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the other process ended early");
        }
        self
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills it, and waits until it is gone.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Tells it to come to an end, and waits for a good one.
    pub(crate) fn finish(mut self) {
        drop(self.input.take());
        let mut said = String::new();
        self.output.read_to_string(&mut said).unwrap();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "the other process failed: {status}\n{said}");
    }
}

/// Says that whatever the role is about has begun.
pub(crate) fn say_ready() {
    println!("{READY}");
}

/// Waits until the parent wants an end.
pub(crate) fn wait_for_the_end() {
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

fn play(role: &str, path: &Path) -> Result<(), String> {
    match role {
        "hold the lock" => {
            let store = Calls(open(path, FsOptions::new()));
            let grant = store.lock().map_err(|error| error.to_string())?;
            say_ready();
            wait_for_the_end();
            store.unlock(&grant).map_err(|error| error.to_string())
        }
        "write for ever" => kills::write_for_ever(path, Publish::InPlace),
        "back up for ever" => kills::back_up_for_ever(path),
        "replace for ever" => kills::write_for_ever(path, Publish::Rename),
        "count up" => counting::count_up(path),
        "write once" => kills::write_once(path),
        _ => Err(format!("there is no role {role:?}")),
    }
}

#[test]
fn plays_the_role_it_is_given() {
    match (std::env::var(ROLE), std::env::var_os(STATE)) {
        (Ok(role), Some(path)) => play(&role, Path::new(&path)).unwrap(),
        _ => assert!(play("no role", Path::new("nowhere")).is_err()),
    }
}
