//! `groundstate pull`: the stored state in the current format.

use groundstate_state_edit::OpenState;
use groundstate_statefile::{EncodeError, EncodeOptions, encode_to};
use groundstate_statemgr::Manager;
use groundstate_statemgr_fs::Backup;

use crate::input::location::StateLocation;
use crate::input::terraform;
use crate::input::threads::threads;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::output::Output;
use crate::session::locked::unlocked;
use crate::session::managed_state::ManagedState;
use crate::session::recovery::warn_of_journal;
use crate::session::state_error::StateError;

/// Prints what is stored there.
pub(crate) fn run(found: StateLocation) -> Result {
    let managed = ManagedState::open(found, Backup::None, false)?;
    let text = unlocked(&managed, async |manager| {
        warn_of_journal(&managed).await;
        read(manager, &managed.name).await
    })?;
    // Old formats are decoded, so their text is kept for messages about it.
    let opened = match OpenState::open(text) {
        Ok(opened) => opened,
        Err(error) => {
            let text = unlocked(&managed, async |manager| read(manager, &managed.name).await)?;
            return Err(terraform::failure(&error, &managed.name, &text));
        }
    };
    let mut out = Output::stdout();
    match opened {
        OpenState::Document(document) => out.document(document.text())?,
        OpenState::File(file) => out
            .streamed(|out| encode_to(&file, &EncodeOptions::default().threads(threads()), out).map(drop))
            .map_err(|error| match error {
                EncodeError::Io(error) => error.into(),
                error => Failure::new(Kind::Loss, error.to_string())
                    .hint("`groundstate upgrade --lossy` writes it nevertheless, and lists what is lost"),
            })?,
        _ => return Err(Failure::new(Kind::Unusable, format!("{} is of an unknown kind", managed.name))),
    }
    out.finish()?;
    Ok(Outcome::Clean)
}

async fn read(manager: &Manager, name: &str) -> Result<Vec<u8>, StateError> {
    let stored = manager.store().read().await?;
    let nothing = || Failure::new(Kind::NoState, format!("{name} is empty, so it holds no state"));
    Ok(stored.ok_or_else(nothing)?.bytes)
}
