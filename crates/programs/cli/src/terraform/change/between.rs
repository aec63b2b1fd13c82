//! `groundstate mv --to` and `groundstate split`: resources that move from one state to another.

use std::collections::HashSet;

use groundstate_common::{IdSource, OsIds};
use groundstate_state_edit::{Diff, Editor, MoveError, Summary, Transfer, diff};
use groundstate_statefile::File;
use groundstate_statemgr::{Decision, ErrorKind, Manager, Migrator, Persisted, Persister, Refresher};
use groundstate_states::Lineage;
use groundstate_states::addr::Target;

use super::report::{Other, Report};
use crate::args::{ChangeArgs, MvArgs, SplitArgs};
use crate::input::location::StateLocation;
use crate::report::error::{Failure, Kind, Outcome, Result, chain};
use crate::session::interrupt::Interrupts;
use crate::session::locked::{both_locked, unlocked};
use crate::session::managed_state::ManagedState;
use crate::session::pair::{Side, half_done, pair};
use crate::session::recovery::warn_of_journal;
use crate::session::state_error::StateError;
use crate::terraform::select;

type Pairs = Vec<(Target, Target)>;

/// What was done to one of the two states, or would be.
struct Done {
    summary: Summary,
    diff: Option<Diff>,
    written: bool,
}

pub(crate) fn mv_to(args: &MvArgs, from: StateLocation, other: StateLocation) -> Result {
    let (source, dest) = (select::parse_one(&args.from)?, select::parse_one(args.new_address())?);
    transfer(from, other, &args.change, "state-mv", |_| Ok(vec![(source, dest)]))
}

pub(crate) fn split(args: &SplitArgs, from: StateLocation, other: StateLocation) -> Result {
    transfer(from, other, &args.change, "state-split", |editor| {
        let mut pairs = Pairs::new();
        for pattern in &args.patterns {
            let found = editor.select(pattern).map_err(|error| {
                let message = format!("`{pattern}`, column {}: {}", error.column, error.fault);
                Failure::new(Kind::Usage, message).hint("quote patterns for the shell, as in 'module.net.**'")
            })?;
            pairs.extend(found.into_iter().map(|target| (target.clone(), target)));
        }
        // What two patterns match moves once.
        let mut seen = HashSet::new();
        pairs.retain(|pair| seen.insert(pair.0.to_string()));
        Ok(pairs)
    })
}

/// Moves what `pairs` finds from one state to another: both are locked, and the one that gains is written first, so that
/// a kill between the two writes leaves everything in one of them at least.
fn transfer(
    from: StateLocation,
    other: StateLocation,
    args: &ChangeArgs,
    operation: &str,
    pairs: impl FnOnce(&Editor<'_>) -> Result<Pairs>,
) -> Result {
    let (source, dest) = pair(from, other, args, operation)?;
    let (added, removed) = match args.dry_run {
        true => unlocked(&source.opened, async |manager| {
            warn_of_journal(&source.opened).await;
            let (transfer, removed) = plan(manager, args, pairs).await?;
            Ok((add(&dest.opened, &transfer, args, false).await?, removed))
        })?,
        false => both_locked([&source.opened, &dest.opened], &args.lock, operation, async |interrupts| {
            let written = write(&source.opened, &dest.opened, args, pairs, interrupts).await;
            written
                .map_err(|(failure, begun)| if begun { half_done(failure, &source, &dest) } else { failure })
        })?,
    };
    report(&source, &dest, args, &added, &removed)
}

/// Both writes; a failure says whether the first of them is done.
async fn write(
    source: &ManagedState,
    dest: &ManagedState,
    args: &ChangeArgs,
    pairs: impl FnOnce(&Editor<'_>) -> Result<Pairs>,
    interrupts: &Interrupts,
) -> Result<(Done, Done), (Failure, bool)> {
    let of_source = |error: StateError| error.explain(source);
    let planned = plan(&source.manager, args, pairs).await;
    let (transfer, _) = planned.map_err(|error| (of_source(error), false))?;
    interrupts.check().map_err(|interrupted| (interrupted, false))?;
    let added = add(dest, &transfer, args, true).await.map_err(|error| (error, false))?;
    // From here on the move comes to its end, whatever signals come.
    let removed = operate(&source.manager, args, true, |editor| transfer.remove_from(editor)).await;
    Ok((added, removed.map_err(|error| (of_source(error), true))?))
}

/// What moves, and what its removal would do: what cannot be removed is not added.
async fn plan(
    manager: &Manager,
    args: &ChangeArgs,
    pairs: impl FnOnce(&Editor<'_>) -> Result<Pairs>,
) -> Result<(Transfer, Done), StateError> {
    let planned = manager.operate(|editor| -> Result<_, StateError> {
        let transfer = Transfer::plan(editor, &pairs(editor)?).map_err(Failure::from)?;
        let summary = transfer.remove_from(editor).map_err(Failure::from)?;
        let diff = preview(editor, args)?;
        Ok(Decision::Leave((transfer, Done { summary, diff, written: false })))
    });
    Ok(planned.await?.0)
}

/// Adds what moves to the other state, which may not exist yet.
async fn add(dest: &ManagedState, transfer: &Transfer, args: &ChangeArgs, store: bool) -> Result<Done> {
    let there = operate(&dest.manager, args, store, |editor| transfer.add_to(editor)).await;
    match there {
        Err(StateError::Manager(error)) if error.kind() == ErrorKind::NotFound => {
            make(&dest.manager, transfer, args, store).await
        }
        there => there,
    }
    .map_err(|error| error.explain(dest))
}

/// The other state, made with what moves.
async fn make(
    manager: &Manager,
    transfer: &Transfer,
    args: &ChangeArgs,
    store: bool,
) -> Result<Done, StateError> {
    let id = OsIds.uuid().map_err(|error| Failure::new(Kind::Unreachable, chain(&error)))?;
    let file = transfer.to_new_file(Lineage::new(&id)).map_err(Failure::from)?;
    let nothing = File::new(file.dialect, file.lineage.clone());
    let diff = (args.dry_run || args.json).then(|| diff(&nothing, &file));
    let mut written = false;
    if store {
        manager.refresh_state().await?;
        manager.write_state_for_migration(file, false)?;
        written = manager.persist_state().await? == Persisted::Written;
    }
    Ok(Done { summary: Summary::default(), diff, written })
}

async fn operate(
    manager: &Manager,
    args: &ChangeArgs,
    store: bool,
    change: impl FnOnce(&mut Editor<'_>) -> Result<Summary, MoveError>,
) -> Result<Done, StateError> {
    let operated = manager.operate(|editor| -> Result<_, StateError> {
        let summary = change(editor).map_err(Failure::from)?;
        let done = Done { summary, diff: preview(editor, args)?, written: false };
        Ok(if store { Decision::Store(done) } else { Decision::Leave(done) })
    });
    let (done, persisted) = operated.await?;
    Ok(Done { written: persisted == Persisted::Written, ..done })
}

fn preview(editor: &Editor<'_>, args: &ChangeArgs) -> Result<Option<Diff>> {
    let preview = || editor.preview().map_err(|error| Failure::new(Kind::Unusable, error.to_string()));
    (args.dry_run || args.json).then(preview).transpose()
}

fn report(source: &Side, dest: &Side, args: &ChangeArgs, added: &Done, removed: &Done) -> Result {
    let report = Report {
        state: &source.opened.name,
        dry_run: args.dry_run,
        written: removed.written,
        backup: source.opened.kept(),
        summary: &removed.summary,
        warnings: &[],
        success: format!("Successfully moved to {}.", dest.opened.name),
        diff: removed.diff.as_ref(),
        other: Some(Other {
            state: &dest.opened.name,
            written: added.written,
            backup: dest.opened.kept(),
            dependents: &added.summary.dependents,
            providers: &added.summary.providers,
            diff: added.diff.as_ref(),
        }),
    };
    report.print(args.json)?;
    Ok(Outcome::Clean)
}
