//! `groundstate check`: what is wrong with states.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::args::CheckArgs;
use crate::input::locate::is_standard;
use crate::input::state::State;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::findings::{Checked, json, print};
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::{pulumi, terraform};

pub(super) fn run(args: &CheckArgs) -> Result {
    if args.states.iter().filter(|state| is_standard(state)).count() > 1 {
        return Err(Failure::new(Kind::Usage, "standard input can be only one of the states"));
    }
    let mut out = Output::stdout();
    let mut outcome = Outcome::Clean;
    let mut checked = Vec::new();
    for state in &args.states {
        match check(state, args, &mut out) {
            Ok(file) => {
                if !file.findings.is_empty() {
                    outcome = outcome.and(Kind::Findings);
                }
                checked.extend(args.json.then_some(file));
            }
            // One file that cannot be read is no reason to leave the others unchecked.
            Err(failure) if !failure.quiet => {
                out.flush()?;
                Messages::stderr().failure(&failure);
                outcome = outcome.and(failure.kind);
            }
            Err(failure) => return Err(failure),
        }
    }
    if args.json {
        out.json(&json(&checked))?;
    }
    out.finish()?;
    Ok(outcome)
}

/// Checks one state and prints what was found, unless it goes into a document with all others.
fn check(state: &Path, args: &CheckArgs, out: &mut Output) -> Result<Checked> {
    let all: Vec<&Path> = args.states.iter().map(PathBuf::as_path).collect();
    let state = State::among(state, &all)?;
    let text = state.source().text()?;
    let checked = match &state {
        State::Terraform(state) => terraform::check::check(&state.name, &text),
        State::Pulumi(state) => pulumi::check(&state.name, &text),
    };
    if !args.json {
        print(&checked, &text, out)?;
    }
    Ok(checked)
}
