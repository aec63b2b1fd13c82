//! `groundstate journal compact`: a new base in place of a base and entries.

use groundstate_wal::{JournalStore, OpenOptions, Record, read_all};

use super::input::Journal;
use super::outcome::Led;
use super::place::{failure, store};
use super::replay::write;
use crate::args::ReplayArgs;
use crate::input::runtime::runtime;
use crate::report::error::{Failure, Kind, Result};
use crate::report::messages::Messages;
use crate::report::text::count;
use crate::session::who::who;

/// Compacts a journal of its own in its place, and writes the base of anything else.
pub(super) fn run(args: &ReplayArgs) -> Result {
    let stored = args.entries.paths.last().map(|path| store(path)).transpose()?.flatten();
    let Some(stored) = stored else {
        let journal = Journal::read(&args.entries)?;
        let led = Led::to(&journal, "journal compact")?;
        write(&led.text(&journal.name)?, args.output.as_deref())?;
        return Ok(led.report(&journal.name));
    };
    if args.output.is_some() {
        let message = "a journal is compacted in its place, so there is no output";
        return Err(Failure::new(Kind::Usage, message)
            .hint("leave out `--output`, or write the deployment with `groundstate journal replay`"));
    }
    in_place(args, &*stored)
}

/// The writer is there before anything is read, so that no entry comes in between.
fn in_place(args: &ReplayArgs, store: &dyn JournalStore) -> Result {
    let runtime = runtime()?;
    // Becoming the writer would create a journal where there is none.
    Journal::read(&args.entries)?;
    let failed = |error: groundstate_wal::Error| failure(&error);
    let writer = runtime.block_on(store.open(&OpenOptions::new(who()))).map_err(failed)?;
    let journal = Journal::read(&args.entries)?;
    let led = Led::to(&journal, "journal compact")?;
    let base = Record::from(led.text(&journal.name)?);
    let compacted = runtime.block_on(async {
        writer.begin(&base).await?;
        // What is acknowledged is read once more before anybody relies on it.
        let stored = read_all(store).await?.map(|contents| contents.head.base);
        writer.close().await?;
        Ok(stored.as_ref() == Some(&base))
    });
    if !compacted.map_err(failed)? {
        let message = format!("{} does not hold the base that was written to it", journal.name);
        return Err(Failure::new(Kind::Unusable, message));
    }
    let entries = journal.entries.len();
    let verb = if entries == 1 { "is" } else { "are" };
    let entries = count(entries, "entry");
    Messages::stderr().note(&format!("{entries} of {} {verb} in its base now", journal.name));
    Ok(led.report(&journal.name))
}
