//! Retention: what old updates have left beside the versions of their stacks.
//!
//! An update is a folder of blobs: what its client said of it, its journal or checkpoint, its events. Those of the newest updates are kept, as
//! versions are. Of others the journal, the checkpoint and the events are removed first, and what the client said last, so that a sweep that
//! ends in between is carried on by the next one. What the client said stays as long as the history has a version of the update.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use groundstate_blobs::{DeleteOptions, GetOptions, ListOptions};
use groundstate_common::Timestamp;
use groundstate_versioned::{Head, Retention};

use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;
use crate::record::{Holder, PreviewRecord, VersionNote};
use crate::stack::holder;
use crate::stacks::Stacks;
use crate::update::read_sealed;

const OP: Op = Op::Prune;
/// How many blobs are removed at a time.
const PARALLEL: usize = 8;
/// How many versions are read at a time.
const PAGE: usize = 1000;

/// What is kept of old updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PruneOptions {
    /// Of which updates of a stack events and journals are kept, previews among them.
    pub retention: Retention,
    /// For how long every update is left alone. It has to be longer than an update may wait for its start, an hour.
    pub grace: Duration,
}

impl Default for PruneOptions {
    /// Keeps everything, with a grace of a day.
    fn default() -> Self {
        Self { retention: Retention::Everything, grace: Duration::from_secs(24 * 60 * 60) }
    }
}

impl PruneOptions {
    /// Says of which updates events and journals are kept.
    #[must_use]
    pub fn retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// Says for how long every update is left alone.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }
}

/// What was removed of old updates.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct PruneReport {
    /// How many stacks were looked at, removed ones too.
    pub stacks: usize,
    /// How many updates something was removed of.
    pub updates: u64,
    /// How many blobs were removed.
    pub blobs: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// The ids of stacks whose updates could not be looked through, with the reason.
    pub failed: Vec<(String, Error)>,
}

/// What is stored of one update.
#[derive(Default)]
struct Stored {
    /// The names of its blobs, and their sizes.
    blobs: Vec<(String, u64)>,
    /// When its client created it; where that is not stored any more, when something of it was stored last.
    time: Option<Timestamp>,
    is_requested: bool,
    is_preview: bool,
}

/// What a blob of an update is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Journals, checkpoints, events, and what is kept of previews.
    Trace,
    /// What its client said, which the history shows.
    Said,
    /// Which version a key has become. It stays, so that a key is known however late it is sent again.
    Key,
}

impl Use {
    fn of(what: &str) -> Self {
        match what {
            "request" => Self::Said,
            "appended" => Self::Key,
            _ => Self::Trace,
        }
    }
}

impl Stacks {
    /// Removes journals, checkpoints and events of old updates, and what clients said of those that no version is of; of stacks that were
    /// removed everything, whatever the retention is. It may run at any time, in several processes, beside everything else.
    ///
    /// # Errors
    ///
    /// Those of the store when it is listed. Stacks that cannot be looked through are in the report.
    pub async fn prune(&self, options: &PruneOptions) -> Result<PruneReport> {
        let (mut report, mut page) = (PruneReport::default(), None);
        loop {
            let listed = self.blobs().list("", &ListOptions::default().delimited().page(page)).await;
            let listed = listed.map_err(|error| Error::of_blobs(OP, "stacks", error))?;
            for folder in listed.prefixes {
                let id = folder.trim_end_matches('/');
                report.stacks += 1;
                if let Err(error) = self.prune_stack(id, options, &mut report).await {
                    report.failed.push((id.to_owned(), error));
                }
            }
            page = listed.next;
            if page.is_none() {
                return Ok(report);
            }
        }
    }

    async fn prune_stack(&self, id: &str, options: &PruneOptions, report: &mut PruneReport) -> Result<()> {
        let stored = self.stored_updates(id).await?;
        // Behind the list: an update that is old and does not run by this head will never run.
        let head = self.versions(id).head().await.map_err(|error| Error::of_document(OP, id, error))?;
        if head.number() == 0 {
            let error = Error::new(ErrorKind::Corrupt, OP, id);
            return Err(error.because("there are updates of it and no version, so nothing was removed"));
        }
        let old = match head.current() {
            Some(_) => old(stored, &head, options),
            // Its removal was interrupted, or a client of it was late.
            None => {
                report.updates += stored.len() as u64;
                let blobs = stored.into_values().flat_map(|stored| stored.blobs).collect();
                return self.remove_all(id, blobs, report).await.map(drop);
            }
        };
        if old.is_empty() {
            return Ok(());
        }
        let mut in_history = None;
        let requested = old.values().filter(|update| update.is_requested && !update.is_preview).count();
        for (update, stored) in old {
            if stored.is_preview && self.runs(id, &update, head.time()).await? {
                continue;
            }
            let own = format!("{id}/{update}/");
            let what = |name: &str| Use::of(name.strip_prefix(&own).unwrap_or_default());
            let (mut traces, mut said) = (stored.blobs.clone(), stored.blobs);
            traces.retain(|(name, _)| what(name) == Use::Trace);
            said.retain(|(name, _)| what(name) == Use::Said);
            let mut removed = 0;
            removed += self.remove_all(id, traces, report).await?;
            // Versions are read only if more is kept than they can need.
            let is_surplus = stored.is_preview || !stored.is_requested || requested as u64 > versions(&head);
            if is_surplus && !stored.is_preview && in_history.is_none() {
                in_history = Some(self.updates_in_history(id, &head).await?);
            }
            let is_needed =
                in_history.as_ref().is_some_and(|needed: &BTreeSet<String>| needed.contains(&update));
            if is_surplus && (stored.is_preview || !is_needed) {
                removed += self.remove_all(id, said, report).await?;
            }
            report.updates += u64::from(removed > 0);
        }
        Ok(())
    }

    /// All that is stored of the updates of a stack.
    async fn stored_updates(&self, id: &str) -> Result<BTreeMap<String, Stored>> {
        let (mut updates, mut page) = (BTreeMap::<String, Stored>::new(), None);
        let prefix = format!("{id}/");
        loop {
            let listed = self.blobs().list(&prefix, &ListOptions::default().page(page)).await;
            let listed = listed.map_err(|error| Error::of_blobs(OP, id, error))?;
            for blob in listed.blobs {
                let rest = blob.name.strip_prefix(&prefix).and_then(|rest| rest.split_once('/'));
                let Some((update, what)) = rest else { continue };
                let is_request = what == "request";
                let stored = updates.entry(update.to_owned()).or_default();
                if is_request || !stored.is_requested {
                    stored.time = if is_request {
                        blob.meta.last_modified
                    } else {
                        stored.time.max(blob.meta.last_modified)
                    };
                }
                stored.is_requested |= is_request;
                stored.is_preview |= what == "preview";
                stored.blobs.push((blob.name, blob.meta.size));
            }
            page = listed.next;
            if page.is_none() {
                return Ok(updates);
            }
        }
    }

    /// Whether a preview has not ended.
    async fn runs(&self, id: &str, update: &str, now: Timestamp) -> Result<bool> {
        let key = self.blob_key(OP, id, &format!("{id}/{update}/preview"))?;
        let blob = self.blobs().get(&key, &GetOptions::default()).await;
        let Some(blob) = blob.map_err(|error| Error::of_blobs(OP, id, error))? else { return Ok(false) };
        let damaged = || {
            let failure = Error::new(ErrorKind::Corrupt, OP, id);
            failure.because(format!("what is stored of the preview {update} is damaged"))
        };
        let preview: PreviewRecord =
            read_sealed(&blob.bytes).map_err(|error| damaged().with_source(error))?;
        Ok(preview.result.is_none() && now < preview.expires)
    }

    /// The updates that the versions of a stack are of.
    async fn updates_in_history(&self, id: &str, head: &Head) -> Result<BTreeSet<String>> {
        let (mut updates, mut before) = (BTreeSet::new(), head.number().checked_add(1));
        while let Some(from) = before {
            let page = self.versions(id).versions(Some(from), PAGE).await;
            let page = page.map_err(|error| Error::of_document(OP, id, error))?;
            // The updates of versions that cannot be read are needed too.
            if let Some(number) = page.unreadable() {
                let error = Error::new(ErrorKind::Corrupt, OP, id);
                let number = number.saturating_sub(1);
                return Err(error.because(format!("version {number} of its history is damaged or missing")));
            }
            updates.extend(page.versions.iter().filter_map(|version| VersionNote::of(version).update));
            before = page.next;
        }
        Ok(updates)
    }

    /// Removes all that is stored of the updates of a stack that was removed: leases, journals, checkpoints, events and what clients said.
    pub(crate) async fn remove_updates(&self, id: &str) -> Result<()> {
        let stored = self.stored_updates(id).await?;
        let blobs = stored.into_values().flat_map(|stored| stored.blobs).collect();
        self.remove_all(id, blobs, &mut PruneReport::default()).await.map(drop)
    }

    async fn remove_all(&self, id: &str, blobs: Vec<(String, u64)>, report: &mut PruneReport) -> Result<u64> {
        let removals = stream::iter(blobs).map(|(name, size)| async move {
            let key = self.blob_key(OP, id, &name)?;
            let deleted = self.blobs().delete(&key, &DeleteOptions::default()).await;
            deleted.map_err(|error| Error::of_blobs(OP, id, error))?;
            Ok::<_, Error>(size)
        });
        let mut removals = removals.buffer_unordered(PARALLEL);
        let mut removed = 0;
        while let Some(size) = removals.try_next().await? {
            removed += 1;
            report.blobs += 1;
            report.bytes += size;
        }
        Ok(removed)
    }
}

/// How many versions a history has at most.
fn versions(head: &Head) -> u64 {
    head.number().saturating_sub(head.oldest()).saturating_add(1 + head.pins().len() as u64)
}

/// The updates that are not to be kept whole.
fn old(
    mut stored: BTreeMap<String, Stored>,
    head: &Head,
    options: &PruneOptions,
) -> BTreeMap<String, Stored> {
    let Retention::Newest { count, younger } = options.retention else { return BTreeMap::new() };
    let mut order: Vec<(Option<Timestamp>, String)> =
        stored.iter().map(|(update, stored)| (stored.time, update.clone())).collect();
    order.sort();
    let count = usize::try_from(count.max(1)).unwrap_or(usize::MAX);
    let least = younger.map_or(options.grace, |younger| younger.max(options.grace));
    for (place, (time, update)) in order.into_iter().rev().enumerate() {
        // What is later than now, or has no time, is young.
        let is_young = time.and_then(|time| head.time().duration_since(time)).is_none_or(|age| age < least);
        if place < count || is_young {
            stored.remove(&update);
        }
    }
    let running = head.recorded_lock().and_then(holder).and_then(|holder| match holder {
        Holder::Update(running) | Holder::Settle(running) => Some(running.update),
        Holder::Rename { .. } | Holder::Bucket { .. } | Holder::Lock(_) => None,
    });
    // The journal of the last version stays until the next update has succeeded: it may have entries that do not count yet.
    let last = head.current().and_then(|version| VersionNote::of(version).update);
    for update in [running, last].into_iter().flatten() {
        stored.remove(&update);
    }
    stored
}
