//! Finds what an undo restores: a backup of the state, or what the place has kept.

use std::path::{Path, PathBuf};

use groundstate_common::shell_command;
use groundstate_statemgr::HistoryEntry;

use crate::input::family::is_packed;
use crate::input::head::Head;
use crate::input::history::StateHistory;
use crate::input::location::StateLocation;
use crate::input::packed;
use crate::input::runtime::runtime;
use crate::report::error::{Failure, Kind, Result};
use crate::report::messages::Messages;
use crate::session::backup::{Restored, keeps_history};
use crate::session::generations::{Generation, Generations, candidate, short_digest};
use crate::session::managed_state::{ManagedState, backups};
use crate::session::operations::{self, Entry};

/// The file that an undo restores.
#[derive(Clone, Debug)]
pub(crate) struct Backup {
    pub(crate) path: PathBuf,
    /// Its description, unless the user named a file.
    pub(crate) restored: Option<Restored>,
}

impl Backup {
    /// The file that `from` names, the backup with the number `to`, or that of the newest change that is not undone.
    pub(crate) fn find(found: &StateLocation, from: Option<&Path>, to: Option<&str>) -> Result<Self> {
        if let Some(path) = from {
            if !path.exists() {
                return Err(missing(found, &format!("{} does not exist", path.display())));
            }
            return Ok(Self { path: path.to_owned(), restored: None });
        }
        let generations = Generations::of(found);
        let stored = stored(found);
        if let Some(stored) = &stored {
            generations.settle(stored);
        }
        let all = generations.list()?;
        let chosen = match to {
            Some(to) => Some(numbered(&all, to, found)?),
            None => candidate(&all),
        };
        let Some(chosen) = chosen else {
            // Terraform's own backup, or that of an earlier release: beside a file the name belongs to this state alone.
            let path = found.with_suffix(".backup");
            if all.is_empty() && found.remote().is_none() && path.exists() {
                return Ok(Self { path, restored: None });
            }
            return Err(match all.is_empty() {
                true => missing(found, &format!("{} has not been changed by this command", found.name())),
                false => missing(found, "every change that has a backup is undone"),
            });
        };
        if to.is_none() {
            warn_of_others(found, &all, stored.as_deref());
        }
        Ok(Self { path: chosen.path.clone(), restored: Some(Restored::Backup(chosen.number)) })
    }

    /// The number of the backup, if it has one.
    pub(crate) fn number(&self) -> Option<u64> {
        match self.restored {
            Some(Restored::Backup(number)) => Some(number),
            _ => None,
        }
    }
}

/// The other state of the move that an undo undoes, and what it goes back to.
pub(crate) struct Joint {
    pub(crate) found: StateLocation,
    /// The backup of the other state. `None` if the move made the state.
    pub(crate) backup: Option<Backup>,
    /// If `true`, the move wrote the other state before this one.
    pub(crate) was_first: bool,
}

/// Finds the other state of the move that a backup was made by. Returns `None` if the operation changed one state.
///
/// # Errors
///
/// Returns an error if the other state is not found again, or was changed after the move: then the two cannot go back together.
pub(crate) fn joint(found: &StateLocation, backup: &Backup) -> Result<Option<Joint>> {
    let Some(number) = backup.number() else { return Ok(None) };
    let entries = operations::entries()?;
    let Some(partner) = operations::partner(&entries, &Generations::of(found).place, number) else {
        return Ok(None);
    };
    let Entry { place, argument, backup: number, .. } = &partner.entry;
    let refused = |why: String| {
        let message = format!("cannot undo the move between {} and {place}: {why}", found.name());
        Failure::new(Kind::Conflict, message)
            .hint("nothing was written; `--alone` restores this state and leaves the other as it is")
    };
    let other = StateLocation::at(Path::new(argument))
        .map_err(|failure| refused(format!("the other state is not found: {}", failure.message)))?;
    if Generations::of(&other).place != *place {
        return Err(refused(format!("{argument} does not lead to the other state from here")));
    }
    let changed = || {
        refused("the other state was changed after the move".to_owned())
            .hint(format!("`{}` takes that back first", shell_command("groundstate undo", &[argument])))
    };
    let backup = match number {
        Some(_) => {
            let backup = Backup::find(&other, None, None).map_err(|_| changed())?;
            if backup.number() != *number {
                return Err(changed());
            }
            Some(backup)
        }
        None if partner.entry.created && partner.entry.after == present(&other) => None,
        None if partner.entry.created => return Err(changed()),
        None => return Err(refused("the move kept no backup of the other state".to_owned())),
    };
    Ok(Some(Joint { found: other, backup, was_first: partner.was_first }))
}

/// Returns `true` if the stack in a bucket is as this command left it, with a backup: then its own backups go further back than the
/// one copy that the backend has of the state before.
pub(crate) fn goes_by_backups(found: &StateLocation, to: Option<&str>) -> Result<bool> {
    if keeps_history(found) {
        return Ok(false);
    }
    let all = Generations::of(found).list()?;
    match to {
        Some(to) => Ok(numbered(&all, to, found).is_ok()),
        None => Ok(all.first().is_some_and(|newest| newest.after == present(found))),
    }
}

fn present(found: &StateLocation) -> String {
    stored(found).map(|bytes| short_digest(&bytes)).unwrap_or_default()
}

/// Says that the other state of a move does not go back, where a place goes back by its own history.
pub(crate) fn warn_of_partner(found: &StateLocation) -> Result<()> {
    let partner = operations::newest_partner(&operations::entries()?, &Generations::of(found).place);
    if let Some(partner) = partner {
        let argument = &partner.entry.argument;
        let rest = match has_none_before(&partner.entry) {
            true => "and had no state before".to_owned(),
            false => {
                let command = shell_command("groundstate undo", &[argument]);
                format!("and `{command}` takes that back too")
            }
        };
        Messages::stderr().warning(&format!(
            "the change that is undone moved resources between {} and {argument}, which keeps its side, {rest}",
            found.name()
        ));
    }
    Ok(())
}

/// Returns `true` if nothing was stored at the place before the operation. A service counts versions from 1.
fn has_none_before(entry: &Entry) -> bool {
    entry.created || entry.version.split_once(" sha256:").is_some_and(|(count, _)| count == "1")
}

/// The very bytes that are stored, if they can be had.
fn stored(found: &StateLocation) -> Option<Vec<u8>> {
    let opened = ManagedState::open_raw(found.clone(), None, false).ok()?;
    let read = runtime().ok()?.block_on(opened.raw.read());
    Some(read.ok()??.bytes)
}

/// Says that another program has written the state since the last change, since that goes too.
fn warn_of_others(found: &StateLocation, all: &[Generation], stored: Option<&[u8]>) {
    let (Some(newest), Some(stored)) = (all.first(), stored) else { return };
    let unpacked = is_packed(stored).then(|| packed::unpack(stored).ok()).flatten();
    // A damaged state is what the undo is for.
    if Head::read(unpacked.as_deref().unwrap_or(stored)).is_none() {
        return;
    }
    if newest.after.len() == 16 && newest.after != short_digest(stored) {
        let warning = format!(
            "{} was changed since backup {} by something that kept no backup here; this is undone too",
            found.name(),
            newest.number
        );
        Messages::stderr().warning(&warning);
    }
}

fn numbered<'g>(all: &'g [Generation], to: &str, found: &StateLocation) -> Result<&'g Generation> {
    let number: Option<u64> = to.parse().ok();
    all.iter().find(|generation| Some(generation.number) == number).ok_or_else(|| {
        let message = format!("{} has no backup {to}", found.name());
        Failure::new(Kind::NotFound, message).hint("`groundstate undo --list` shows the backups")
    })
}

fn missing(found: &StateLocation, why: &str) -> Failure {
    let failure = Failure::new(Kind::NoState, format!("there is no backup to restore: {why}"));
    match backups(&found.with_suffix("")) {
        names if names.is_empty() => failure.hint("name a file with `--from FILE`"),
        found => {
            let names: Vec<String> = found.iter().map(|path| path.display().to_string()).collect();
            failure.hint(format!("name one of these with `--from`: {}", names.join(", ")))
        }
    }
}

/// The snapshot before the newest change that is not undone, where the place keeps all states.
pub(crate) fn snapshot(found: &StateLocation, history: &StateHistory) -> Result<HistoryEntry> {
    let entries = history.list()?;
    let place = Generations::of(found).place;
    let log: Vec<Entry> = operations::entries()?.into_iter().filter(|entry| entry.place == place).collect();
    let stored = stored(found).map(|bytes| short_digest(&bytes));
    let digest = |at: usize| -> Result<String> {
        let entry = entries.get(at).ok_or_else(|| none_before(found))?;
        // Behind a snapshot that cannot be read it is not known which state was the one before.
        let entry = history.readable(entry.clone())?;
        Ok(short_digest(&history.read(&entry.id)?))
    };
    let mut at = 0;
    if !entries.is_empty() && stored == Some(digest(0)?) {
        at = older(&entries, &log, 0, &digest)?;
    }
    history.readable(entries.into_iter().nth(at).ok_or_else(|| none_before(found))?)
}

/// The index of the snapshot before one. What an undo stored counts as what it restored.
fn older(
    entries: &[HistoryEntry],
    log: &[Entry],
    at: usize,
    digest: &impl Fn(usize) -> Result<String>,
) -> Result<usize> {
    let mut at = at;
    // Each step goes back, so there are no more steps than snapshots.
    for _ in 0..entries.len() {
        let of = digest(at)?;
        let undo = log.iter().find(|entry| entry.restored.is_some() && entry.after == of);
        let restored = undo.and_then(|entry| entry.restored.as_deref());
        let restored = restored.and_then(|id| entries.iter().position(|entry| entry.id.as_str() == id));
        match restored.filter(|restored| *restored > at) {
            Some(restored) => at = restored,
            None => break,
        }
    }
    Ok(at + 1)
}

fn none_before(found: &StateLocation) -> Failure {
    let message = format!("the history of {} has no state before the present one", found.name());
    Failure::new(Kind::NoState, message).hint("`groundstate history` shows what it has")
}

/// The version before the newest change that is not undone, at a service that counts versions.
#[cfg(feature = "http")]
pub(crate) fn version_before(found: &StateLocation, present: u64) -> Result<Option<u64>> {
    let place = Generations::of(found).place;
    let log: Vec<Entry> = operations::entries()?.into_iter().filter(|entry| entry.place == place).collect();
    Ok(before(&log, present))
}

#[cfg(any(feature = "http", test))]
fn before(log: &[Entry], present: u64) -> Option<u64> {
    let mut at = present;
    loop {
        let stored = format!("{at} ");
        let undo = log.iter().find(|entry| entry.restored.is_some() && entry.version.starts_with(&stored));
        let restored = undo.and_then(|entry| entry.restored.as_ref()?.parse().ok());
        match restored.filter(|restored: &u64| *restored < at) {
            Some(restored) => at = restored,
            None => return at.checked_sub(1).filter(|before| *before > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Entry, before};

    #[test]
    fn versions_go_further_back_each_time() {
        let undo = |stored: u64, restored: u64| Entry {
            version: format!("{stored} sha256:0"),
            restored: Some(restored.to_string()),
            ..Entry::new("state-undo", "place", "place")
        };
        assert_eq!(before(&[], 3), Some(2));
        assert_eq!(before(&[], 1), None);
        assert_eq!(before(&[undo(4, 2)], 4), Some(1));
        assert_eq!(before(&[undo(5, 1), undo(4, 2)], 5), None);
        assert_eq!(before(&[undo(4, 2)], 5), Some(4), "a change after an undo is undone first");
        assert_eq!(before(&[undo(6, 4), undo(4, 2)], 6), Some(1));
    }
}
