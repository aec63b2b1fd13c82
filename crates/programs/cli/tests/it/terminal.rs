//! The command at a terminal: what is shown while it works, and the question before objects vanish.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{TryRecvError, channel};
use std::time::Duration;

use nix::pty::openpty;

use super::support::{command, groundstate, resource, state, with_resources};

/// The command at a terminal of its own.
pub(crate) struct Session {
    pub(crate) terminal: File,
    child: std::process::Child,
    /// All that was shown so far.
    pub(crate) shown: String,
}

impl Session {
    /// Starts the command, with other input than the terminal if there is some. Otherwise `setsid` makes the terminal that of the
    /// session, which a question is asked at.
    pub(crate) fn start(args: &[&str], stdin: Option<Stdio>) -> Self {
        let pair = openpty(None, None).unwrap();
        let inner = File::from(pair.slave);
        let (program, is_terminal) = (command(args), stdin.is_none());
        let mut child = Command::new("setsid");
        child
            .args(is_terminal.then_some("--ctty"))
            .arg("--wait")
            .arg(program.get_program())
            .args(program.get_args());
        child.env("TERM", "xterm");
        child.stdin(stdin.unwrap_or_else(|| inner.try_clone().unwrap().into()));
        let child = child.stdout(inner.try_clone().unwrap()).stderr(inner).spawn().unwrap();
        Self { terminal: File::from(pair.master), child, shown: String::new() }
    }

    /// Reads until this is shown; false if the command ends before.
    pub(crate) fn until(&mut self, text: &str) -> bool {
        let mut buffer = [0; 4096];
        while !self.shown.contains(text) {
            // When the last process has left the terminal, reading fails.
            match self.terminal.read(&mut buffer) {
                Ok(count) if count > 0 => {
                    self.shown.push_str(&String::from_utf8_lossy(buffer.get(..count).unwrap_or_default()));
                }
                _ => return false,
            }
        }
        true
    }

    /// Waits for the end.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        // Nothing shows this.
        assert!(!self.until("\u{0}"));
        (self.child.wait().unwrap().code(), self.shown)
    }
}

#[test]
fn objects_vanish_only_after_yes_at_the_terminal() {
    let both = [resource("t_a", "one", "{}"), resource("t_a", "two", "{}")].join(",");
    let fewer = with_resources(&resource("t_a", "one", "{}")).replace("\"serial\": 1", "\"serial\": 2");
    let other = state(fewer);
    for (answer, code, left) in
        [("no", 6, "t_a.one\nt_a.two\n"), ("", 6, "t_a.one\nt_a.two\n"), ("yes", 0, "t_a.one\n")]
    {
        let file = state(with_resources(&both));
        let mut session = Session::start(&["push", &file.path, &other.path], None);
        assert!(session.until("Only `yes` does: "), "{}", session.shown);
        assert!(session.shown.contains("1 object would vanish") && session.shown.contains("- t_a.two"));
        assert_eq!(groundstate(&["list", &file.path]).clean(), "t_a.one\nt_a.two\n");
        session.terminal.write_all(format!("{answer}\n").as_bytes()).unwrap();
        let (ended, shown) = session.end();
        assert_eq!(ended, Some(code), "{answer}: {shown}");
        assert_eq!(groundstate(&["list", &file.path]).clean(), left, "{answer}");
    }
}

/// A state comes by a pipe that stays open until the command has shown that it reads.
#[test]
fn a_terminal_shows_that_a_slow_pipe_is_read() {
    let mut session = Session::start(&["list", "-"], Some(Stdio::piped()));
    let mut input = session.child.stdin.take().unwrap();
    let text = with_resources(&resource("t_a", "one", "{}"));
    let (shown, waiting) = channel::<()>();
    let feeding = std::thread::spawn(move || {
        // White space before a document means nothing, so the command reads on.
        while waiting.try_recv() == Err(TryRecvError::Empty) && input.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(input.write_all(text.as_bytes()));
    });
    assert!(session.until("reading "), "{}", session.shown);
    drop(shown);
    feeding.join().unwrap();
    let (code, shown) = session.end();
    assert!(code == Some(0) && shown.ends_with("t_a.one\r\n"), "{shown}");
}

/// States are made larger until checking one takes its time.
#[test]
fn a_terminal_shows_that_work_is_under_way() {
    for size in [20_000, 80_000, 320_000] {
        let resources: Vec<String> =
            (0..size).map(|number| resource("t_a", &format!("n{number}"), r#"{"attributes": {}}"#)).collect();
        let file = state(with_resources(&resources.join(",")));
        let (code, shown) = Session::start(&["check", &file.path], None).end();
        assert!(code.is_some_and(|code| code <= 1), "{shown}");
        if shown.contains("checking ") {
            // It is wiped out at the end.
            let (_, after) = shown.rsplit_once("checking ").unwrap();
            assert!(after.contains("\u{1b}[2K"), "{shown:?}");
            return;
        }
    }
    panic!("320,000 resources are checked within a second");
}
