//! Finishing a write that was interrupted. The holder of the lock does this before anything else.

use std::fs::File;
use std::io;

use groundstate_durable::remove;

use crate::files::read_at;
use crate::in_place::redo;
use crate::journal::{HEADER, Journal, Mark};
use crate::state_path::StatePath;

/// Puts the state of an interrupted write in place, and removes journals that nothing needs.
pub(crate) fn recover(place: &StatePath, file: &File) -> io::Result<()> {
    let path = place.journal();
    let head = read_at(file, 0, HEADER)?;
    let mark = Mark::of(&head);
    if mark != Mark::None {
        match Journal::open(&path)? {
            Some(journal) if journal.finishes(&head, file.metadata()?.len()) => {
                if !journal.verify()? {
                    return Err(damaged());
                }
                redo(file, &journal)?;
            }
            _ if mark != Mark::Cut => return Err(damaged()),
            _ => {}
        }
    }
    // A file that is not marked is whole: the write had not begun, it was finished, or another program has written the
    // file since. A journal that cannot be removed then does no harm.
    drop(remove(&path));
    Ok(())
}

/// The error for a file that is marked where no journal finishes it.
pub(crate) fn damaged() -> io::Error {
    let message =
        "a write of this state was interrupted and its journal is missing or damaged: bring back a backup";
    io::Error::new(io::ErrorKind::InvalidData, message)
}
