//! `groundstate mv --to` and `groundstate split`: resources that move from one Pulumi stack to another.

use groundstate_pulumi_deployment::{DeploymentFile, diff};
use groundstate_pulumi_integrity::{
    Broken, IntegrityError, MoveError, MoveOptions, MovedResources, move_again, move_resources,
};
use groundstate_pulumi_snapshot::{Snapshot, Urn};
use groundstate_statemgr::{Expect, Manager, WriteOptions};

use super::done::{Change, Changed, Done};
use super::report::{Other, Report};
use super::run::{encoded, read};
use crate::args::{ChangeArgs, MvArgs, SplitArgs, StackMoveArgs};
use crate::input::location::StateLocation;
use crate::pulumi::admission::Place;
use crate::pulumi::keys::Keys;
use crate::pulumi::select;
use crate::report::differences::Difference;
use crate::report::error::{Failure, Kind, Outcome, Result, chain};
use crate::report::text::count;
use crate::session::interrupt::Interrupts;
use crate::session::locked::{both_locked, unlocked};
use crate::session::pair::{Side, half_done, pair};
use crate::session::state_error::StateError;

pub(crate) fn mv_to(args: &MvArgs, from: StateLocation, other: StateLocation) -> Result {
    if args.compat {
        return Err(Failure::new(Kind::Usage, "`--compat` is for Terraform states"));
    }
    if args.to.is_some() {
        let message = "Pulumi resources keep their names when they move to another stack";
        return Err(
            Failure::new(Kind::Usage, message).hint("leave out DST, and rename with `mv` before or after")
        );
    }
    transfer(from, other, &args.change, &args.stack, std::slice::from_ref(&args.from))
}

pub(crate) fn split(args: &SplitArgs, from: StateLocation, other: StateLocation) -> Result {
    transfer(from, other, &args.change, &args.stack, &args.patterns)
}

/// What was found in a place, and what a write of it may expect.
struct Found {
    file: DeploymentFile,
    expect: Expect,
}

/// What a move makes of both stacks.
struct Plan {
    moved: MovedResources,
    source: DeploymentFile,
    /// Nothing if it has been stored before.
    dest: Option<DeploymentFile>,
    warnings: Vec<String>,
    diffs: (Vec<Difference>, Vec<Difference>),
}

/// Moves resources: both stacks are locked, and the one that gains is written first, so that a kill between the two writes
/// leaves everything in one of them at least.
fn transfer(
    from: StateLocation,
    other: StateLocation,
    args: &ChangeArgs,
    stack: &StackMoveArgs,
    words: &[String],
) -> Result {
    let place = Place::resolved(&other)?;
    let (source, dest) = pair(from, other, args, "state-move")?;
    let plan = match args.dry_run {
        true => unlocked(&source.opened, async |manager| {
            let found = (found(manager, &source).await?, found(&dest.opened.manager, &dest).await?);
            Ok(plan((&source, &found.0), (&dest, &found.1, &place), stack, words)?)
        })?,
        false => both_locked([&source.opened, &dest.opened], &args.lock, "state-move", async |interrupts| {
            carry_out(&source, (&dest, &place), stack, words, interrupts).await
        })?,
    };
    report(&source, &dest, args, plan)
}

async fn carry_out(
    source: &Side,
    (dest, place): (&Side, &Place),
    stack: &StackMoveArgs,
    words: &[String],
    interrupts: &Interrupts,
) -> Result<Plan> {
    let in_source = |error: StateError| error.explain(&source.opened);
    let in_dest = |error: StateError| error.explain(&dest.opened);
    let (from, to) = (&source.opened.manager, &dest.opened.manager);
    let leaving = found(from, source).await.map_err(in_source)?;
    let gaining = found(to, dest).await.map_err(in_dest)?;
    let plan = plan((source, &leaving), (dest, &gaining, place), stack, words)?;
    let less = encoded(&plan.source)?;
    interrupts.check()?;
    if let Some(file) = &plan.dest {
        write(to, encoded(file)?, gaining.expect).await.map_err(in_dest)?;
    }
    // From here on the move comes to its end, whatever signals come.
    write(from, less, leaving.expect).await.map_err(|error| half_done(in_source(error), source, dest))?;
    Ok(plan)
}

async fn found(manager: &Manager, side: &Side) -> Result<Found, StateError> {
    let name = &side.opened.name;
    let nothing = || Failure::new(Kind::NoState, format!("{name} is empty, so it holds no state"));
    let stored = manager.store().read().await?.ok_or_else(nothing)?;
    Ok(Found { file: read(&stored.bytes, name)?, expect: Expect::Version(stored.version) })
}

async fn write(manager: &Manager, bytes: Vec<u8>, expect: Expect) -> Result<(), StateError> {
    manager.store().write(bytes.into(), &WriteOptions::expecting(expect)).await?;
    Ok(())
}

fn plan(
    (source, leaving): (&Side, &Found),
    (dest, gaining, place): (&Side, &Found, &Place),
    stack: &StackMoveArgs,
    words: &[String],
) -> Result<Plan> {
    let name = &source.opened.name;
    let before = snapshot(&leaving.file, name)?;
    let empty = Snapshot::default();
    let there = gaining.file.snapshot.as_ref().unwrap_or(&empty);
    let (stack_name, project) = who(&gaining.file, &dest.opened.name, place)?;
    let options = MoveOptions::new(stack_name, project).include_parents(stack.include_parents);
    let mut urns: Vec<Urn> = Vec::new();
    for word in words {
        urns.extend(select::matching(before, word, name)?);
    }
    let (from, to) = ((&leaving.file, name.as_str()), (&gaining.file, dest.opened.name.as_str()));
    let mut keys = Keys::of(from, to, (place, stack.to_passphrase_file.as_deref()));
    let moved = move_resources(before, there, &urns, &options);
    let (mut moved, is_done) = match moved {
        Err(taken @ MoveError::Taken(_)) => {
            let again = move_again(before, there, &urns, &options).ok();
            let again = again.filter(|again| has_arrived(again, there, &mut keys));
            (again.ok_or_else(|| refused(&taken, dest))?, true)
        }
        moved => (moved.map_err(|error| refused(&error, dest))?, false),
    };
    let mut warnings: Vec<String> = Vec::new();
    if !is_done {
        let renamed: Vec<(Urn, Urn)> = moved.resources.iter().chain(&moved.providers).cloned().collect();
        warnings.extend(keys.reseal(&mut moved.destination, &moved.arrived, &renamed)?);
    }
    warnings.extend(lost(&moved.broken_in_destination, "stays"));
    warnings.extend(lost(&moved.broken_in_source, "moves"));
    let source = with(&leaving.file, &moved.source);
    let dest = (!is_done).then(|| with(&gaining.file, &moved.destination));
    let compared = |before: &DeploymentFile, after: &DeploymentFile| {
        let changes = diff(before, after).map_err(|error| Failure::new(Kind::Unusable, chain(&error)))?;
        Ok::<_, Failure>(crate::pulumi::diff::differences(changes, false))
    };
    let added = dest.as_ref().map(|dest| compared(&gaining.file, dest)).transpose()?.unwrap_or_default();
    let diffs = (compared(&leaving.file, &source)?, added);
    Ok(Plan { moved, source, dest, warnings, diffs })
}

/// Whether everything that moves is in the destination as it would arrive.
fn has_arrived(again: &MovedResources, there: &Snapshot, keys: &mut Keys<'_>) -> bool {
    again.resources.iter().all(|(_, new)| {
        let of = |snapshot: &Snapshot| -> Vec<_> {
            snapshot.resources.iter().filter(|resource| resource.urn == *new).cloned().collect()
        };
        keys.are_same(of(&again.destination), of(there))
    })
}

fn snapshot<'f>(file: &'f DeploymentFile, name: &str) -> Result<&'f Snapshot> {
    file.snapshot.as_ref().ok_or_else(|| {
        let message = format!("the stack of {name} has never been updated, so there is nothing to move");
        Failure::new(Kind::NoState, message)
    })
}

fn with(file: &DeploymentFile, snapshot: &Snapshot) -> DeploymentFile {
    let mut file = file.clone();
    let mut snapshot = snapshot.clone();
    let command = format!("groundstate {} state-move", env!("CARGO_PKG_VERSION"));
    IntegrityError::record(&mut snapshot, &command);
    file.snapshot = Some(snapshot);
    file
}

/// The names of the stack that gains and of its project: from its resources, from the name in the checkpoint, or from its address.
fn who(file: &DeploymentFile, name: &str, place: &Place) -> Result<(String, String)> {
    let resources = file.snapshot.iter().flat_map(|snapshot| &snapshot.resources);
    if let Some(urn) = resources.map(|resource| &resource.urn).find(|urn| urn.is_valid()) {
        return Ok((urn.stack().to_owned(), urn.project().to_owned()));
    }
    let parts: Vec<&str> = file.stack().unwrap_or_default().split('/').collect();
    match parts[..] {
        [_, project, stack] if !project.is_empty() && !stack.is_empty() => {
            Ok((stack.to_owned(), project.to_owned()))
        }
        _ => match place.names() {
            Some((project, stack)) => Ok((stack, project)),
            None => {
                let message =
                    format!("{name} has no resources, and does not say of which project and stack it is");
                Err(Failure::new(Kind::Unusable, message)
                    .hint("`pulumi up` in its project makes the stack's root"))
            }
        },
    }
}

/// References that a move has cut, for people.
fn lost<'b>(broken: &'b [Broken], what: &'b str) -> impl Iterator<Item = String> + 'b {
    broken.iter().map(move |Broken { urn, reference }| {
        format!("{urn} loses its reference ({}) to {}, which {what}", reference.kind, reference.urn)
    })
}

fn refused(error: &MoveError, dest: &Side) -> Failure {
    let kind = match error {
        MoveError::NothingThere | MoveError::NothingToMove => Kind::NotFound,
        MoveError::Provider(_) => Kind::Usage,
        MoveError::Taken(_) | MoveError::ProviderTaken(_) | MoveError::Extension(_) => Kind::Conflict,
        _ => Kind::Unusable,
    };
    let failure = Failure::new(kind, error.to_string());
    match error {
        MoveError::Taken(_) | MoveError::ProviderTaken(_) => failure
            .hint(format!("rename one of the two with `groundstate mv`, here or in {}", dest.opened.name)),
        _ => failure,
    }
}

fn report(source: &Side, dest: &Side, args: &ChangeArgs, plan: Plan) -> Result {
    let change = |(old, new): &(Urn, Urn), verb: &'static str, done: &str, would: &str| {
        Change::new(verb, old, format!("{done} {old} to {new}"), format!("{would} {old} to {new}"))
            .member("to", new.to_string())
    };
    let moved = plan.moved.resources.iter().map(|pair| change(pair, "move", "Moved", "Would move"));
    let copied = plan.moved.providers.iter().map(|pair| change(pair, "copy", "Copied", "Would copy"));
    let number = count(plan.moved.resources.len(), "resource");
    let done = Done {
        changes: moved.chain(copied).collect(),
        warnings: plan.warnings,
        success: format!("{number} moved to {}", dest.opened.name),
    };
    let written = !args.dry_run;
    let changed = Changed { done, diff: plan.diffs.0, written };
    let gained = written && plan.dest.is_some();
    let other =
        Other { state: &dest.opened.name, written: gained, backup: dest.opened.kept(), diff: &plan.diffs.1 };
    let backup = source.opened.kept();
    Report {
        state: &source.opened.name,
        dry_run: args.dry_run,
        backup,
        changed: &changed,
        other: Some(other),
    }
    .print(args.json)?;
    Ok(Outcome::Clean)
}
