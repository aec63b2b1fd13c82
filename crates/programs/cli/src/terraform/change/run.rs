//! Operates on a stored state, under its lock, and reports.

use groundstate_state_edit::Diff;
use groundstate_state_edit::{Editor, Summary};
use groundstate_statemgr::{Decision, Manager, Persisted};

use super::report::Report;
use crate::args::ChangeArgs;
use crate::input::location::StateLocation;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::session::backup::backup;
use crate::session::interrupt::Interrupts;
use crate::session::locked::{lock_info, locked, unlocked};
use crate::session::managed_state::ManagedState;
use crate::session::recovery::warn_of_journal;
use crate::session::state_error::StateError;

/// What a command has done, or would do.
pub(super) struct Work {
    pub(super) summary: Summary,
    /// Remarks for people.
    pub(super) warnings: Vec<String>,
}

impl From<Summary> for Work {
    fn from(summary: Summary) -> Self {
        Self { summary, warnings: Vec::new() }
    }
}

/// Operates on the state, and reports.
pub(super) fn run(
    found: StateLocation,
    args: &ChangeArgs,
    operation: &str,
    success: impl Fn(usize) -> String,
    work: impl FnOnce(&mut Editor<'_>) -> Result<Work>,
) -> Result {
    let keep = backup(&found, args, operation)?;
    let opened = ManagedState::open(found, Some(keep), !args.lock.no_lock)?;
    let mut diff = None;
    let step = |editor: &mut Editor<'_>, interrupts: Option<&Interrupts>| -> Result<_, StateError> {
        let done = work(editor)?;
        if args.dry_run || args.json {
            diff = Some(editor.preview().map_err(unexpected)?);
        }
        // After this the write comes to its end.
        interrupts.map_or(Ok(()), Interrupts::check)?;
        Ok(if args.dry_run { Decision::Leave(done) } else { Decision::Store(done) })
    };
    // A preview takes no lock, because a lock leaves traces.
    let (work, persisted) = match args.dry_run {
        true => unlocked(&opened, async |manager| {
            warn_of_journal(&opened).await;
            operate(manager, |editor| step(editor, None)).await
        })?,
        false => {
            let info = lock_info(&opened, operation)?;
            locked(&opened, &args.lock, info, async |manager, interrupts| {
                operate(manager, |editor| step(editor, Some(interrupts))).await
            })?
        }
    };
    report(&opened, args, &work, success, diff, persisted)
}

async fn operate<T>(
    manager: &Manager,
    step: impl FnOnce(&mut Editor<'_>) -> Result<Decision<T>, StateError>,
) -> Result<(T, Persisted), StateError> {
    manager.operate(step).await
}

fn unexpected(error: impl std::error::Error) -> Failure {
    Failure::new(Kind::Unusable, error.to_string())
}

fn report(
    opened: &ManagedState,
    args: &ChangeArgs,
    work: &Work,
    success: impl Fn(usize) -> String,
    diff: Option<Diff>,
    persisted: Persisted,
) -> Result {
    let report = Report {
        state: &opened.name,
        dry_run: args.dry_run,
        written: persisted == Persisted::Written,
        backup: opened.kept(),
        summary: &work.summary,
        warnings: &work.warnings,
        success: success(work.summary.len()),
        diff: diff.as_ref(),
        other: None,
    };
    report.print(args.json)?;
    Ok(Outcome::Clean)
}
