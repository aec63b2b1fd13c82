//! `groundstate diff`: what differs in meaning between two states of one family.

use crate::args::DiffArgs;
use crate::input::locate::is_standard;
use crate::input::state::State;
use crate::input::terraform::{TerraformState, load};
use crate::report::differences::{members, text};
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::json::Json;
use crate::report::output::Output;
use crate::{pulumi, terraform};

pub(super) fn run(args: &DiffArgs) -> Result {
    let found = match states(args)? {
        (State::Terraform(before), State::Terraform(after)) => {
            terraform::diff::diff(&before, &after, args.reveal)?
        }
        (State::Pulumi(before), State::Pulumi(after)) => pulumi::diff(args, &before, &after)?,
        (State::Pulumi(pulumi), State::Terraform(other))
        | (State::Terraform(other), State::Pulumi(pulumi)) => {
            return Err(mixed(&pulumi.name, &other));
        }
    };
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            members(json, &found);
        }))?
    } else {
        text(&found, &mut out)?
    }
    out.finish()?;
    Ok(if found.is_empty() { Outcome::Clean } else { Outcome::Found(Kind::Findings) })
}

/// The two states, or the snapshots of one.
fn states(args: &DiffArgs) -> Result<(State, State)> {
    match (&args.after, args.at.as_slice()) {
        (Some(after), _) if is_standard(&args.before) && is_standard(after) => {
            Err(Failure::new(Kind::Usage, "standard input can be only one of the two states"))
        }
        (Some(after), _) => {
            let both = [args.before.as_path(), after.as_path()];
            Ok((State::among(&args.before, &both)?, State::among(after, &both)?))
        }
        (None, [from]) => Ok((State::at(&args.before, Some(from))?, State::find(&args.before)?)),
        (None, [from, to]) => Ok((State::at(&args.before, Some(from))?, State::at(&args.before, Some(to))?)),
        (None, _) => Err(Failure::new(Kind::Usage, "give `--at` once for each state to compare")),
    }
}

fn mixed(pulumi: &str, other: &TerraformState) -> Failure {
    // An empty or unknown file gets an error of its own.
    if let Err(failure) = load(other) {
        return failure;
    }
    let message = format!("{pulumi} is Pulumi's, and {} is not: they have nothing to compare", other.name);
    Failure::new(Kind::Usage, message)
}
