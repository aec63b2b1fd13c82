//! `groundstate undo`: the content of the last backup, under a serial higher than all before it.

use std::path::Path;

use groundstate_statefile::File;

use super::replace::{Replacement, replace};
use crate::args::UndoArgs;
use crate::input::location::StateLocation;
use crate::input::state::State;
use crate::input::terraform::load;
use crate::report::error::{Failure, Kind, Result};
use crate::session::managed_state::backups;

/// Brings the state of the last backup back.
pub(crate) fn run(args: &UndoArgs, found: StateLocation) -> Result {
    let path = args.from.clone().unwrap_or_else(|| found.with_suffix(".backup"));
    if !path.exists() {
        return Err(missing(&path, &found.with_suffix("")));
    }
    let source = State::beside(&path)?.terraform()?;
    let backup = load(&source)?.file;
    let how = Replacement {
        args: &args.change,
        yes: args.consent.yes,
        operation: "state-undo",
        source: &path,
        // Not the backup itself: it stays what it is until the state is safely stored, and after.
        backup_suffix: ".undone",
        force: args.force,
        over_encrypted: args.over_encrypted,
        checked: false,
    };
    replace(found, &how, |stored| newer(backup, stored, args, &source.name))
}

/// The backup as the successor of what is stored.
fn newer(mut backup: File, stored: Option<&File>, args: &UndoArgs, name: &str) -> Result<File> {
    let Some(stored) = stored else {
        // What was there before has had a higher serial than its backup.
        backup.serial = backup.serial.next().unwrap_or(backup.serial);
        return Ok(backup);
    };
    if !args.force && stored.lineage != backup.lineage {
        let message = format!("{name} is not a backup of this state: their lineages differ");
        return Err(Failure::new(Kind::Conflict, message)
            .hint("name the right one with `--from`; `--force` goes back to this one nevertheless"));
    }
    Ok(backup)
}

fn missing(path: &Path, state: &Path) -> Failure {
    let failure =
        Failure::new(Kind::NoState, format!("there is no backup: {} does not exist", path.display()));
    match backups(state) {
        names if names.is_empty() => failure.hint("name a backup with `--from FILE`"),
        found => {
            let names: Vec<String> = found.iter().map(|path| path.display().to_string()).collect();
            failure.hint(format!("name one of these with `--from`: {}", names.join(", ")))
        }
    }
}
