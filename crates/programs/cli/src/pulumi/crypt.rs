//! `groundstate encrypt` and `decrypt`: single values, by the secrets manager of a stack.

use std::io::{self, Read, Write};

use groundstate_pulumi_secrets::{Ciphertext, Manager, Plaintext};

use super::secrets;
use crate::args::CryptArgs;
use crate::input::locate::is_standard;
use crate::input::pulumi::{load, snapshot};
use crate::input::state::State;
use crate::report::error::chain;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::output::Output;

/// Encrypts what stands on standard input.
pub(crate) fn encrypt(args: &CryptArgs) -> Result {
    let manager = manager(args)?;
    let value = Plaintext::new(text()?);
    let ciphertext = manager.encrypter().encrypt(&value).map_err(|error| unusable(&error))?;
    let mut out = Output::stdout();
    out.line(ciphertext.as_str())?;
    out.finish()?;
    Ok(Outcome::Clean)
}

/// Decrypts what stands on standard input, and prints it as it is.
pub(crate) fn decrypt(args: &CryptArgs) -> Result {
    let manager = manager(args)?;
    let ciphertext = Ciphertext::new(text()?.trim());
    let value = manager.decrypter().decrypt(&ciphertext).map_err(|error| unusable(&error))?;
    let mut out = Output::stdout();
    out.write_all(value.expose().as_bytes())?;
    out.finish()?;
    Ok(Outcome::Clean)
}

/// The secrets manager of the stack.
fn manager(args: &CryptArgs) -> Result<Manager> {
    if is_standard(&args.state.state) {
        return Err(Failure::new(
            Kind::Usage,
            "standard input is for the value, so the state has to be a file",
        ));
    }
    let source = State::find(&args.state.state)?.pulumi("encrypt` and `decrypt")?;
    let loaded = load(&source)?;
    let stack = loaded.file.stack().map(str::to_owned);
    secrets::manager(&snapshot(&loaded.file), stack)?
        .ok_or_else(|| Failure::new(Kind::Unusable, format!("{} names no secrets provider", source.name)))
}

/// What stands on standard input, without one line break at its end: arguments of a command can be seen by others.
fn text() -> Result<String> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::new(Kind::of_io(&error), format!("cannot read standard input: {error}")))?;
    let mut text = String::from_utf8(bytes)
        .map_err(|_| Failure::new(Kind::Usage, "standard input is not valid UTF-8"))?;
    // As `echo` writes it.
    if text.ends_with('\n') {
        text.pop();
    }
    Ok(text)
}

fn unusable(error: &dyn std::error::Error) -> Failure {
    Failure::new(Kind::Unusable, chain(error))
}
