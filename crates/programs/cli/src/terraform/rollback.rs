//! `groundstate rollback`: an earlier snapshot, under a serial higher than all before it.

use std::path::Path;

use groundstate_statefile::{DecodeOptions, decode};

use super::replace::{Replacement, replace};
use crate::args::RollbackArgs;
use crate::input::encryption;
use crate::input::history::StateHistory;
use crate::input::location::StateLocation;
use crate::input::terraform;
use crate::report::error::{Failure, Kind, Result};

pub(crate) fn run(args: &RollbackArgs, found: StateLocation) -> Result {
    let history = StateHistory::of_located(found.located())?;
    let entries = history.list()?;
    let entry = history.find(&args.to)?;
    let bytes = history.read(&entry.id)?;
    let name = format!("{} at {}", history.name, entry.id);
    let bytes = match encryption::is_envelope(&bytes) {
        true => encryption::decrypted(&name, &bytes, encryption::of_located(found.located())?.as_ref())?,
        false => bytes,
    };
    let mut snapshot = decode(&bytes, &DecodeOptions::default())
        .map_err(|error| terraform::failure(&error, &name, &bytes))?;
    // A serial that was seen once must not come again, not even one that was rolled back before.
    let highest = entries.iter().filter_map(|entry| entry.serial).max().unwrap_or_default();
    let how = Replacement {
        args: &args.change,
        yes: args.consent.yes,
        operation: "state-rollback",
        source: Path::new(""),
        restored: None,
        force: args.force.is_whole(),
        over_encrypted: args.over_encrypted,
        checked: false,
        expected: None,
    };
    replace(found, &how, |stored| {
        if !args.force.is_whole() && stored.is_some_and(|stored| stored.lineage != snapshot.lineage) {
            let message = format!("{name} is not a snapshot of this state: their lineages differ");
            return Err(Failure::new(Kind::Conflict, message).hint("`--force` goes back to it nevertheless"));
        }
        let newest = stored.map(|stored| stored.serial).unwrap_or_default();
        snapshot.serial = snapshot.serial.max(highest).max(newest);
        if stored.is_none() {
            snapshot.serial = snapshot.serial.next().unwrap_or(snapshot.serial);
        }
        Ok(snapshot)
    })
}
