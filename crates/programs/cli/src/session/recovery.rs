//! What a run has left in the journal beside a state, before the state is changed.

use std::sync::Arc;

use groundstate_statemgr::{ErrorKind, LockGrant, ManagerOptions, Refresher};
use groundstate_statemgr_wal::JournaledManager;

use crate::input::run_journal;
use crate::report::error::{Failure, Kind, Result, chain};
use crate::report::messages::Messages;
use crate::report::text::count;
use crate::session::managed_state::ManagedState;
use crate::session::state_error::StateError;
use crate::session::who::who;

/// A manager of the state and of the journal beside it; none if there is no journal.
pub(crate) fn journaled(opened: &ManagedState) -> Option<JournaledManager> {
    let options = ManagerOptions::default().who(who());
    run_journal::journaled(opened.changes.as_deref()?, Arc::clone(opened.manager.store()), options)
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
            let failure = Failure::new(Kind::Conflict, chain(&error));
            let command = |options: &str| opened.command(&format!("recover {options}"), &[]);
            let failure = failure
                .hint(format!("`{}` writes the state that the journal leads to", command("--export FILE")));
            return Err(failure.hint(format!("`{}` removes the journal", command("--discard"))).into());
        }
        Err(error) => return Err(error.into()),
    }
    if let Some(recovery) = manager.last_recovery().filter(|recovery| recovery.changes > 0) {
        let who = if recovery.who.is_empty() { String::new() } else { format!(" of {}", recovery.who) };
        let count = count(recovery.changes, "change");
        Messages::stderr().note(&format!("stored {count} of an interrupted run{who} in {}", opened.name));
    }
    Ok(())
}

/// Says that the state is not the newest, where a run has left changes in a journal beside it.
pub(crate) async fn warn_of_journal(opened: &ManagedState) {
    let Some(folder) = opened.changes.as_deref() else { return };
    run_journal::warn(folder, Arc::clone(opened.manager.store()), &opened.name, &opened.shown()).await;
}
