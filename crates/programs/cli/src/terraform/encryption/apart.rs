//! `groundstate encryption decrypt --target`: plans, and states of other configurations, decrypted into another file.

use std::fs;
use std::path::{Path, PathBuf};

use groundstate_encryption::Target;

use crate::args::EncryptionDecryptArgs;
use crate::input::encryption;
use crate::input::location::StateLocation;
use crate::report::error::{Failure, Kind, Outcome, Result};
use crate::session::locked::unlocked;
use crate::session::managed_state::ManagedState;
use crate::session::save::write_document;

pub(super) fn run(args: &EncryptionDecryptArgs, target: &Target) -> Result {
    let [argument] = args.change.states.states.as_slice() else {
        return Err(Failure::new(Kind::Usage, "`--target` is for one file or place, so name one"));
    };
    let (name, stored, folder) = match target {
        Target::Plan => (argument.display().to_string(), read_plan(argument)?, folder_of(argument)),
        _ => {
            let (name, stored) = read_state(argument)?;
            (name, stored, PathBuf::new())
        }
    };
    let shown = shown(target);
    let known = encryption::of_target(Some(&folder), target)?.ok_or_else(|| {
        let message = format!("no configuration says how {name} is encrypted: it has no block `{shown}`");
        Failure::new(Kind::Usage, message)
            .hint("give the `encryption` block in TF_ENCRYPTION or in a file with `--encryption FILE`")
    })?;
    let opened = encryption::opened(&known, &stored)?;
    let opened = opened.map_err(|error| {
        let message = format!("cannot decrypt {name} with the methods of `{shown}`: {error}");
        Failure::new(Kind::Unusable, message)
    })?;
    write_document(opened.plaintext.expose(), args.output.as_deref())?;
    Ok(Outcome::Clean)
}

/// The block of a target, as the command line names it.
fn shown(target: &Target) -> String {
    match target {
        Target::State => "state".to_owned(),
        Target::Plan => "plan".to_owned(),
        Target::RemoteState(name) => format!("remote_state_data_sources.{name}"),
    }
}

fn read_plan(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| Failure::unreadable(path, &error))
}

fn folder_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).to_owned()
}

/// The bytes of a state as they are stored, and its name.
fn read_state(argument: &Path) -> Result<(String, Vec<u8>)> {
    let opened = ManagedState::open_raw(StateLocation::to_read(argument)?, None, false)?;
    let stored = unlocked(&opened, async |manager| Ok(manager.store().read().await?))?;
    let nothing = || Failure::new(Kind::NoState, format!("no state is stored in {}", opened.name));
    let bytes = stored.ok_or_else(nothing)?.bytes;
    Ok((opened.name, bytes))
}
