//! Asks before resources vanish from a state, or a stack or its copies are removed.

use groundstate_common::shortened;

use crate::report::error::{Failure, Kind, Result};
use crate::report::text::count;
use crate::session::interrupt::Interrupts;

/// Lines that are shown, at most.
const MOST_NAMED: usize = 50;

/// Characters of a line that are shown, at most.
const MAX_SHOWN: usize = 300;

/// A loss that the user has to agree to.
#[derive(Debug)]
pub(crate) struct Loss<'a> {
    /// What would be lost.
    pub(crate) message: &'a str,
    /// What belongs to the message, a line each.
    pub(crate) lines: Vec<String>,
    /// The question at the terminal.
    pub(crate) question: &'a str,
    /// The options that show and accept it.
    pub(crate) hint: &'a str,
}

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
    let loss = Loss {
        message: &format!("{objects} would vanish from {name}"),
        lines: vanishing.iter().map(|line| format!("- {line}")).collect(),
        question: "Store it nevertheless?",
        hint: "`--dry-run` shows the whole difference; `--yes` stores it",
    };
    confirm(loss, interrupts).await
}

/// Asks at the terminal; without one nothing is lost.
pub(crate) async fn confirm(loss: Loss<'_>, interrupts: &Interrupts) -> Result<()> {
    let all = loss.lines.len();
    let mut lines: Vec<String> = loss.lines;
    lines.truncate(MOST_NAMED);
    lines.iter_mut().for_each(|line| *line = shortened(line, MAX_SHOWN).into_owned());
    if all > MOST_NAMED {
        lines.push(format!("and {} more", all - MOST_NAMED));
    }
    #[cfg(unix)]
    if terminal::is_there() {
        let message = format!("{}:", loss.message);
        return terminal::ask(&message, &lines, (loss.question, loss.hint), interrupts).await;
    }
    #[cfg(not(unix))]
    let _ = interrupts;
    let message = format!("{}, so nothing was written:", loss.message);
    Err(Failure::new(Kind::Loss, message).details(lines).hint(loss.hint))
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
        message: &str,
        lines: &[String],
        (question, hint): (&str, &str),
        interrupts: &Interrupts,
    ) -> Result<()> {
        let mut messages = Messages::stderr();
        messages.warning_about(message, lines);
        drop(messages);
        let (sender, answer) = oneshot::channel();
        // A thread of its own: a read that never ends does not keep the command from ending.
        let question = question.to_owned();
        let reading = std::thread::Builder::new().name("question".to_owned()).spawn(move || {
            // If a signal ends the question, nothing waits for the answer.
            drop(sender.send(read(&question)));
        });
        let unread = |error: &io::Error| {
            let message = format!("cannot ask at the terminal: {error}");
            Failure::new(Kind::Loss, message).hint(format!("nothing was written; {hint}"))
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

    fn read(question: &str) -> io::Result<String> {
        let mut terminal = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        write!(terminal, "{question} Only `yes` does: ")?;
        terminal.flush()?;
        let mut line = String::new();
        BufReader::new(&terminal).read_line(&mut line)?;
        Ok(line)
    }
}
