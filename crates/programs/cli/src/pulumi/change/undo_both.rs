//! Undoing a move between two stacks in both of them.

use bytes::Bytes;
use groundstate_statemgr::{Expect, Manager, Version, WriteOptions};

use super::done::Changed;
use super::report::{Other, Report};
use super::run::{Edited, Soundness, edit, encoded, read};
use super::undo::{OPERATION, Restorable, check_stack, done};
use crate::args::UndoArgs;
use crate::input::location::StateLocation;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::session::back::{Backup, Joint};
use crate::session::consent::consent;
use crate::session::interrupt::Interrupts;
use crate::session::locked::{both_locked, unlocked};
use crate::session::pair::{Side, both_sides};
use crate::session::state_error::StateError;

/// A stack with what an undo makes of it.
struct Planned {
    before: Vec<u8>,
    version: Version,
    edited: Edited,
}

/// Takes a move back in both stacks: each goes back to its backup, or neither does.
pub(super) fn both(args: &UndoArgs, found: StateLocation, backup: &Backup, other: Joint) -> Result {
    let Some(others) = &other.backup else {
        let message = format!("the move kept no backup of {}", other.found.name());
        return Err(Failure::new(Kind::Conflict, message).hint("`--alone` restores this stack"));
    };
    let (own, there) = (Restorable::read(backup)?, Restorable::read(others)?);
    let sides = [(found, backup.restored.clone()), (other.found, others.restored.clone())];
    let [one, two] = both_sides(sides, &args.change, OPERATION)?;
    let (own, there) = match args.change.dry_run {
        true => unlocked(&one.opened, async |_| {
            let own = planned(&one, args, own).await?;
            Ok((own, planned(&two, args, there).await?))
        })?,
        false => both_locked([&one.opened, &two.opened], &args.change.lock, OPERATION, async |interrupts| {
            let own = planned(&one, args, own).await.map_err(|error| error.explain(&one.opened))?;
            let there = planned(&two, args, there).await.map_err(|error| error.explain(&two.opened))?;
            ask(args, [(&one, &own, &there), (&two, &there, &own)], interrupts).await?;
            interrupts.check()?;
            match other.was_first {
                true => carry_out((&one, &own), (&two, &there)).await?,
                false => carry_out((&two, &there), (&one, &own)).await?,
            }
            Ok((own, there))
        })?,
    };
    let written = !args.change.dry_run;
    let gained =
        Other { state: &two.opened.name, written, backup: two.opened.kept(), diff: &there.edited.diff };
    let changed = Changed { done: own.edited.done, diff: own.edited.diff, written };
    Report {
        state: &one.opened.name,
        dry_run: args.change.dry_run,
        backup: one.opened.kept(),
        changed: &changed,
        other: Some(gained),
    }
    .print(args.change.json)?;
    Ok(Outcome::Clean)
}

async fn planned(side: &Side, args: &UndoArgs, mut from: Restorable) -> Result<Planned, StateError> {
    let name = &side.opened.name;
    let nothing = || Failure::new(Kind::NoState, format!("{name} is empty, so it holds no state"));
    let stored = side.opened.manager.store().read().await?.ok_or_else(nothing)?;
    let snapshot = from.take()?;
    let mut edited =
        edit(read(&stored.bytes, name)?, name, (OPERATION, Soundness::Whatever), |present, subject| {
            if !from.was_empty {
                check_stack(args, present, &snapshot, subject.name, &from.name)?;
            }
            *present = snapshot;
            Ok(done(&from.name))
        })?;
    if from.was_empty {
        edited.file.snapshot = None;
    }
    Ok(Planned { before: stored.bytes, version: stored.version, edited })
}

/// Asks before resources vanish that the other stack does not get.
async fn ask(
    args: &UndoArgs,
    sides: [(&Side, &Planned, &Planned); 2],
    interrupts: &Interrupts,
) -> Result<()> {
    for (side, planned, other) in sides {
        let arriving: Vec<(String, String)> = other
            .edited
            .file
            .snapshot
            .iter()
            .flat_map(|snapshot| &snapshot.resources)
            .map(|resource| (resource.urn.resource_type().to_string(), resource.urn.name().to_string()))
            .collect();
        let stays_away = |urn: &&String| {
            let urn = groundstate_pulumi_snapshot::Urn::new(urn.as_str());
            !arriving.contains(&(urn.resource_type().to_string(), urn.name().to_string()))
        };
        let vanishing: Vec<String> = planned.edited.vanishing.iter().filter(stays_away).cloned().collect();
        consent(&side.opened.name, &vanishing, args.consent.yes, interrupts).await?;
    }
    Ok(())
}

/// Writes both stacks. The one that regains resources is first; if the other cannot be written, the first goes back.
async fn carry_out((first, plan): (&Side, &Planned), (second, last): (&Side, &Planned)) -> Result<()> {
    let (one, two) = (encoded(&plan.edited.file)?, encoded(&last.edited.file)?);
    let stored = write(&first.opened.manager, one, &plan.version).await;
    let stored = stored.map_err(|error| error.explain(&first.opened))?;
    let Err(error) = write(&second.opened.manager, two, &last.version).await else { return Ok(()) };
    let failure = error.explain(&second.opened);
    let name = &first.opened.name;
    Err(match write(&first.opened.manager, plan.before.clone(), &stored).await {
        Ok(_) => {
            first.opened.was_put_back();
            failure.hint(format!("{name} was put back as it was, so neither stack is undone"))
        }
        Err(error) => failure.hint(format!(
            "{name} is undone and could not be put back: {}; run the command again to complete it",
            error.explain(&first.opened).message
        )),
    })
}

async fn write(manager: &Manager, bytes: Vec<u8>, version: &Version) -> Result<Version, StateError> {
    let options = WriteOptions::expecting(Expect::Version(version.clone()));
    Ok(manager.store().write(Bytes::from(bytes), &options).await?)
}
