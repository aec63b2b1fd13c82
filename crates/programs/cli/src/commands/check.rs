//! `groundstate check`: what is wrong with states.

use std::io::Write;
use std::path::{Path, PathBuf};

use groundstate_common::Severity;

use crate::args::{CheckArgs, CheckFormat};
use crate::input::foreign;
use crate::input::ignored::Ignored;
use crate::input::locate::is_standard;
use crate::input::state::State;
use crate::report::clipped::Clipped;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::findings::{Checked, json, print};
use crate::report::junit::junit;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::report::progress::working;
use crate::report::sarif::sarif;
use crate::{pulumi, terraform};

pub(super) fn run(args: &CheckArgs) -> Result {
    if args.states.iter().filter(|state| is_standard(state)).count() > 1 {
        return Err(Failure::new(Kind::Usage, "standard input can be only one of the states"));
    }
    let mut out = Output::stdout();
    let mut outcome = Outcome::Clean;
    let mut checked = Vec::new();
    let mut failures = Vec::new();
    let format = if args.json { CheckFormat::Json } else { args.format };
    let fail_on = Severity::from(args.fail_on);
    for state in &args.states {
        match check(state, args, format, &mut out) {
            Ok(file) => {
                if file.has(fail_on) {
                    outcome = outcome.and(Kind::Findings);
                }
                checked.extend((format != CheckFormat::Text).then_some(file));
            }
            // One file that cannot be read is no reason to leave the others unchecked.
            Err(failure) if !failure.quiet => {
                out.flush()?;
                Messages::stderr().failure(&failure);
                outcome = outcome.and(failure.kind);
                failures.push((state.display().to_string(), failure));
            }
            Err(failure) => return Err(failure),
        }
    }
    match format {
        CheckFormat::Text => {}
        CheckFormat::Json => out.json(&json(&checked))?,
        CheckFormat::Sarif => out.json(&sarif(&checked, &failures))?,
        CheckFormat::Junit => out.write_all(junit(&checked, &failures, fail_on).as_bytes())?,
    }
    out.finish()?;
    Ok(outcome)
}

/// Checks one state and prints what was found, unless it goes into a document with all others.
fn check(state: &Path, args: &CheckArgs, format: CheckFormat, out: &mut Output) -> Result<Checked> {
    let ignored = Ignored::of(state, &args.ignored)?;
    let all: Vec<&Path> = args.states.iter().map(PathBuf::as_path).collect();
    let argument = state;
    let state = State::among(argument, &all)?;
    let (mut checked, text) = match &state {
        State::Terraform(state) => {
            let text = state.text()?;
            let name = &state.name;
            let known = foreign::recognise(name, &text).or_else(|| foreign::backend_record(name, &text));
            if let Some(failure) = known {
                return Err(failure);
            }
            let _working = working("checking");
            (terraform::check::check(&state.name, &text), Clipped::whole(text))
        }
        State::Pulumi(state) => pulumi::check(state, pulumi::ConfiguredKey::of(argument)?.as_ref())?,
    };
    checked.findings.extend(pulumi::leftovers::of_stack(argument)?);
    checked.ignore(|finding| ignored.by(finding.code.as_deref(), finding.severity == Severity::Error));
    if format == CheckFormat::Text {
        print(&checked, &text, out)?;
    }
    Ok(checked)
}
