//! Pulumi deployments and checkpoints: what the commands do with them.

mod change;
mod check;
mod crypt;
mod diff;
mod graph;
mod list;
mod locate;
mod outputs;
mod passphrase;
mod secrets;
pub(crate) mod select;
mod show;
mod shown;
mod upgrade;

pub(crate) use change::{flag, is_to_undo, mv, pending, repair, rm, undo};
pub(crate) use check::check;
pub(crate) use crypt::{decrypt, encrypt};
pub(crate) use diff::diff;
pub(crate) use graph::graph;
pub(crate) use list::list;
pub(crate) use outputs::outputs;
pub(crate) use show::show;
pub(crate) use upgrade::upgrade;

use std::fs;
use std::path::Path;

use crate::input::family::Family;
use crate::input::source::Source;
use crate::report::error::{Failure, Kind, Result};

/// Whose state is at a place that is about to be changed. What cannot be read is judged later.
pub(crate) fn is_at(state: &Path) -> bool {
    let is_file = fs::metadata(state).is_ok_and(|metadata| metadata.is_file());
    is_file && Source::beside(state).is_ok_and(|source| source.family == Family::Pulumi)
}

/// Refuses to do with Pulumi state what only Terraform's has.
pub(crate) fn not_here(state: &Path, command: &str, hint: &str) -> Result<()> {
    if !is_at(state) {
        return Ok(());
    }
    Err(not_theirs(&state.display().to_string(), command, hint))
}

/// That a state is Pulumi's where one of Terraform is needed.
pub(crate) fn not_theirs(name: &str, command: &str, hint: &str) -> Failure {
    let message = format!("{name} is Pulumi's, and `{command}` is for states of Terraform");
    Failure::new(Kind::Usage, message).hint(hint)
}

/// Refuses to do with other states what only Pulumi's has.
pub(crate) fn only_here(state: &Path, command: &str) -> Result<()> {
    match Source::find(state) {
        Ok(source) => only_pulumi(&source, command),
        Err(failure) => Err(failure),
    }
}

fn only_pulumi(source: &Source, command: &str) -> Result<()> {
    if source.family == Family::Pulumi {
        return Ok(());
    }
    // An empty or unknown file gets an error of its own.
    crate::input::terraform::load(source)?;
    let message = format!("{} is not Pulumi's, and `{command}` is for nothing else", source.name);
    Err(Failure::new(Kind::Usage, message))
}
