//! `groundstate pull`: the stored state in the current format.

use groundstate_state_edit::OpenState;
use groundstate_statefile::{EncodeError, EncodeOptions, encode_to};
use groundstate_statemgr::Manager;
use groundstate_statemgr_fs::Backup;

use crate::args::PullArgs;
use crate::input::locate::is_standard;
use crate::input::location::StateLocation;
use crate::input::terraform;
use crate::input::threads::{shared, threads};
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::report::output::Output;
use crate::session::locked::unlocked;
use crate::session::managed_state::ManagedState;
use crate::session::recovery::warn_of_journal;
use crate::session::save::write_document;
use crate::session::state_error::StateError;

/// Prints what is stored there.
pub(crate) fn run(args: &PullArgs, found: StateLocation) -> Result {
    let output = args.output.as_deref().filter(|path| !is_standard(path));
    let managed = ManagedState::open(found, Backup::None, false)?;
    let text = unlocked(&managed, async |manager| {
        warn_of_journal(&managed).await;
        read(manager, &managed.name).await
    })?;
    // Old formats are decoded, so their text is kept for messages about it.
    let opened = match OpenState::open_with(text, &shared()) {
        Ok(opened) => opened,
        Err(error) => {
            let text = unlocked(&managed, async |manager| read(manager, &managed.name).await)?;
            return Err(terraform::failure(&error, &managed.name, &text));
        }
    };
    match opened {
        OpenState::Document(document) => write_document(document.text(), output)?,
        OpenState::File(file) => {
            let options = EncodeOptions::default().threads(threads());
            match output {
                Some(_) => {
                    let mut text = Vec::new();
                    encode_to(&file, &options, &mut text).map_err(lossy)?;
                    write_document(&text, output)?;
                }
                None => {
                    let mut out = Output::stdout();
                    out.streamed(|out| encode_to(&file, &options, out).map(drop)).map_err(lossy)?;
                    out.finish()?;
                }
            }
        }
        _ => return Err(Failure::new(Kind::Unusable, format!("{} is of an unknown kind", managed.name))),
    }
    Ok(Outcome::Clean)
}

fn lossy(error: EncodeError) -> Failure {
    match error {
        EncodeError::Io(error) => error.into(),
        error => Failure::new(Kind::Loss, error.to_string())
            .hint("`groundstate upgrade --lossy` writes it nevertheless, and lists what is lost"),
    }
}

async fn read(manager: &Manager, name: &str) -> Result<Vec<u8>, StateError> {
    let stored = manager.store().read().await?;
    let nothing = || Failure::new(Kind::NoState, format!("{name} is empty, so it holds no state"));
    Ok(stored.ok_or_else(nothing)?.bytes)
}
