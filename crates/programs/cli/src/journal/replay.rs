//! `groundstate journal replay`: the deployment that a base and entries stand for.

use std::path::Path;

use super::input::Journal;
use super::outcome::Led;
use crate::args::ReplayArgs;
use crate::input::locate::is_standard;
use crate::report::error::Result;
use crate::report::output::Output;
use crate::session::save;

/// Writes the deployment.
pub(super) fn run(args: &ReplayArgs) -> Result {
    let journal = Journal::read(&args.entries)?;
    let led = Led::to(&journal, "journal replay")?;
    write(&led.text(&journal.name)?, args.output.as_deref())?;
    Ok(led.report(&journal.name))
}

/// Writes to a file, or to standard output.
pub(super) fn write(text: &[u8], output: Option<&Path>) -> Result<()> {
    match output.filter(|path| !is_standard(path)) {
        Some(path) => save::replace(path, None, |out| out.write_all(text)),
        None => {
            let mut out = Output::stdout();
            out.document(text)?;
            Ok(out.finish()?)
        }
    }
}
