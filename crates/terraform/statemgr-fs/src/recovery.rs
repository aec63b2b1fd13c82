//! Settling a write that was interrupted. The holder of the lock does this before anything else.

use std::fs::File;
use std::io;

use groundstate_durable::remove;

use crate::files::{self, read_at};
use crate::in_place::settle;
use crate::journal::{HEADER, Journal, Mark};
use crate::state_path::StatePath;
use crate::undo;

/// Puts the state of an interrupted write in place, the new one or the old one, and removes journals that nothing needs.
pub(crate) fn recover(place: &StatePath, file: &File) -> io::Result<()> {
    let path = place.journal();
    let head = read_at(file, 0, HEADER)?;
    let mark = Mark::of(&head);
    if mark != Mark::None {
        match Journal::of(&path, &head, file.metadata()?.len())? {
            Some(journal) => {
                if !journal.verify()? {
                    return Err(damaged());
                }
                settle(file, &journal)?;
            }
            _ if mark != Mark::Cut => return Err(damaged()),
            _ => {}
        }
    }
    // A file that is not marked is whole: the write had not begun, it was finished, or another program has written the
    // file since. A journal that cannot be removed then does no harm.
    if let Ok(Some(journal)) = files::open(&path) {
        drop(undo::narrow(&journal));
    }
    drop(remove(&path));
    Ok(())
}

/// The error for a file that is marked where no journal has its state.
pub(crate) fn damaged() -> io::Error {
    let message =
        "a write of this state was interrupted and its journal is missing or damaged: bring back a backup";
    io::Error::new(io::ErrorKind::InvalidData, message)
}
