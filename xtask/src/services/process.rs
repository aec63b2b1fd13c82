//! Processes that outlive the command that started them.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::outcome::{Failure, Outcome};

/// How long a process may take to end after it was told to.
const PATIENCE: Duration = Duration::from_secs(10);

/// A process, told apart from a later one that got the same number by when it started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) id: u32,
    started: String,
}

impl Process {
    /// Starts a program by itself: no input, output into a log, and no signals from the terminal.
    pub(super) fn spawn(command: &mut Command, log: &Path) -> Outcome<Self> {
        let failed = |error: std::io::Error| {
            let program = command.get_program().to_string_lossy().into_owned();
            Failure::Check(format!("cannot start `{program}`: {error}"))
        };
        let out = File::create(log).map_err(failed)?;
        let errors = out.try_clone().map_err(failed)?;
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let child = command.stdin(Stdio::null()).stdout(out).stderr(errors).spawn();
        let child = child.map_err(|error| {
            let program = command.get_program().to_string_lossy();
            Failure::Check(format!("cannot start `{program}`: {error}"))
        })?;
        // A process that has ended already has no start any more; it will not be found alive either.
        Ok(Self { id: child.id(), started: started(child.id()).unwrap_or_default() })
    }

    /// Reads what [`Process::to_text`] wrote.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        let (id, started) = text.trim().split_once(' ')?;
        Some(Self { id: id.parse().ok()?, started: started.to_owned() })
    }

    pub(super) fn to_text(&self) -> String {
        format!("{} {}", self.id, self.started)
    }

    /// This process itself.
    pub(super) fn current() -> Self {
        let id = std::process::id();
        Self { id, started: started(id).unwrap_or_default() }
    }

    /// Whether it still runs.
    pub(super) fn is_alive(&self) -> bool {
        started(self.id).is_some_and(|started| started == self.started)
    }

    /// Ends it with its children, by force when it does not listen.
    pub(super) fn stop(&self, signal: &str) -> Outcome {
        for signal in [signal, "KILL"] {
            if !self.is_alive() {
                return Ok(());
            }
            // The shell's own `kill` is there even where no package brings one. The process leads a group of its own.
            let line = format!("kill -s {signal} -- -{}", self.id);
            let _sent = Command::new("sh").args(["-c", &line]).stderr(Stdio::null()).status();
            let start = Instant::now();
            while self.is_alive() && start.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        if self.is_alive() {
            return Err(Failure::Check(format!("process {} does not end", self.id)));
        }
        Ok(())
    }
}

/// When a process started, in whatever unit the system tells it; nothing for one that is gone or only waits to be reaped.
fn started(id: u32) -> Option<String> {
    if Path::new("/proc/self/stat").exists() {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name, in parentheses, may hold anything.
        let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?;
        return if state == "Z" || state == "X" { None } else { fields.nth(18).map(str::to_owned) };
    }
    let output = Command::new("ps").args(["-o", "stat=,lstart=", "-p", &id.to_string()]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (state, started) = text.trim().split_once(' ')?;
    if state.starts_with('Z') { None } else { Some(started.trim().to_owned()) }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::Process;
    use std::process::Command;

    fn spawn(line: &str) -> Process {
        let log =
            std::env::temp_dir().join(format!("groundstate-xtask-{}-{}", std::process::id(), line.len()));
        let process = Process::spawn(Command::new("sh").args(["-c", line]), &log).unwrap();
        std::fs::remove_file(log).unwrap();
        process
    }

    #[test]
    fn a_process_is_found_again_by_its_text_and_stopped() {
        let process = spawn("sleep 600");
        let again = Process::from_text(&process.to_text()).unwrap();
        assert_eq!(again, process);
        assert!(again.is_alive());
        again.stop("TERM").unwrap();
        assert!(!process.is_alive());
        again.stop("TERM").unwrap();
    }

    #[test]
    fn a_later_process_of_the_same_number_is_another() {
        let current = Process::current();
        assert!(current.is_alive());
        let earlier = Process::from_text(&format!("{} 1", current.id)).unwrap();
        assert!(!earlier.is_alive());
        earlier.stop("KILL").unwrap();
        assert!(Process::from_text("").is_none() && Process::from_text("x 1").is_none());
    }
}
