//! Asks before resources vanish from a state.

use groundstate_common::shortened;

use crate::report::error::{Failure, Kind, Result};
use crate::report::text::count;
use crate::session::interrupt::Interrupts;

/// Addresses that are named, at most.
const MOST_NAMED: usize = 50;

/// Characters of an address that are shown, at most.
const MAX_SHOWN: usize = 300;

/// Makes sure that resources may vanish from a state: by `--yes`, or by an answer at the terminal.
pub(crate) async fn consent(
    name: &str,
    vanishing: &[String],
    yes: bool,
    interrupts: &Interrupts,
) -> Result<()> {
    if yes || vanishing.is_empty() {
        return Ok(());
    }
    let objects = count(vanishing.len(), "object");
    let mut lines: Vec<String> =
        vanishing.iter().take(MOST_NAMED).map(|line| format!("- {}", shortened(line, MAX_SHOWN))).collect();
    if vanishing.len() > MOST_NAMED {
        lines.push(format!("and {} more", vanishing.len() - MOST_NAMED));
    }
    #[cfg(unix)]
    if terminal::is_there() {
        return terminal::ask(name, &objects, lines, interrupts).await;
    }
    #[cfg(not(unix))]
    let _ = interrupts;
    let message = format!("{objects} would vanish from {name}, so nothing was written:");
    Err(Failure::new(Kind::Loss, message)
        .details(lines)
        .hint("`--dry-run` shows the whole difference; `--yes` stores it"))
}

#[cfg(unix)]
mod terminal {
    use std::fs::OpenOptions;
    use std::io::{self, BufRead, BufReader, IsTerminal, Write};

    use tokio::sync::oneshot;

    use crate::report::error::{Failure, Kind, Result};
    use crate::report::messages::Messages;
    use crate::session::interrupt::Interrupts;

    /// Whether a terminal is there to ask at.
    pub(super) fn is_there() -> bool {
        io::stderr().is_terminal() && OpenOptions::new().read(true).write(true).open("/dev/tty").is_ok()
    }

    /// Asks, until there is an answer or a signal.
    pub(super) async fn ask(
        name: &str,
        objects: &str,
        lines: Vec<String>,
        interrupts: &Interrupts,
    ) -> Result<()> {
        let mut messages = Messages::stderr();
        messages.warning_about(&format!("{objects} would vanish from {name}:"), &lines);
        drop(messages);
        let (sender, answer) = oneshot::channel();
        // A thread of its own: a read that never ends does not keep the command from ending.
        let reading = std::thread::Builder::new().name("question".to_owned()).spawn(move || {
            // If a signal ends the question, nothing waits for the answer.
            drop(sender.send(read()));
        });
        let unread = |error: &io::Error| {
            let message = format!("cannot ask at the terminal: {error}");
            Failure::new(Kind::Loss, message).hint("nothing was written; `--yes` stores it")
        };
        reading.map_err(|error| unread(&error))?;
        let answer = tokio::select! {
            answer = answer => answer.unwrap_or_else(|error| Err(io::Error::other(error))),
            interrupted = interrupts.wait() => return Err(interrupted),
        };
        match answer.map_err(|error| unread(&error))?.trim() {
            "yes" | "y" => Ok(()),
            _ => Err(Failure::new(Kind::Loss, "the answer was not `yes`, so nothing was written")),
        }
    }

    fn read() -> io::Result<String> {
        let mut terminal = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        write!(terminal, "Store it nevertheless? Only `yes` does: ")?;
        terminal.flush()?;
        let mut line = String::new();
        BufReader::new(&terminal).read_line(&mut line)?;
        Ok(line)
    }
}
