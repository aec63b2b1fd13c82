//! `groundstate help`: the help of a command, by the words that lead to it.

use std::ffi::OsString;
use std::io::Write;

use clap::error::ErrorKind;

use crate::args::{HelpArgs, answer, grammar};
use crate::commands::habit;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::output::Output;

pub(super) fn run(args: HelpArgs) -> Result {
    let line = [OsString::from("groundstate")].into_iter().chain(args.words.iter().cloned());
    let parsed = grammar().try_get_matches_from(line.chain([OsString::from("--help")]));
    let Err(error) = parsed else {
        // `--` makes a value of `--help`.
        return Err(Failure::new(Kind::Usage, "`help` takes the name of a command"));
    };
    if error.kind() != ErrorKind::DisplayHelp {
        return Err(answer(&args.words).map_or_else(|| error.exit(), habit));
    }
    let mut out = Output::stdout();
    let text = error.render();
    match out.paint().0 {
        true => write!(out, "{}", text.ansi())?,
        false => write!(out, "{text}")?,
    }
    out.finish()?;
    Ok(Outcome::Clean)
}
