//! The passphrase of a stack: from the environment, a file, or a prompt.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use groundstate_pulumi_secrets::Passphrase;
use groundstate_pulumi_secrets::passphrase::{
    Answer, GivenPassphrase, PassphraseRequest, PassphraseSource, PassphraseSourceError, Purpose, choose,
};

use crate::report::error::{Failure, Kind, Result, chain};

/// Passphrases as Pulumi finds them: a variable, a file, a question.
pub(super) fn source() -> GivenPassphrase {
    #[cfg(unix)]
    if terminal::is_there() {
        return given().with_prompt(terminal::Prompt);
    }
    given()
}

/// Passphrases that are there without a question: a variable, a file.
pub(super) fn given() -> GivenPassphrase {
    let variable = std::env::var_os("PULUMI_CONFIG_PASSPHRASE").map(bytes);
    let mut source = GivenPassphrase::new().with_variable(variable);
    if let Some(path) = std::env::var_os("PULUMI_CONFIG_PASSPHRASE_FILE").filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        source = source.with_file(move || Ok(crate::input::paths::read(&path)?));
    }
    source
}

/// The passphrase of a new salt: from this file, or as Pulumi finds it. To replace another one it is asked for, or it is a line of
/// standard input.
pub(super) fn new(file: Option<&Path>, purpose: Purpose) -> Result<Passphrase> {
    if let Some(path) = file {
        let contents = crate::input::paths::read(path).map_err(|error| Failure::unreadable(path, &error))?;
        return Ok(Passphrase::from_file_contents(contents));
    }
    let asked = match purpose {
        Purpose::Rotate => rotated(),
        _ => source(),
    };
    choose(purpose, &asked).map_err(|error| {
        let failure = Failure::new(Kind::Usage, format!("there is no new passphrase: {}", chain(&error)));
        failure.hint("`--new-passphrase-file FILE` names the file with the new passphrase")
    })
}

fn rotated() -> GivenPassphrase {
    #[cfg(unix)]
    if terminal::is_there() {
        return GivenPassphrase::new().with_prompt(terminal::Prompt);
    }
    GivenPassphrase::new().with_prompt(Line)
}

/// A line of standard input, as Pulumi takes a new passphrase where no terminal is.
#[derive(Debug)]
struct Line;

impl PassphraseSource for Line {
    fn passphrase(&self, _: &PassphraseRequest<'_>) -> Result<Answer, PassphraseSourceError> {
        let mut line = Vec::new();
        let read = std::io::stdin().lock().read_until(b'\n', &mut line);
        while line.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            line.pop();
        }
        match read {
            Ok(0) => Err(PassphraseSourceError::Prompt("standard input has no line".into())),
            Ok(_) => Ok(Answer { passphrase: Passphrase::new(line), interactive: false }),
            Err(error) => Err(PassphraseSourceError::Prompt(Box::new(error))),
        }
    }
}

/// The passphrase in a file, and no other.
pub(super) fn of_file(path: &Path) -> GivenPassphrase {
    let path = path.to_owned();
    GivenPassphrase::new().with_file(move || Ok(crate::input::paths::read(&path)?))
}

#[cfg(unix)]
fn bytes(value: std::ffi::OsString) -> Vec<u8> {
    std::os::unix::ffi::OsStringExt::into_vec(value)
}

#[cfg(not(unix))]
fn bytes(value: std::ffi::OsString) -> Vec<u8> {
    value.to_string_lossy().into_owned().into_bytes()
}

/// Questions at the terminal, whose answers are not shown.
#[cfg(unix)]
mod terminal {
    use std::fs::{File, OpenOptions};
    use std::io::{self, BufRead, BufReader, IsTerminal, Write};

    use groundstate_common::one_line;
    use groundstate_pulumi_secrets::Passphrase;
    use groundstate_pulumi_secrets::passphrase::{
        Answer, PassphraseRequest, PassphraseSource, PassphraseSourceError,
    };
    use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};

    /// Whether a terminal is there to ask at.
    pub(super) fn is_there() -> bool {
        io::stderr().is_terminal() && File::open("/dev/tty").is_ok()
    }

    #[derive(Debug)]
    pub(super) struct Prompt;

    impl PassphraseSource for Prompt {
        fn passphrase(&self, request: &PassphraseRequest<'_>) -> Result<Answer, PassphraseSourceError> {
            match ask(request) {
                Ok(passphrase) => Ok(Answer { passphrase, interactive: true }),
                Err(error) => Err(PassphraseSourceError::Prompt(Box::new(error))),
            }
        }
    }

    fn ask(request: &PassphraseRequest<'_>) -> io::Result<Passphrase> {
        let mut terminal = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        if let Some(complaint) = request.complaint() {
            writeln!(terminal, "{complaint}")?;
        }
        // The name of the stack comes from the file.
        let stack = request.stack.map(one_line);
        let mut question = *request;
        question.stack = stack.as_deref();
        write!(terminal, "{}: ", question.prompt())?;
        terminal.flush()?;
        let hidden = Hidden::on(&terminal)?;
        let mut line = Vec::new();
        let read = BufReader::new(&terminal).read_until(b'\n', &mut line);
        drop(hidden);
        writeln!(terminal)?;
        if read? == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "there was no answer"));
        }
        while line.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            line.pop();
        }
        Ok(Passphrase::new(line))
    }

    /// While this lives, the terminal does not show what is typed.
    struct Hidden<'t> {
        terminal: &'t File,
        before: Termios,
    }

    impl<'t> Hidden<'t> {
        fn on(terminal: &'t File) -> io::Result<Self> {
            let before = tcgetattr(terminal)?;
            let mut hidden = before.clone();
            hidden.local_flags.remove(LocalFlags::ECHO);
            tcsetattr(terminal, SetArg::TCSAFLUSH, &hidden)?;
            Ok(Self { terminal, before })
        }
    }

    impl Drop for Hidden<'_> {
        fn drop(&mut self) {
            // A failure here has nowhere to be reported.
            let _ = tcsetattr(self.terminal, SetArg::TCSAFLUSH, &self.before);
        }
    }
}
