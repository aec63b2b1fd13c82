//! `groundstate merge-errored`: what an apply could not store, into the stored state.

use std::path::Path;

use groundstate_state_edit::{MergeBase, MergeError, merge_errored};
use groundstate_statefile::{DecodeOptions, File, decode};
use groundstate_statemgr::HistoryEntry;

use super::replace::{Replacement, replace};
use super::undo::kept;
use crate::args::MergeErroredArgs;
use crate::input::encryption;
use crate::input::history::StateHistory;
use crate::input::location::StateLocation;
use crate::input::state::State;
use crate::input::terraform::{TerraformState, load};
use crate::report::error::{Failure, Kind, Result};
use crate::report::messages::Messages;
use crate::session::generations::Generations;
use crate::session::managed_state::backups;

/// Merges `errored` into what is stored.
pub(crate) fn run(args: &MergeErroredArgs, errored: &TerraformState, found: StateLocation) -> Result {
    let errored = load(errored)?.file;
    let given = args.base.as_deref().map(file).transpose()?;
    let known = match given {
        Some(_) => Vec::new(),
        None => bases(&found, &errored)?,
    };
    let how = Replacement {
        args: &args.change,
        yes: args.consent.yes,
        operation: "state-merge-errored",
        source: &args.errored,
        restored: None,
        force: false,
        over_encrypted: false,
        checked: false,
        expected: None,
    };
    replace(found, &how, |stored| {
        let nothing =
            || Failure::new(Kind::NoState, "no state is stored there").hint("use `groundstate push`");
        let base = given.as_ref().map_or(MergeBase::Detect(&known), MergeBase::Given);
        let merged = merge_errored(stored.ok_or_else(nothing)?, &errored, base).map_err(refused)?;
        let mut messages = Messages::stderr();
        for dangling in &merged.dangling {
            messages.warning(&format!(
                "{} depends on {}, which is not in the merged state",
                dangling.instance, dangling.dependency
            ));
        }
        Ok(merged.file)
    })
}

/// How many snapshots of a history are read to find the base.
const MAX_SNAPSHOTS: usize = 50;

/// States that both sides may come from: backups of the stored state, files beside it, and what the place has kept. One that
/// cannot be read is none that could help.
fn bases(found: &StateLocation, errored: &File) -> Result<Vec<File>> {
    let own = Generations::of(found).list()?;
    let mut known: Vec<File> = own.iter().filter_map(|backup| kept(&backup.path, found).ok()).collect();
    known.extend(backups(&found.with_suffix("")).iter().filter_map(|path| file(path).ok()));
    let has_history = found.remote().is_some();
    let Some(history) = has_history.then(|| StateHistory::of_located(found.located()).ok()).flatten() else {
        return Ok(known);
    };
    let may_help = |entry: &&HistoryEntry| {
        entry.unreadable.is_none()
            && entry.lineage.as_ref().is_none_or(|lineage| *lineage == errored.lineage)
            && entry.serial.is_none_or(|serial| serial < errored.serial)
    };
    for entry in history.list()?.iter().filter(may_help).take(MAX_SNAPSHOTS) {
        let bytes = history.read(&entry.id)?;
        let bytes = match encryption::is_envelope(&bytes) {
            true => encryption::decrypted(
                &history.name,
                &bytes,
                encryption::of_located(found.located())?.as_ref(),
            )?,
            false => bytes,
        };
        known.extend(decode(&bytes, &DecodeOptions::default()));
    }
    Ok(known)
}

fn file(path: &Path) -> Result<File> {
    let source = State::beside(path)?.terraform()?;
    Ok(load(&source)?.file)
}

fn refused(error: MergeError) -> Failure {
    let failure = Failure::new(Kind::Conflict, error.to_string());
    match error {
        MergeError::BaseNeeded { .. } => failure.hint("name it with `--base FILE`"),
        MergeError::Conflicts(_) => {
            failure.hint("`groundstate diff` shows both sides; `groundstate push --force` takes one of them")
        }
        _ => failure,
    }
}
