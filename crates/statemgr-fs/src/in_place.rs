//! Writing a state file in place, in steps of which each leaves the old state or the new one to be found.
//!
//! The file keeps its inode: a Terraform that waits for the lock has opened it already, and would write its state into
//! a file without a name if this one were replaced.

use std::fs::File;
use std::io;

use crate::files::{copy_at, read_at, reserve, write_at};
use crate::journal::{HEADER, Header, Journal};
use crate::stamp::{Stamp, touch};

/// Why a write did not come to its end.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// The old state is in place.
    Before(io::Error),
    /// The file is marked, and the journal has the new state.
    Within(io::Error),
}

/// Overwrites `file` with the state that `journal`, a sealed one with this header, has behind its header.
pub(crate) fn publish(file: &File, journal: &File, header: &Header) -> Result<(), Stopped> {
    let before = Stamp::of(file).map_err(Stopped::Before)?;
    reserve(file, header.len().max(HEADER as u64)).map_err(Stopped::Before)?;
    mark(file, header, &before)?;
    finish(file, journal, header, &before).map_err(Stopped::Within)
}

/// Goes on with an interrupted write. Any number of interruptions may follow.
pub(crate) fn redo(file: &File, journal: &Journal) -> io::Result<()> {
    let before = Stamp::of(file)?;
    finish(file, journal.file(), journal.header(), &before)
}

/// Puts the mark over the beginning of the file, durably. From here on the new state is the one that is stored.
fn mark(file: &File, header: &Header, before: &Stamp) -> Result<(), Stopped> {
    let head = read_at(file, 0, HEADER).map_err(Stopped::Before)?;
    let Err(error) = write_at(file, 0, header.bytes()).and_then(|()| file.sync_all()) else { return Ok(()) };
    // Behind the mark nothing has changed yet, so the old state is back with its beginning.
    let put_back =
        write_at(file, 0, &head).and_then(|()| file.set_len(before.len())).and_then(|()| file.sync_all());
    Err(if put_back.is_ok() { Stopped::Before(error) } else { Stopped::Within(error) })
}

/// Writes everything behind the mark, then the beginning in its place.
fn finish(file: &File, journal: &File, header: &Header, before: &Stamp) -> io::Result<()> {
    let sector = HEADER as u64;
    if header.len() > sector {
        copy_at(journal, sector + sector, file, sector)?;
    }
    file.set_len(header.len())?;
    file.sync_all()?;
    write_at(file, 0, &read_at(journal, sector, HEADER)?)?;
    touch(file, before)?;
    file.sync_all()
}
