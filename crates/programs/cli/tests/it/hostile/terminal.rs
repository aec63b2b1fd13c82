//! The command on a terminal.

use std::fs::File;
use std::io::Read;
use std::process::Stdio;
use std::thread;

use crate::support::command;

/// What the command prints when standard output and standard error are a terminal.
pub(crate) fn on_terminal(args: &[&str]) -> String {
    let pair = nix::pty::openpty(None, None).unwrap();
    let mut command = command(args);
    let slave = File::from(pair.slave);
    command.stdin(Stdio::null());
    command.stdout(slave.try_clone().unwrap()).stderr(slave);
    let mut child = command.env("NO_COLOR", "1").spawn().unwrap();
    // Else the terminal would have no end.
    drop(command);
    let mut master = File::from(pair.master);
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        // Linux says with an error that the last handle of the other side is closed.
        let _end = master.read_to_end(&mut bytes);
        bytes
    });
    child.wait().unwrap();
    // Terminals begin lines by themselves.
    String::from_utf8(reader.join().unwrap()).unwrap().replace("\r\n", "\n")
}
