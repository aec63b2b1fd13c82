//! Compaction: a journal that is over becomes the base of the next one.

use std::sync::Arc;

use groundstate_pulumi_snapshot::{Manifest, Snapshot};

use crate::entry::Entry;
use crate::ids::SequenceId;
use crate::replay::{Remark, ReplayError, Replayer};

/// What a journal was compacted to.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Compacted {
    /// The base of the next journal, in which operations that did not end are pending.
    pub base: Snapshot,
    /// A text in it is not UTF-8, although it cannot be seen where it is encrypted.
    pub has_byte_string: bool,
    /// Entries up to this number are in the base. One that arrives after that must be refused: it speaks of the base before.
    pub through: Option<SequenceId>,
    /// Whether the base is broken, which is recorded in it.
    pub is_broken: bool,
    /// What was passed over.
    pub remarks: Vec<Remark>,
}

/// Makes of a journal that is over the base of the next one, and records in it whether it is broken and by which command it
/// was made.
///
/// The numbers in entries are those of one base and one journal, so nothing can be added to a journal that was compacted.
///
/// ```
/// use groundstate_pulumi_snapshot::{Manifest, Resource, Snapshot};
/// use groundstate_pulumi_journal::{Entry, EntryKind, SequenceId, compact};
///
/// let mut end = Entry::new(EntryKind::Success, 3, 1);
/// end.state = Some(Resource::new("urn:b", "t").into());
/// let entries = [Entry::new(EntryKind::Begin, 2, 1), end];
/// let compacted = compact(Snapshot::default(), entries, Manifest::default(), "mytool compact")?;
/// assert_eq!(compacted.base.resources.len(), 1);
/// assert_eq!(compacted.through, Some(SequenceId::new(3)));
/// # Ok::<(), groundstate_pulumi_journal::ReplayError>(())
/// ```
///
/// # Errors
///
/// As [`Replayer::apply`] and [`Replayer::snapshot`].
pub fn compact(
    base: Snapshot,
    entries: impl IntoIterator<Item = impl Into<Arc<Entry>>>,
    manifest: Manifest,
    command: &str,
) -> Result<Compacted, ReplayError> {
    let mut replayer = Replayer::new(base);
    for entry in entries {
        replayer.apply(entry)?;
    }
    replayer.compact(manifest, command)
}

impl Replayer {
    /// Makes of what there is the base of the next journal, as [`compact`].
    ///
    /// # Errors
    ///
    /// As [`Replayer::snapshot`].
    pub fn compact(&mut self, manifest: Manifest, command: &str) -> Result<Compacted, ReplayError> {
        let mut replayed = self.snapshot(manifest)?;
        let is_broken = replayed.record_integrity(command);
        Ok(Compacted {
            base: replayed.snapshot,
            has_byte_string: replayed.has_byte_string,
            through: replayed.through,
            is_broken,
            remarks: replayed.remarks,
        })
    }
}
