//! `groundstate undo`: the state before the last change, under a serial higher than all before it.

use std::path::Path;

use groundstate_statefile::{DecodeOptions, File, decode};
use groundstate_statemgr::{Manager, Migrator, PersistentMeta, Persister, Refresher};

use super::replace::{Planned, Replacement, Stored, planned, replace, report, write};
use crate::args::UndoArgs;
use crate::input::encryption;
use crate::input::family::{Family, is_packed};
use crate::input::history::StateHistory;
use crate::input::location::StateLocation;
use crate::input::state::State;
use crate::input::terraform::{self, load};
use crate::input::{packed, paths};
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::session::back::{Backup, Joint, joint, snapshot, warn_of_partner};
use crate::session::backup::{Restored, keeps_history};
use crate::session::consent::consent;
use crate::session::interrupt::Interrupts;
use crate::session::locked::{both_locked, unlocked};
use crate::session::managed_state::ManagedState;
use crate::session::pair::{Side, both_sides};
use crate::session::state_error::StateError;

const OPERATION: &str = "state-undo";

/// Restores a backup, or a snapshot where the place keeps all states.
pub(crate) fn run(args: &UndoArgs, found: StateLocation) -> Result {
    if args.from.is_none() && keeps_history(&found) {
        return from_history(args, found);
    }
    let backup = Backup::find(&found, args.from.as_deref(), args.to.as_deref())?;
    let other = match args.alone {
        true => None,
        false => joint(&found, &backup)?,
    };
    match other {
        Some(other) => both(args, found, &backup, other),
        None => one(args, found, &backup),
    }
}

fn one(args: &UndoArgs, found: StateLocation, backup: &Backup) -> Result {
    let Restorable { file, name } = Restorable::read(backup, &found)?;
    let how = Replacement { source: &backup.path, restored: backup.restored.clone(), ..how(args) };
    replace(found, &how, |stored| newer(file, stored, args, &name))
}

fn how(args: &UndoArgs) -> Replacement<'_> {
    Replacement {
        args: &args.change,
        yes: args.consent.yes,
        operation: OPERATION,
        source: Path::new(""),
        restored: None,
        force: args.force.is_whole(),
        over_encrypted: args.over_encrypted,
        checked: false,
        expected: None,
    }
}

/// A state that can be restored, with the name of its file.
struct Restorable {
    file: File,
    name: String,
}

impl Restorable {
    fn read(backup: &Backup, found: &StateLocation) -> Result<Self> {
        if backup.number().is_some() {
            let name = backup.path.display().to_string();
            return Ok(Self { file: kept(&backup.path, found)?, name });
        }
        let source = State::beside(&backup.path)?.terraform()?;
        Ok(Self { file: load(&source)?.file, name: source.name.clone() })
    }
}

/// Reads a backup, which is compressed and encrypted as the state is that it belongs to.
pub(super) fn kept(path: &Path, found: &StateLocation) -> Result<File> {
    let name = path.display().to_string();
    let bytes = paths::read(path).map_err(|error| Failure::unreadable(path, &error))?;
    let bytes = match is_packed(&bytes) {
        true => packed::unpack(&bytes).map_err(|error| Failure::unreadable(path, &error))?,
        false => bytes,
    };
    decoded(&name, bytes, found)
}

/// Decodes an earlier content of a state.
fn decoded(name: &str, bytes: Vec<u8>, found: &StateLocation) -> Result<File> {
    let bytes = match encryption::is_envelope(&bytes) {
        true => encryption::decrypted(name, &bytes, encryption::of_located(found.located())?.as_ref())?,
        false => bytes,
    };
    // A deployment would pass for an empty state of format 3.
    if Family::sniff(&bytes) == Some(Family::Pulumi) {
        let message = format!("{name} is Pulumi's, and the state is to be one of Terraform");
        return Err(
            Failure::new(Kind::Usage, message).hint("`--force` restores a deployment over a damaged one")
        );
    }
    decode(&bytes, &DecodeOptions::default()).map_err(|error| terraform::failure(&error, name, &bytes))
}

/// The backup as the successor of what is stored.
fn newer(mut backup: File, stored: Option<&File>, args: &UndoArgs, name: &str) -> Result<File> {
    let Some(stored) = stored else {
        // What was there before has had a higher serial than its backup.
        backup.serial = backup.serial.next().unwrap_or(backup.serial);
        return Ok(backup);
    };
    if !args.force.is_whole() && stored.lineage != backup.lineage {
        let message = format!("{name} is not a backup of this state: their lineages differ");
        return Err(Failure::new(Kind::Conflict, message)
            .hint("name the right one with `--from`; `--force` goes back to this one nevertheless"));
    }
    Ok(backup)
}

/// Goes back in the history of a place that keeps all states.
fn from_history(args: &UndoArgs, found: StateLocation) -> Result {
    let history = StateHistory::of_located(found.located())?;
    let entry = match args.to.as_deref() {
        Some(id) => history.find(id)?,
        None => snapshot(&found, &history)?,
    };
    if !args.alone {
        warn_of_partner(&found)?;
    }
    let name = format!("{} at {}", history.name, entry.id);
    let mut file = decoded(&name, history.read(&entry.id)?, &found)?;
    // A serial that was seen once must not come again.
    let highest = history.list()?.iter().filter_map(|entry| entry.serial).max().unwrap_or_default();
    file.serial = file.serial.max(highest);
    let how = Replacement { restored: Some(Restored::Other(entry.id.to_string())), ..how(args) };
    replace(found, &how, |stored| newer(file, stored, args, &name))
}

/// Takes a move back in both states: each goes back to its backup, or neither does.
fn both(args: &UndoArgs, found: StateLocation, backup: &Backup, other: Joint) -> Result {
    let own = Restorable::read(backup, &found)?;
    let others = other.backup.as_ref();
    let others = others.map(|backup| Restorable::read(backup, &other.found)).transpose()?;
    let restored = other.backup.as_ref().and_then(|backup| backup.restored.clone());
    let sides = [(found, backup.restored.clone()), (other.found, restored)];
    let [one, two] = both_sides(sides, &args.change, OPERATION)?;
    let how = how(args);
    let plan = async |side: &Side, from: Option<Restorable>| {
        planned(&side.opened.manager, &side.opened, &how, |stored| match from {
            Some(Restorable { file, name }) => newer(file, stored, args, &name),
            None => stored.map(emptied).ok_or_else(|| gone(&side.opened)),
        })
        .await
    };
    let (stored, there) = match args.change.dry_run {
        true => unlocked(&one.opened, async |_| {
            let stored = plan(&one, Some(own)).await?.unwritten();
            Ok((stored, plan(&two, others).await?.unwritten()))
        })?,
        false => both_locked([&one.opened, &two.opened], &args.change.lock, OPERATION, async |interrupts| {
            let of_one = |error: StateError| error.explain(&one.opened);
            let of_two = |error: StateError| error.explain(&two.opened);
            let mut own = plan(&one, Some(own)).await.map_err(of_one)?;
            let mut others = plan(&two, others).await.map_err(of_two)?;
            own.keep_what_moves_to(&others);
            others.keep_what_moves_to(&own);
            let sides = [(&one, own), (&two, others)];
            carry_out(args, sides, other.was_first, interrupts).await
        })?,
    };
    report(&one.opened, &args.change, &stored, Some((&two.opened, &there)))?;
    Ok(Outcome::Clean)
}

/// Writes both states. The one that regains resources is first, so that a kill leaves everything in one of them at least; if the
/// other cannot be written, the first goes back.
async fn carry_out(
    args: &UndoArgs,
    sides: [(&Side, Planned); 2],
    own_first: bool,
    interrupts: &Interrupts,
) -> Result<(Stored, Stored)> {
    for (side, planned) in &sides {
        let asked = consent(&side.opened.name, &planned.vanishing(), args.consent.yes, interrupts).await;
        asked.map_err(|error| StateError::from(error).explain(&side.opened))?;
    }
    interrupts.check()?;
    let [own, other] = sides;
    let ((first, first_plan), (second, second_plan)) = if own_first { (own, other) } else { (other, own) };
    let before = first.opened.manager.state_for_migration();
    let done =
        write(&first.opened.manager, first_plan).await.map_err(|error| error.explain(&first.opened))?;
    match write(&second.opened.manager, second_plan).await {
        Ok(last) if own_first => Ok((done, last)),
        Ok(last) => Ok((last, done)),
        Err(error) => {
            let failure = error.explain(&second.opened);
            let back = match before {
                Some(before) => take_back(&first.opened.manager, before)
                    .await
                    .map_err(|error| error.explain(&first.opened)),
                None => Ok(()),
            };
            let name = &first.opened.name;
            Err(match back {
                Ok(()) => {
                    first.opened.was_put_back();
                    failure.hint(format!("{name} was put back as it was, so neither state is undone"))
                }
                Err(why) => failure.hint(format!(
                    "{name} is undone and could not be put back: {}; run the command again to complete it",
                    why.message
                )),
            })
        }
    }
}

/// Stores a state again, under a serial higher than the one that is stored.
async fn take_back(manager: &Manager, mut before: File) -> Result<(), StateError> {
    manager.refresh_state().await?;
    let serial = manager.snapshot_meta().serial;
    before.serial = before.serial.max(serial);
    manager.write_state_for_migration(before, true)?;
    manager.persist_state().await?;
    Ok(())
}

/// The state without anything that a move brought: before it, the state was not there.
fn emptied(stored: &File) -> File {
    let mut empty = File::new(stored.dialect, stored.lineage.clone());
    empty.serial = stored.serial;
    empty.terraform_version = stored.terraform_version.clone();
    empty
}

fn gone(opened: &ManagedState) -> Failure {
    Failure::new(
        Kind::Conflict,
        format!("{} is gone, so the move cannot be undone in both states", opened.name),
    )
    .hint("`--alone` restores this state")
}
