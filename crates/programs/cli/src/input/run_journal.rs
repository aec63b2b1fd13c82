//! The journal of changes beside a state file: what a run has left that was interrupted.

use std::path::Path;
use std::sync::Arc;

use groundstate_common::{OsIds, SystemClock};
use groundstate_statemgr::{ManagerOptions, StateStore};
use groundstate_statemgr_fs::Backup;
use groundstate_statemgr_wal::{JournaledManager, journal_folder};
use groundstate_wal::fs::FsJournal;

use crate::input::location::StateLocation;
use crate::input::runtime::runtime;
use crate::report::error::{Result, chain};
use crate::report::messages::Messages;
use crate::report::text::count;

/// A manager of a state and of the journal in this folder; none if there is no journal.
pub(crate) fn journaled(
    folder: &Path,
    store: Arc<dyn StateStore>,
    options: ManagerOptions,
) -> Option<JournaledManager> {
    let journal = folder.is_dir().then(|| Arc::new(FsJournal::new(folder)))?;
    Some(JournaledManager::new(store, journal, Arc::new(SystemClock), Arc::new(OsIds), options))
}

/// Says that a state is not the newest, where a run has left changes in this folder. Messages call the state `name`, and
/// commands take `shown` for it.
pub(crate) async fn warn(folder: &Path, store: Arc<dyn StateStore>, name: &str, shown: &str) {
    let Some(manager) = journaled(folder, store, ManagerOptions::default()) else { return };
    let what = match manager.pending().await {
        Ok(None) => return,
        Ok(Some(pending)) if pending.changes == 0 => return,
        Ok(Some(pending)) => format!("holds {} newer than this state", count(pending.changes, "change")),
        Err(error) => format!("cannot be read: {}", chain(&error)),
    };
    Messages::stderr().warning(&format!(
        "the journal of a run beside {name} {what}; `groundstate recover {shown}` stores what an interrupted run has left"
    ));
}

/// The same for a file that is only read.
pub(crate) fn warn_beside(path: &Path) -> Result<()> {
    let folder = journal_folder(path);
    if folder.is_dir() {
        let location = StateLocation::file(path.to_owned())?;
        let name = location.name();
        runtime()?.block_on(warn(&folder, location.store(Backup::None)?, name, name));
    }
    Ok(())
}
