//! `groundstate pull`: the stored state in the current format.

use std::path::Path;

use groundstate_state_edit::OpenState;
use groundstate_statefile::{EncodeError, EncodeOptions, encode_to};
use groundstate_statemgr::Manager;

use crate::args::PullArgs;
use crate::input::locate::is_standard;
use crate::input::location::StateLocation;
use crate::input::state::State;
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
    if let Some(id) = &args.at {
        let source = State::at(&args.state, Some(id))?.terraform()?;
        let text = source.text()?.into_owned();
        let opened = OpenState::open_with(text, &shared());
        let opened = opened.map_err(|error| match source.text() {
            Ok(text) => terraform::failure(&error, &source.name, &text),
            Err(failure) => failure,
        })?;
        return print(opened, &source.name, output);
    }
    let managed = ManagedState::open(found, None, false)?;
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
    print(opened, &managed.name, output)
}

fn print(opened: OpenState, name: &str, output: Option<&Path>) -> Result {
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
        _ => return Err(Failure::new(Kind::Unusable, format!("{name} is of an unknown kind"))),
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
