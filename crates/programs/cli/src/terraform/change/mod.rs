//! The commands that edit a state: one lock, one write, a backup, and a preview.

mod edit;
mod report;
mod verbs;

use std::path::{Path, PathBuf};

use groundstate_state_edit::Diff;
use groundstate_state_edit::{Editor, Summary};
use groundstate_statemgr::{Decision, Manager, Persisted};
use groundstate_statemgr_fs::Backup;

use crate::args::ChangeArgs;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::session::interrupt::Interrupts;
use crate::session::locked::{lock_info, locked, unlocked};
use crate::session::managed_state::{ManagedState, StateArg};
use crate::session::run_journal::warn_of_journal;
use crate::session::save;
use crate::session::state_error::StateError;
use report::Report;

pub(crate) use edit::run as edit;
pub(crate) use verbs::{mv, replace_provider, rm, taint, untaint};

/// What a command has done, or would do.
struct Work {
    summary: Summary,
    /// Remarks for people.
    warnings: Vec<String>,
}

impl From<Summary> for Work {
    fn from(summary: Summary) -> Self {
        Self { summary, warnings: Vec::new() }
    }
}

/// Where the state before a change goes.
///
/// # Errors
///
/// When the file that the user names is an encrypted state, which a copy in plain text would replace.
pub(crate) fn backup(found: &StateArg, args: &ChangeArgs, suffix: &str) -> Result<(Backup, Option<PathBuf>)> {
    Ok(match args.backup.as_deref() {
        Some(path) if path == Path::new("-") => (Backup::None, None),
        Some(path) => {
            save::refuse_encrypted(path)?;
            (Backup::At(path.to_owned()), Some(path.to_owned()))
        }
        // A place that keeps every state needs no other copy.
        None if found.remote().is_some_and(|remote| remote.place.opened.keeps_history) => {
            (Backup::None, None)
        }
        None => {
            let path = found.with_suffix(suffix);
            (Backup::At(path.clone()), Some(path))
        }
    })
}

/// Operates on the state, and reports.
fn run(
    state: &Path,
    args: &ChangeArgs,
    operation: &str,
    success: impl Fn(usize) -> String,
    work: impl FnOnce(&mut Editor<'_>) -> Result<Work>,
) -> Result {
    let found = StateArg::existing(state)?;
    let (backup, path) = backup(&found, args, ".backup")?;
    let opened = found.open(backup, !args.lock.no_lock)?;
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
    report(&opened, args, &work, success, diff, persisted, path)
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
    backup: Option<PathBuf>,
) -> Result {
    let report = Report {
        state: &opened.name,
        dry_run: args.dry_run,
        written: persisted == Persisted::Written,
        backup: backup.filter(|_| persisted == Persisted::Written),
        summary: &work.summary,
        warnings: &work.warnings,
        success: success(work.summary.len()),
        diff: diff.as_ref(),
    };
    report.print(args.json)?;
    Ok(Outcome::Clean)
}
