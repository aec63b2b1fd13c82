//! Reading a state whole without a lock, also while it is being written.

use std::fs::File;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::digest;
use crate::files;
use crate::hashed_read;
use crate::journal::{HEADER, Journal, Mark};
use crate::recovery::damaged;
use crate::stamp::Stamp;
use crate::state_path::StatePath;

/// How long a reader looks for a moment without a writer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long it waits between two looks.
const PAUSE: Duration = Duration::from_millis(2);
/// How often a file must look the same beside a journal: longer than the kernel's clock takes for a step.
const CALM: u32 = 10;

/// A state as it was at one moment.
pub(crate) struct Snapshot {
    pub(crate) bytes: Vec<u8>,
    pub(crate) digest: String,
    /// Of the file it comes from; a state from a journal has none.
    pub(crate) stamp: Option<Stamp>,
}

/// One look at the file.
enum Look {
    Found(Snapshot),
    Absent,
    /// It changed while it was read.
    Moving,
    /// It held still, and a journal is beside it.
    Journal(Snapshot),
    /// It is being overwritten, and its journal is not there or not whole.
    Torn,
}

/// The outcome of an attempt to finish another's write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempted {
    /// It is finished, or cannot be from here: trying again is useless.
    Done,
    /// The lock is held, perhaps by the writer.
    Busy,
}

/// What is stored: the old state or the new one during a write. None when nothing is, or zero bytes.
///
/// `handle` is the holder's own open file, for systems on which only the holder can read. `recover` is called when a write
/// seems to have been interrupted.
pub(crate) fn read(
    place: &StatePath,
    handle: Option<&File>,
    mut recover: impl FnMut() -> io::Result<Attempted>,
) -> io::Result<Option<Snapshot>> {
    let begin = Instant::now();
    let mut attempted = Attempted::Busy;
    let (mut calm, mut last) = (0, None);
    loop {
        let look = look(place, handle)?;
        if attempted == Attempted::Busy && matches!(look, Look::Journal(_) | Look::Torn) {
            attempted = recover()?;
            if attempted == Attempted::Done {
                continue;
            }
        }
        let is_late = begin.elapsed() >= PATIENCE;
        match look {
            Look::Found(snapshot) => {
                if snapshot.stamp.is_none() {
                    // Other programs cannot read the file before it is finished. The state is still known.
                    drop(recover());
                }
                return Ok(snapshot.unless_empty());
            }
            Look::Absent => return Ok(None),
            Look::Journal(snapshot) => {
                calm = if snapshot.stamp == last { calm + 1 } else { 0 };
                last = snapshot.stamp;
                if calm >= CALM || is_late {
                    return Ok(snapshot.unless_empty());
                }
            }
            Look::Torn if is_late || attempted == Attempted::Done => return Err(damaged()),
            Look::Moving if is_late => {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "it is being written all the time"));
            }
            Look::Torn | Look::Moving => {}
        }
        sleep(PAUSE);
    }
}

impl Snapshot {
    fn unless_empty(self) -> Option<Self> {
        Some(self).filter(|snapshot| !snapshot.bytes.is_empty())
    }
}

fn look(place: &StatePath, handle: Option<&File>) -> io::Result<Look> {
    let file = match handle {
        Some(handle) => handle.try_clone()?,
        None => match files::open(&place.target())? {
            Some(file) => file,
            None => return Ok(Look::Absent),
        },
    };
    let before = Stamp::of(&file)?;
    let head = files::read_at(&file, 0, HEADER)?;
    if Mark::of(&head) != Mark::None {
        return from_journal(place, &file, &head, before);
    }
    let (bytes, digest) = hashed_read::rest(&file, head, before.len())?;
    // In this order: a writer removes its journal last, after it has given the file a time that it never had before.
    let journal = place.journal().try_exists()?;
    if Stamp::of(&file)? != before {
        return Ok(Look::Moving);
    }
    let snapshot = Snapshot { bytes, digest, stamp: Some(before) };
    Ok(if journal { Look::Journal(snapshot) } else { Look::Found(snapshot) })
}

/// The state of a file that is marked is in its journal.
fn from_journal(place: &StatePath, file: &File, head: &[u8], before: Stamp) -> io::Result<Look> {
    if let Some(journal) = Journal::of(&place.journal(), head, before.len())?
        && let Some(bytes) = journal.payload()?
    {
        let digest = journal.header().digest().to_owned();
        return Ok(Look::Found(Snapshot { bytes, digest, stamp: None }));
    }
    if Stamp::of(file)? != before {
        return Ok(Look::Moving);
    }
    // A stored state may really begin as marks do.
    Ok(match Mark::of(head) {
        Mark::Cut => {
            let (bytes, digest) = (head.to_vec(), digest::of_bytes(head));
            Look::Found(Snapshot { bytes, digest, stamp: Some(before) })
        }
        _ => Look::Torn,
    })
}
