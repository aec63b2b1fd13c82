//! Reading a whole journal, page by page.

use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;
use crate::record::{Cursor, Head, Position, Record, Torn};
use crate::store::JournalStore;

/// How often to begin again when epochs end while they are read.
const ATTEMPTS: usize = 16;

/// Everything that a journal holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contents {
    /// What the epoch begins with.
    pub head: Head,
    /// Its records.
    pub records: Vec<Record>,
    /// What a crash has left behind them.
    pub torn: Option<Torn>,
}

/// Reads all of a journal; `None` when no epoch is stored. An epoch that ends meanwhile is left for the next.
///
/// # Errors
///
/// Those of reading, and `Unavailable` when epochs end faster than they are read.
pub async fn read_all(store: &dyn JournalStore) -> Result<Option<Contents>> {
    for _ in 0..ATTEMPTS {
        let Some(head) = store.head().await? else { return Ok(None) };
        let mut records = Vec::new();
        let mut keep = |_, record| {
            records.push(record);
            Ok(())
        };
        match replay(store, head.start(), &mut keep).await {
            Ok(torn) => return Ok(Some(Contents { head, records, torn })),
            Err(error) if error.kind() == ErrorKind::NoEpoch => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::new(ErrorKind::Unavailable, Op::Read, store)
        .because("its epochs end faster than they can be read"))
}

/// Shows each record from `from` on to `visit`, in order, without keeping more than a page in memory. Gives what a crash
/// has left behind the last one.
///
/// # Errors
///
/// Those of reading, and whatever `visit` fails with: reading ends there.
pub async fn replay(
    store: &dyn JournalStore,
    from: Cursor,
    visit: &mut (dyn FnMut(Position, Record) -> Result<()> + Send),
) -> Result<Option<Torn>> {
    let mut from = from;
    loop {
        let page = store.read(&from).await?;
        let mut position = from.position();
        for record in page.records {
            visit(position, record)?;
            position = position.plus(1);
        }
        match page.next {
            // A store that does not get on would be read for ever.
            Some(next) if next.position() != position || position == from.position() => {
                return Err(Error::new(ErrorKind::Internal, Op::Read, store)
                    .because("its pages do not follow each other"));
            }
            Some(next) => from = next,
            None => return Ok(page.torn),
        }
    }
}
