//! Replay: a base and entries to the snapshot they stand for.

mod alive;
mod epoch;
mod error;
mod generate;
mod rules;

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use groundstate_pulumi_snapshot::{Manifest, Operation, SecretsProvider, Snapshot, Snippet};

pub use error::ReplayError;
pub use generate::{Remark, Replayed, replay};

use crate::entry::{Entry, EntryKind};
use crate::ids::{OperationId, SequenceId};
use epoch::Epoch;

/// Replays a journal, entry by entry.
///
/// Entries may arrive in any order and any number of times; they count in the order of their numbers, and numbers may be
/// missing. What is there gives one snapshot, whatever order it came in: after each entry that of a process which had got so
/// far. Taking an entry is quick; [`Replayer::snapshot`] costs what is in the snapshot.
///
/// ```
/// use groundstate_pulumi_snapshot::{Manifest, Resource, Snapshot};
/// use groundstate_pulumi_journal::{Entry, EntryKind, Replayer, Target};
///
/// let mut replayer = Replayer::new(Snapshot::new([Resource::new("urn:a", "t")]));
/// let mut end = Entry::new(EntryKind::Success, 3, 1);
/// end.removed = Some(Target::Old(0));
/// replayer.apply(end)?;
/// replayer.apply(Entry::new(EntryKind::Begin, 2, 1))?;
/// assert!(replayer.snapshot(Manifest::default())?.snapshot.resources.is_empty());
/// # Ok::<(), groundstate_pulumi_journal::ReplayError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Replayer {
    base: Snapshot,
    entries: BTreeMap<SequenceId, Arc<Entry>>,
    spans: HashMap<OperationId, Span>,
    /// The first entry that speaks of what is in the base, and the last that exchanges the base.
    first_step: Option<SequenceId>,
    last_write: Option<SequenceId>,
    /// What the entries up to this number have done, from the last one on that rebuilt the base.
    state: Epoch,
    through: Option<SequenceId>,
    rebuilt: Option<SequenceId>,
    /// Operations that have begun and not ended.
    open: BTreeMap<OperationId, Arc<Entry>>,
    /// What was said about secrets and snippets, which another base does not undo.
    provider: Option<SecretsProvider>,
    snippets: Option<Vec<Snippet>>,
    has_refresh: bool,
    has_byte_string: bool,
    base_has_byte_string: bool,
    /// How many new resources the base held when it was rebuilt the last time.
    rebuilt_resources: usize,
    /// An entry came that changes what has been worked out, so all of it is worked out again.
    rewind: bool,
}

/// The entries that begin and end an operation.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    begin: Option<SequenceId>,
    end: Option<SequenceId>,
}

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Applied {
    /// It counts from now on.
    New,
    /// It was there already, with the same content.
    Duplicate,
}

impl Replayer {
    /// A journal without entries on a base; for a stack that has none, on an empty one.
    pub fn new(base: Snapshot) -> Self {
        Self { state: Epoch::new(base.clone()), base, ..Self::default() }
    }

    /// Says that there is a text in the base that is not UTF-8, although it cannot be seen where it is encrypted.
    #[must_use]
    pub fn byte_strings(mut self, yes: bool) -> Self {
        (self.base_has_byte_string, self.has_byte_string) = (yes, yes);
        self
    }

    /// Takes an entry.
    ///
    /// # Errors
    ///
    /// The entry has no meaning by itself, or contradicts another one; it does not count then.
    pub fn apply(&mut self, entry: impl Into<Arc<Entry>>) -> Result<Applied, ReplayError> {
        let entry = entry.into();
        let sequence = entry.sequence;
        if let Some(known) = self.entries.get(&sequence) {
            let same = **known == *entry;
            return if same { Ok(Applied::Duplicate) } else { Err(ReplayError::Conflict { sequence }) };
        }
        rules::by_itself(&entry)?;
        self.span(&entry)?;
        if rules::speaks_of_base(entry.kind) {
            self.first_step = Some(self.first_step.map_or(sequence, |first| first.min(sequence)));
        }
        if entry.kind == EntryKind::Write {
            self.last_write = self.last_write.max(Some(sequence));
        }
        if self.through.is_some_and(|through| sequence < through) {
            self.late(&entry);
        }
        self.entries.insert(sequence, entry);
        Ok(Applied::New)
    }

    /// The snapshot that base and entries stand for, with this manifest.
    ///
    /// # Errors
    ///
    /// The entries contradict each other or the base, or names in the result cannot be brought up to date. Further entries
    /// may put that right.
    pub fn snapshot(&mut self, manifest: Manifest) -> Result<Replayed, ReplayError> {
        self.settle()?;
        self.generate(manifest)
    }

    /// The entries in the order in which they count.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Arc<Entry>> {
        self.entries.values()
    }

    /// The base that the journal began with.
    pub fn base(&self) -> &Snapshot {
        &self.base
    }

    /// The highest number of an entry.
    pub fn last(&self) -> Option<SequenceId> {
        self.entries.keys().next_back().copied()
    }

    /// Operations that have begun and not ended, in the order of their numbers, with the entries that began them.
    pub fn open(&self) -> impl Iterator<Item = (&Arc<Entry>, Option<&Operation>)> {
        self.open.values().map(|entry| (entry, entry.operation.as_ref()))
    }

    /// Takes note that an operation begins or ends.
    fn span(&mut self, entry: &Arc<Entry>) -> Result<(), ReplayError> {
        let ends = entry.kind.ends_operation();
        if !ends && entry.kind != EntryKind::Begin {
            return Ok(());
        }
        let (operation, second) = (entry.operation_id, entry.sequence);
        let span = self.spans.entry(operation).or_default();
        let known = if ends { &mut span.end } else { &mut span.begin };
        match *known {
            Some(first) if ends => return Err(ReplayError::EndedTwice { operation, first, second }),
            Some(first) => return Err(ReplayError::BeganTwice { operation, first, second }),
            None => *known = Some(second),
        }
        match (span.is_open(), ends) {
            (true, false) => drop(self.open.insert(operation, Arc::clone(entry))),
            (false, true) => drop(self.open.remove(&operation)),
            _ => {}
        }
        Ok(())
    }

    /// Takes an entry into account that comes after others with higher numbers.
    fn late(&mut self, entry: &Arc<Entry>) {
        let is_step =
            entry.kind == EntryKind::Begin || entry.kind.ends_operation() || entry.kind == EntryKind::Outputs;
        let before_rebuilt = self.rebuilt.is_some_and(|rebuilt| entry.sequence < rebuilt);
        if is_step && !before_rebuilt {
            self.fold(entry);
        } else {
            self.rewind = true;
        }
    }

    /// Takes all entries into account that have not been so far.
    fn settle(&mut self) -> Result<(), ReplayError> {
        self.check_write()?;
        if std::mem::take(&mut self.rewind) {
            self.state = Epoch::new(self.base.clone());
            (self.through, self.rebuilt, self.has_refresh) = (None, None, false);
            self.has_byte_string = self.base_has_byte_string;
            (self.provider, self.snippets) = (None, None);
        }
        // An entry may have come since that the rebuilt base does not allow behind it.
        if let Some(rebuilt) = self.rebuilt {
            self.check_rebuilt(rebuilt, self.rebuilt_resources)?;
        }
        let from = self.through.map_or(Bound::Unbounded, Bound::Excluded);
        let rest: Vec<_> =
            self.entries.range((from, Bound::Unbounded)).map(|(_, entry)| Arc::clone(entry)).collect();
        for entry in rest {
            if entry.kind == EntryKind::RebuiltBaseState {
                self.rebuild(&entry)?;
            } else {
                self.fold(&entry);
            }
            self.through = Some(entry.sequence);
        }
        Ok(())
    }

    /// Takes one entry into account.
    fn fold(&mut self, entry: &Arc<Entry>) {
        self.has_byte_string |= entry.requires_byte_string;
        match entry.kind {
            EntryKind::Success | EntryKind::RefreshSuccess => {
                self.has_refresh |= entry.is_refresh || entry.kind == EntryKind::RefreshSuccess;
                self.state.step(entry);
            }
            EntryKind::Outputs => self.state.step(entry),
            EntryKind::Write => {
                if let Some(snapshot) = &entry.new_snapshot {
                    let extensions = std::mem::take(&mut self.state.extensions);
                    self.state = Epoch::new((**snapshot).clone());
                    self.state.extensions = extensions;
                    self.said();
                }
            }
            EntryKind::SecretsManager => {
                self.provider = entry.secrets_provider.as_deref().cloned();
                self.said();
            }
            EntryKind::Snippets => {
                self.snippets = Some(entry.snippets.clone());
                self.said();
            }
            EntryKind::ExtensionParameterize => {
                if let (Some(reference), Some(extension)) = (&entry.extension_ref, &entry.extension) {
                    self.state.extensions.insert(reference.clone(), (**extension).clone());
                }
            }
            EntryKind::Begin | EntryKind::Failure | EntryKind::RebuiltBaseState | EntryKind::Unknown(_) => {}
        }
    }
}

impl Replayer {
    /// Puts into the base what was said about secrets and snippets. The manager of the base stays if it is the same, and with
    /// it what is not understood of it.
    fn said(&mut self) {
        let base = &mut self.state.base;
        if let Some(provider) =
            self.provider.as_ref().filter(|provider| !rules::same(&base.secrets_provider, provider))
        {
            base.secrets_provider = Some(provider.clone());
        }
        if let Some(snippets) = &self.snippets {
            base.snippets.clone_from(snippets);
        }
    }
}

impl Span {
    /// Whether the operation has begun and not ended after that.
    fn is_open(&self) -> bool {
        self.begin.is_some() && self.end < self.begin
    }
}
