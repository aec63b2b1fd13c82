//! Removing old entries of the history, backups and retained checkpoints.

use std::collections::BTreeMap;
use std::time::Duration;

use groundstate_blobs::{DeleteOptions, ErrorKind as BlobKind, Key};
use groundstate_common::Timestamp;

use crate::backend::folder;
use crate::stack::time_of;
use crate::{Compression, CopySource, Error, ErrorKind, Guard, LeftoverKind, Op, Result, Stack, traced};

/// Which copies are old. Where both are given, both have to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PruneRules {
    /// The newest this many of each source stay.
    pub keep: Option<usize>,
    /// What is not older than this stays.
    pub older_than: Option<Duration>,
}

/// A copy, or an entry of the history with its state, that the rules call old.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OldCopy {
    /// Who keeps it; never [`CopySource::Previous`].
    pub source: CopySource,
    /// When it was made, by its name; of a temporary file by the store.
    pub time: Timestamp,
    /// Its objects, in the order in which they are removed.
    pub keys: Vec<Key>,
    /// The size of its objects in bytes, as they are stored.
    pub size: u64,
}

/// What the rules call old, and what stays; the newest first of each source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrunePlan {
    /// What [`Stack::prune`] is to remove.
    pub old: Vec<OldCopy>,
    /// What stays.
    pub kept: Vec<OldCopy>,
}

impl OldCopy {
    /// Whether it is more than what a kill left of an entry, which is none of those that stay.
    fn is_whole(&self) -> bool {
        let is_entry = |key: &Key| Compression::strip(key.as_str()).ends_with(".history.json");
        self.source != CopySource::History || self.keys.iter().any(is_entry)
    }
}

impl PruneRules {
    /// The newest this many of each source stay.
    #[must_use]
    pub fn keep(mut self, keep: usize) -> Self {
        self.keep = Some(keep);
        self
    }

    /// What is not older than this stays.
    #[must_use]
    pub fn older_than(mut self, age: Duration) -> Self {
        self.older_than = Some(age);
        self
    }

    /// Whether a copy is old; `newer` are newer ones of the same source. The newest never is.
    fn is_old(&self, newer: usize, time: Timestamp, now: Timestamp) -> bool {
        let is_beyond = self.keep.is_none_or(|keep| newer >= keep);
        let is_aged = self.older_than.is_none_or(|age| now.duration_since(time).is_some_and(|old| old > age));
        newer > 0 && is_beyond && is_aged
    }
}

impl Stack {
    /// What the rules would remove, the newest first of each source, and then the temporary files that writes left that were killed more
    /// than a day ago, whatever the rules are. Nothing is removed.
    ///
    /// # Errors
    ///
    /// [`Invalid`](ErrorKind::Invalid) for rules that say nothing, and those of requests.
    pub async fn old_copies(&self, rules: &PruneRules) -> Result<Vec<OldCopy>> {
        Ok(self.prune_plan(rules).await?.old)
    }

    /// What [`old_copies`](Self::old_copies) gives, and what the rules leave. Nothing is removed. The stack need not exist: copies may be left of it.
    ///
    /// # Errors
    ///
    /// Those of [`old_copies`](Self::old_copies).
    pub async fn prune_plan(&self, rules: &PruneRules) -> Result<PrunePlan> {
        if rules.keep.is_none() && rules.older_than.is_none() {
            let failure = self.failed(ErrorKind::Invalid, Op::Prune).because("no rule says what is old");
            return Err(failure.next_step("give how many to keep, how old they may be, or both"));
        }
        let mut found = self.history_by_time().await?;
        for copy in self.copies().await? {
            let (CopySource::Backup | CopySource::Retained, Some(time)) = (copy.source, copy.time) else {
                continue;
            };
            found.push(OldCopy { source: copy.source, time, keys: vec![copy.key], size: copy.size });
        }
        found.sort_by(|a, b| (a.source, b.time, &b.keys).cmp(&(b.source, a.time, &a.keys)));
        let now = self.backend().context().clock.now();
        let mut newer: BTreeMap<CopySource, usize> = BTreeMap::new();
        let (mut old, kept): (Vec<OldCopy>, Vec<OldCopy>) = found.into_iter().partition(|copy| {
            let count = newer.entry(copy.source).or_default();
            let is_old = rules.is_old(*count, copy.time, now);
            *count += usize::from(copy.is_whole());
            is_old
        });
        old.extend(self.temporary_files().await?);
        Ok(PrunePlan { old, kept })
    }

    async fn temporary_files(&self) -> Result<Vec<OldCopy>> {
        let left = self.leftovers().await?.found.into_iter();
        let left = left.filter(|one| one.kind == LeftoverKind::TemporaryFile).map(|one| {
            let keys = vec![self.backend().key(Op::Prune, &one.key)?];
            let time = one.modified.unwrap_or(Timestamp::UNIX_EPOCH);
            Ok(OldCopy { source: CopySource::Temporary, time, keys, size: one.size })
        });
        left.collect()
    }

    /// Removes what [`old_copies`](Self::old_copies) found, the oldest first, so that a prune that was killed leaves no gap. What was
    /// removed meanwhile is no error, so it is repeated.
    ///
    /// # Errors
    ///
    /// [`LockLost`](ErrorKind::LockLost), and those of requests; what was removed before stays removed.
    pub async fn prune(&self, old: &[OldCopy], guard: &dyn Guard) -> Result<()> {
        traced::run(Op::Prune.as_str(), self, self.remove_copies(old, guard)).await
    }

    async fn remove_copies(&self, old: &[OldCopy], guard: &dyn Guard) -> Result<()> {
        for key in old.iter().rev().flat_map(|copy| &copy.keys) {
            guard.check().await?;
            match self.backend().store().delete(key, &DeleteOptions::default()).await {
                Err(error) if error.kind() != BlobKind::NotFound => {
                    return Err(Error::from_store(Op::Prune, self.backend().place(key.as_str()), error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Entries with their states; also what a kill left of one. The entry is removed before its state, so that every entry has one.
    async fn history_by_time(&self) -> Result<Vec<OldCopy>> {
        let prefix = self.backend().layout().history(self.checked(Op::Prune)?);
        let mut found: BTreeMap<String, OldCopy> = BTreeMap::new();
        for listed in folder(&**self.backend().store(), &prefix).await?.objects {
            let name = Compression::strip(&listed.name);
            let entry = name.strip_suffix(".history.json");
            let Some(stem) = entry.or_else(|| name.strip_suffix(".checkpoint.json")) else { continue };
            let Some(time) = stem.rsplit_once('-').and_then(|(_, stamp)| time_of(stamp)) else { continue };
            let key = self.backend().key(Op::Prune, &listed.name)?;
            let old = found.entry(stem.to_owned()).or_insert_with(|| OldCopy {
                source: CopySource::History,
                time,
                keys: Vec::new(),
                size: 0,
            });
            old.keys.insert(if entry.is_some() { 0 } else { old.keys.len() }, key);
            old.size = old.size.saturating_add(listed.meta.size);
        }
        Ok(found.into_values().collect())
    }
}
