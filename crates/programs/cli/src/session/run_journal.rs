//! The journal of changes beside a state file: what a run has left that was interrupted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use groundstate_common::{OsIds, SystemClock, shell_command};
use groundstate_statemgr::{ErrorKind, LockGrant, ManagerOptions, Refresher};
use groundstate_statemgr_fs::Backup;
use groundstate_statemgr_wal::{JournaledManager, journal_folder};
use groundstate_wal::fs::FsJournal;

use crate::report::error::{Failure, Kind, Result};
use crate::report::output::Messages;
use crate::session::locked::{chain, runtime};
use crate::session::managed_state::{ManagedState, StateArg};
use crate::session::state_error::StateError;
use crate::session::who::who;

/// A manager of the state and of the journal beside it; none if there is no journal.
pub(crate) fn journaled(opened: &ManagedState) -> Option<JournaledManager> {
    let folder: &PathBuf = opened.changes.as_ref().filter(|folder| folder.is_dir())?;
    let (store, journal) = (Arc::clone(opened.manager.store()), Arc::new(FsJournal::new(folder)));
    let options = ManagerOptions::default().who(who());
    Some(JournaledManager::new(store, journal, Arc::new(SystemClock), Arc::new(OsIds), options))
}

/// Stores what an interrupted run has journaled, before anything is done with the state under its lock.
pub(crate) async fn bring_up_to_date(
    opened: &ManagedState,
    grant: Option<LockGrant>,
) -> Result<(), StateError> {
    let Some(manager) = journaled(opened) else { return Ok(()) };
    let Some(grant) = grant else {
        if manager.pending().await?.is_none() {
            return Ok(());
        }
        let message = format!("a journal of an interrupted run is beside {}", opened.name);
        let failure = Failure::new(Kind::Conflict, message);
        return Err(failure.hint("without `--no-lock` it is recovered first").into());
    };
    let manager = manager.holding(grant);
    match manager.refresh_state().await {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::Conflict => {
            let shown = opened.shown();
            let failure = Failure::new(Kind::Conflict, chain(&error));
            let command = |options: &str| shell_command(&format!("groundstate recover {options}"), &[&shown]);
            let failure = failure
                .hint(format!("`{}` writes the state that the journal leads to", command("--export FILE")));
            return Err(failure.hint(format!("`{}` removes the journal", command("--discard"))).into());
        }
        Err(error) => return Err(error.into()),
    }
    if let Some(recovery) = manager.last_recovery().filter(|recovery| recovery.changes > 0) {
        let who = if recovery.who.is_empty() { String::new() } else { format!(" of {}", recovery.who) };
        let count = count(recovery.changes);
        Messages::stderr().note(&format!("stored {count} of an interrupted run{who} in {}", opened.name));
    }
    Ok(())
}

/// Says that the state is not the newest, where a run has left changes in a journal beside it.
pub(crate) async fn warn_of_journal(opened: &ManagedState) {
    let Some(manager) = journaled(opened) else { return };
    let shown = opened.shown();
    let what = match manager.pending().await {
        Ok(None) => return,
        Ok(Some(pending)) if pending.changes == 0 => return,
        Ok(Some(pending)) => format!("holds {} newer than this state", count(pending.changes)),
        Err(error) => format!("cannot be read: {}", chain(&error)),
    };
    Messages::stderr().warning(&format!(
        "the journal of a run beside {} {what}; `groundstate recover {shown}` stores what an interrupted run has left",
        opened.name
    ));
}

/// The same for a file that is only read.
pub(crate) fn warn_beside(path: &Path) -> Result<()> {
    if !journal_folder(path).is_dir() {
        return Ok(());
    }
    let opened = StateArg::file(path.to_owned())?.open_raw(Backup::None, false)?;
    runtime()?.block_on(warn_of_journal(&opened));
    Ok(())
}

/// So many changes, in words.
pub(crate) fn count(changes: usize) -> String {
    if changes == 1 { "1 change".to_owned() } else { format!("{changes} changes") }
}
