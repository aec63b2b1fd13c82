//! Retention, and removing what crashes left.
//!
//! A sweep reads the head, lists the data of the document, replaces the head, and only then removes. That it could replace the head shows that
//! no step came between: the versions that this head retains were all in the list. And every step that began before is refused from
//! then on, so no version will ever have what the sweep found without one.
//!
//! - A record that no retained version has is removed, unless its number is beyond the last version: it is of a write that has not come
//!   to its end, or of a head that was put back to an earlier state.
//! - Where a record contradicts the head, so that the head was lost or put back, nothing of the document is removed.
//! - Parts are removed if no retained version has them and their upload is of an epoch that is given up: [`Head`](crate::Head)s refuse
//!   such uploads. An epoch is given up no sooner than a grace after the next one began, so uploads of the last hours go on.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use groundstate_blobs::{DeleteOptions, ListOptions};
use groundstate_common::Timestamp;
use tracing::debug;

use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::head::Head;
use crate::ids::{UploadId, VersionId};
use crate::layout::{DataKey, RecordKey};
use crate::op::Op;
use crate::step::{EpochStep, Step, SweepStep};
use crate::stepping::Attempted;
use crate::traced;

/// How often a sweep begins again because the document was changed meanwhile.
const ATTEMPTS: usize = 10;
/// How many blobs are removed at a time.
const PARALLEL: usize = 8;
/// The grace unless another is chosen.
const GRACE: Duration = Duration::from_secs(24 * 60 * 60);

/// Which versions the history keeps. The present one is kept in any case, and so are pinned ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Retention {
    /// All of them.
    Everything,
    /// The newest ones, so many; and beyond them those that are not older than this. What lies between two that are kept is kept too.
    Newest {
        /// The number of versions that are kept whatever their age.
        count: u64,
        /// How old others may be.
        younger: Option<Duration>,
    },
}

/// How to sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SweepOptions {
    /// Which versions the history keeps.
    pub retention: Retention,
    /// For how long an upload, and a write that has not come to its end, is left alone. An upload that takes longer than this may be refused as
    /// `Expired`.
    pub grace: Duration,
}

impl Default for SweepOptions {
    /// Keeps everything, with a grace of a day.
    fn default() -> Self {
        Self { retention: Retention::Everything, grace: GRACE }
    }
}

impl SweepOptions {
    /// Says which versions the history keeps.
    #[must_use]
    pub fn retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// Says for how long what is not finished is left alone.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }
}

/// What a sweep removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Swept {
    /// Versions that were not to be kept.
    pub versions: u64,
    /// Records of writes that were never accepted.
    pub records: u64,
    /// Parts of contents that no version has.
    pub parts: u64,
    /// The size of all that, in bytes.
    pub bytes: u64,
}

impl std::ops::AddAssign for Swept {
    fn add_assign(&mut self, other: Self) {
        self.versions += other.versions;
        self.records += other.records;
        self.parts += other.parts;
        self.bytes += other.bytes;
    }
}

/// A blob of the document's data.
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) size: u64,
}

/// All of the document's data.
#[derive(Default)]
pub(crate) struct Data {
    pub(crate) records: BTreeMap<u64, Vec<(RecordKey, Entry)>>,
    pub(crate) parts: BTreeMap<UploadId, Vec<Entry>>,
}

/// The number of a record that no client can have written who saw this head or one before it.
///
/// The number of a record is at most one beyond the last version, and all records of a number name the version before by the id that the
/// chain of accepted versions has for it.
pub(crate) fn unexplained(head: &Head, data: &Data) -> Option<u64> {
    let end = head.number() + 1;
    if let Some((&number, _)) = data.records.range(end + 1..).next() {
        return Some(number);
    }
    // The id of the version of a number, where it is known.
    let mut known = head.last().map(|last| (last.number, last.id.clone()));
    for (&number, records) in data.records.range(..=end).rev() {
        let of_number = |(of, id): &(u64, VersionId)| (*of == number).then(|| id.clone());
        let id = head.pins.iter().find(|pin| pin.number == number).map(|pin| pin.id.clone());
        let id = id.or_else(|| known.as_ref().and_then(of_number));
        let expected = match (head.last(), id) {
            (None, _) => Some(None),
            (Some(last), _) if number == end => Some(Some(last.id.clone())),
            (Some(last), _) if number == last.number => Some(last.previous.clone()),
            (_, Some(id)) => {
                records.iter().find(|(key, _)| key.id == id).map(|(key, _)| key.previous.clone())
            }
            (_, None) => None,
        };
        let Some(expected) = expected else { continue };
        if records.iter().any(|(key, _)| key.previous != expected) {
            return Some(number);
        }
        known = expected.map(|id| (number - 1, id));
    }
    None
}

/// What a sweep is going to do.
struct Plan {
    step: SweepStep,
    parts: Vec<String>,
    records: Vec<String>,
    swept: Swept,
}

impl Document {
    /// Removes the versions that are not to be kept, and what writes left that were never accepted.
    ///
    /// It may run at any time, in several processes, beside all other operations.
    ///
    /// # Errors
    ///
    /// `Busy` if the document changed all the time, and those of [`head`](Self::head). What is left is removed by the next sweep.
    pub async fn sweep(&self, options: &SweepOptions) -> Result<Swept> {
        traced::run(Op::Sweep, self, self.sweeping(options)).await
    }

    async fn sweeping(&self, options: &SweepOptions) -> Result<Swept> {
        const OP: Op = Op::Sweep;
        for _ in 0..ATTEMPTS {
            let stored = self.load(OP).await?;
            let data = self.data(OP).await?;
            if let Some(number) = unexplained(&stored.head, &data) {
                if self.load(OP).await?.head.revision != stored.head.revision {
                    continue;
                }
                return Err(Error::new(ErrorKind::Corrupt, OP, self.place())
                    .because(format!(
                        "its head does not explain a record of version {number}, so nothing was removed"
                    ))
                    .next_step(
                        "look at it with `groundstate store check`: its head may have been lost or put back",
                    ));
            }
            let plan = Plan::new(&stored.head, data, options);
            if plan.is_nothing() {
                return Ok(Swept::default());
            }
            let step = Step { sweep: Some(plan.step), ..Step::default() };
            let attempt = match self.attempt(OP, &stored, &step).await? {
                Attempted::Done(_) => return self.remove(OP, plan).await,
                Attempted::Unknown(attempt, _) => attempt,
            };
            let head = self.load(OP).await?.head;
            if head.attempt_at(attempt.stepped.head.revision) == Some(&attempt.id) {
                return self.remove(OP, plan).await;
            }
            debug!("the document was changed during a sweep");
        }
        Err(Error::new(ErrorKind::Busy, OP, self.place()))
    }

    /// Lists all of the document's data.
    pub(crate) async fn data(&self, op: Op) -> Result<Data> {
        let (mut data, mut page) = (Data::default(), None);
        loop {
            let options = ListOptions::default().page(page);
            let listed = self.store().list(self.layout().data(), &options).await;
            let listed = listed.map_err(|error| self.failed(op, error))?;
            for blob in listed.blobs {
                let entry = Entry { size: blob.meta.size, name: blob.name };
                match self.layout().parse(&entry.name) {
                    Some(DataKey::Record(key)) => {
                        data.records.entry(key.number).or_default().push((key, entry))
                    }
                    Some(DataKey::Part(upload)) => data.parts.entry(upload).or_default().push(entry),
                    // Another program's, or a later release's.
                    None => {}
                }
            }
            page = listed.next;
            if page.is_none() {
                return Ok(data);
            }
        }
    }

    /// Removes parts before the records that name them.
    async fn remove(&self, op: Op, plan: Plan) -> Result<Swept> {
        for names in [plan.parts, plan.records] {
            let removals = stream::iter(names).map(|name| self.remove_blob(op, name));
            removals.buffer_unordered(PARALLEL).try_for_each(|()| std::future::ready(Ok(()))).await?;
        }
        Ok(plan.swept)
    }

    async fn remove_blob(&self, op: Op, name: String) -> Result<()> {
        let key = self.key(op, &name)?;
        let removed = self.store().delete(&key, &DeleteOptions::default()).await;
        removed.map(drop).map_err(|error| self.failed(op, error))
    }
}

impl Plan {
    fn new(head: &Head, data: Data, options: &SweepOptions) -> Self {
        let oldest = options.retention.oldest(head, &data);
        let kept = Kept::new(head, &data, oldest);
        let mut plan = Self {
            step: SweepStep { oldest: (oldest > head.oldest).then_some(oldest), epoch: EpochStep::Stay },
            parts: Vec::new(),
            records: Vec::new(),
            swept: Swept::default(),
        };
        let is_old =
            |since: Timestamp| head.now.duration_since(since).is_some_and(|age| age >= options.grace);
        for (key, entry) in data.records.into_values().flatten() {
            let is_version = kept.accepted.contains(&key);
            if kept.records.contains(&key) || (!is_version && !is_old(key.id.time())) {
                continue;
            }
            if is_version {
                plan.swept.versions += 1
            } else {
                plan.swept.records += 1
            }
            plan.swept.bytes += entry.size;
            plan.records.push(entry.name);
        }
        let mut orphans = data.parts;
        orphans.retain(|upload, _| !kept.uploads.contains(upload));
        if !orphans.is_empty() {
            plan.step.epoch = match head.uploads.since {
                Some(since) if since > head.now => EpochStep::Restart,
                Some(since) if !is_old(since) => EpochStep::Stay,
                _ => EpochStep::Next,
            };
        }
        let given_up_before = match plan.step.epoch {
            EpochStep::Next => head.uploads.epoch,
            _ => head.uploads.given_up_before,
        };
        for entry in orphans
            .into_iter()
            .filter(|(upload, _)| upload.epoch() < given_up_before)
            .flat_map(|(_, parts)| parts)
        {
            plan.swept.parts += 1;
            plan.swept.bytes += entry.size;
            plan.parts.push(entry.name);
        }
        plan
    }

    fn is_nothing(&self) -> bool {
        self.step == SweepStep::default() && self.parts.is_empty() && self.records.is_empty()
    }
}

impl Retention {
    /// The number of the oldest version that is kept, apart from pinned ones.
    fn oldest(self, head: &Head, data: &Data) -> u64 {
        let (number, now) = (head.number(), head.now);
        let Self::Newest { count, younger } = self else { return head.oldest };
        let by_count = number.saturating_sub(count.max(1)) + 1;
        if by_count <= head.oldest {
            return head.oldest;
        }
        let is_young = |key: &RecordKey| match younger {
            // What is later than now is young.
            Some(younger) => now.duration_since(key.id.time()).is_none_or(|age| age < younger),
            None => false,
        };
        let old = data.records.range(head.oldest..by_count);
        let young = old
            .filter(|(_, records)| records.iter().any(|(key, _)| is_young(key)))
            .map(|(number, _)| *number);
        young.min().unwrap_or(by_count)
    }
}

/// Which of the data a head retains.
struct Kept {
    /// The records of all versions that were accepted, as far as that is known.
    accepted: BTreeSet<RecordKey>,
    records: BTreeSet<RecordKey>,
    uploads: BTreeSet<UploadId>,
}

impl Kept {
    fn new(head: &Head, data: &Data, oldest: u64) -> Self {
        let mut kept = Self { accepted: BTreeSet::new(), records: BTreeSet::new(), uploads: BTreeSet::new() };
        // Uploads of the last version are kept even if its record is missing.
        kept.uploads.extend(head.last().and_then(|last| last.upload.clone()));
        for (key, _) in data.records.range(head.number() + 1..).flat_map(|(_, records)| records) {
            kept.records.insert(key.clone());
            kept.uploads.extend(key.upload.clone());
        }
        // The id of the version of a number, where it is known.
        let mut known = head.last().map(|last| (last.number, last.id.clone()));
        for (&number, records) in data.records.range(..=head.number()).rev() {
            let pin = head.pins.iter().find(|pin| pin.number == number);
            let id = known.filter(|(of, _)| *of == number).map(|(_, id)| id);
            let id = pin.map(|pin| pin.id.clone()).or(id);
            // Where it is not known which record is the version's, all of them may be.
            let is_version = |key: &RecordKey| id.as_ref().is_none_or(|id| *id == key.id);
            for (key, _) in records.iter().filter(|(key, _)| is_version(key)) {
                kept.accepted.insert(key.clone());
                if number >= oldest || pin.is_some() {
                    kept.records.insert(key.clone());
                    kept.uploads.extend(key.upload.clone());
                }
            }
            // All records of a number tell the same version before, unless a head was removed by hand.
            let mut before = records.iter().filter(|(key, _)| is_version(key)).map(|(key, _)| &key.previous);
            let first = before.next().cloned().flatten();
            let is_agreed = before.all(|other| *other == first);
            known = first.filter(|_| is_agreed).map(|id| (number - 1, id));
        }
        kept
    }
}
