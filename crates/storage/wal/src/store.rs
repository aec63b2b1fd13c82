//! The contract of journals, clause by clause.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::error::Result;
use crate::record::{Ack, Cursor, Epoch, Head, Page, Record};

/// The most bytes that a batch or a base may have, with four for each record.
pub const MAX_BATCH: usize = 1 << 30;

/// Whether records of these lengths are few and short enough for a batch, or for a base.
pub(crate) fn fits(lengths: impl IntoIterator<Item = usize>) -> bool {
    let sum = |sum: usize, length: usize| sum.saturating_add(length).saturating_add(4);
    lengths.into_iter().fold(0, sum) <= MAX_BATCH
}

/// Whether these records are few and short enough for a batch.
pub(crate) fn is_batch(records: &[Record]) -> bool {
    fits(records.iter().map(|record| record.as_bytes().len()))
}

/// Whether this record is short enough for a base.
pub(crate) fn is_base(base: &Record) -> bool {
    is_batch(std::slice::from_ref(base))
}

/// One journal in one place: the trait that implementers fulfil, with [`JournalWriter`].
///
/// A journal is at most one *epoch* at a time: a base, and records behind it in the order in which they were acknowledged.
/// Stores look into neither. A value of this type is a *client*: several may be open on one place, in one process or
/// many. `Display` names the place, without credentials; neither does `Debug` show any.
///
/// # The contract
///
/// Each clause has cases of the same name in the conformance suite.
///
/// Reading
///
/// - **R1 `absent_reads_as_none`**: where no epoch was begun, and after `clear`, `head` gives `None`. Reading creates
///   nothing.
/// - **R2 `acknowledged_is_read`**: what was acknowledged is read by every client, unchanged, until the epoch ends.
/// - **R3 `reads_need_no_writer`**: `head` and `read` need no writer, and work beside one.
/// - **R4 `reads_from_a_position`**: `read` begins at the position that is asked for, and pages give all that follows,
///   once and in order; `NoEpoch` when the epoch is over.
///
/// Appending
///
/// - **A1 `acknowledged_is_durable`**: once `append` has returned, the batch survives whatever happens to processes and
///   machines.
/// - **A2 `order_is_kept`**: a batch stands behind all that were acknowledged before it was handed over; its records stand
///   together, in their order. Receipts say where.
/// - **A3 `batches_are_whole`**: a batch whose writer dies, whose future is dropped, or that ends in `Ambiguous` is there as a
///   whole or not at all. After any other error it is not.
/// - **A4 `concurrent_appends_all_count`**: `append` may be called from many tasks at once; each gets a receipt of its own.
/// - **A5 `any_bytes_are_records`**: records may have any length, zero among them, and any bytes. A batch may be empty: it
///   writes nothing.
/// - **A6 `append_needs_an_epoch`**: without one, `append` is `NoEpoch`.
///
/// Epochs
///
/// - **E1 `begin_replaces`**: after `begin`, the new epoch has the base that was given, no records, and a larger number;
///   nothing of the epoch before is read any more.
/// - **E2 `begin_is_all_or_nothing`**: whatever happens during `begin` and `clear`, readers find the old epoch as it was or
///   the new one.
///
/// Writers
///
/// - **W1 `newest_writer_wins`**: once `open` has returned, every operation of a writer that was opened before is `Fenced`,
///   and leaves nothing. This holds although the older one was only paused, however long, and however many came after it. A
///   store that no longer knows them all may answer `Ambiguous`, but never that anything is stored.
/// - **W2 `open_never_waits`**: unless told to take over, `open` is `Locked` while another writer is open and the store can tell
///   that it is alive. Whether it can is up to the store.
/// - **W3 `closed_writers_end`**: after `close`, every operation is `Closed`, and others may open.
/// - **W4 `a_new_writer_goes_on`**: a writer appends behind what is stored, whichever client wrote that.
///
/// Damage
///
/// - **D1 `torn_tails_count_for_nothing`**: what a dying writer left of a batch that was never acknowledged is no error;
///   [`Page::torn`] says that it is there. The next writer goes on behind what is whole.
/// - **D2 `damage_is_refused`**: bytes that are damaged before the end, or missing, are `Corrupt`, with the place. They are
///   never skipped.
///
/// Everything
///
/// - **C1 `display_names_the_place`**: `Display` is not empty, one line, and equal for two clients of one place.
#[async_trait]
pub trait JournalStore: fmt::Debug + fmt::Display + Send + Sync + 'static {
    /// Becomes the writer; all that were opened before are refused from now on.
    ///
    /// # Errors
    ///
    /// `Locked`, `Fenced` when yet another writer was faster, `Corrupt`, `Denied`, `Unavailable`.
    async fn open(&self, options: &OpenOptions) -> Result<Arc<dyn JournalWriter>>;

    /// The epoch that is stored; `None` when none is.
    ///
    /// # Errors
    ///
    /// `Corrupt`, `Denied`, `Unavailable`.
    async fn head(&self) -> Result<Option<Head>>;

    /// The records from `from` on, as many as the store likes to give at once.
    ///
    /// # Errors
    ///
    /// `NoEpoch`, `Corrupt`, `Denied`, `Unavailable`, and `Invalid` for a position behind the end.
    async fn read(&self, from: &Cursor) -> Result<Page>;
}

/// The one who may append. Dropping it is as good as dying: nothing is lost, and the store may take a while to notice.
#[async_trait]
pub trait JournalWriter: fmt::Debug + Send + Sync + 'static {
    /// Where the next record will stand; `None` without an epoch.
    fn position(&self) -> Option<Cursor>;

    /// Ends the epoch and its records, if there is one, and begins another with this base.
    ///
    /// # Errors
    ///
    /// `Fenced`, `Closed`, `Ambiguous`, `Invalid`, `Denied`, `Unavailable`.
    async fn begin(&self, base: &Record) -> Result<Epoch>;

    /// Appends a batch. When this returns, it is durable.
    ///
    /// # Errors
    ///
    /// `Fenced`, `Closed`, `NoEpoch`, `Ambiguous`, `Invalid` for more than [`MAX_BATCH`] bytes, `Denied`, `Unavailable`.
    async fn append(&self, batch: &[Record]) -> Result<Ack>;

    /// Ends the epoch and its records, and begins none.
    ///
    /// # Errors
    ///
    /// `Fenced`, `Closed`, `Ambiguous`, `Denied`, `Unavailable`.
    async fn clear(&self) -> Result<()>;

    /// Ends the writer, after what it was given before. A second time does nothing.
    ///
    /// # Errors
    ///
    /// `Denied`, `Unavailable`; the writer has ended nevertheless.
    async fn close(&self) -> Result<()>;
}

/// How to open a journal for writing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Who it is, for the messages of others: a lock id, `user@host`. No secrets.
    pub owner: String,
    /// Whether to take over from a writer that is alive: the caller holds a lock that says so.
    pub take_over: bool,
    /// Whether all writers begin one epoch, the first of them, and none ever clears it. Nothing behind its base is removed then, so a store need not
    /// ask after each batch whether its place was removed.
    pub single_epoch: bool,
}

impl OpenOptions {
    /// Refuses to disturb a living writer.
    pub fn new(owner: impl Into<String>) -> Self {
        Self { owner: owner.into(), take_over: false, single_epoch: false }
    }

    /// Chooses whether to take over from a living writer.
    #[must_use]
    pub fn take_over(mut self, yes: bool) -> Self {
        self.take_over = yes;
        self
    }

    /// Says that there is one epoch, and that it is never cleared.
    #[must_use]
    pub fn single_epoch(mut self, yes: bool) -> Self {
        self.single_epoch = yes;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_BATCH, fits};

    #[test]
    fn a_gibibyte_is_the_limit_with_four_bytes_for_each_record() {
        assert!(fits([]) && fits([MAX_BATCH - 4]) && fits([0, MAX_BATCH - 8]));
        assert!(!fits([MAX_BATCH - 3]) && !fits([0, MAX_BATCH - 7]) && !fits([usize::MAX, usize::MAX]));
    }
}
