//! A store whose snapshots are kept.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::ErrorKind as BlobErrorKind;
use groundstate_common::{Clock, Timestamp};
use groundstate_statemgr::{
    Error, ErrorKind, Expect, Op, Result, StateStore, Stored, Version, WriteOptions, forward_locking,
};

use super::blobs::BlobHistory;
use super::name::{Digest, EntryName};
use super::policy::Retention;
use crate::failure::failed;

/// How many entries one write removes at most, so that a new limit on a long history delays no write for long.
const REMOVALS: usize = 100;

/// Keeps every snapshot that is written, and before it replaces one that another program wrote, that one too.
///
/// # What a crash leaves
///
/// The entry is stored before the state, so there is no moment in which a state of this store lacks its entry. What a crash
/// between the two leaves is an entry of a snapshot that never was the state: another one with its serial follows. A
/// write that is refused takes its entry back; one whose answer got lost leaves it.
///
/// States that Terraform wrote have no entry until this store replaces or deletes them. If an entry cannot be stored, the
/// state is not written either.
///
/// # What it costs
///
/// One list for each client at its first write, one more request for each write, and one for each entry that is removed.
/// A state that another program wrote costs a read and a write once. Reading costs nothing.
pub struct WithHistory<S> {
    store: S,
    history: BlobHistory,
    retention: Retention,
    clock: Arc<dyn Clock>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// The entries, the oldest first, once they were listed.
    entries: Option<Vec<EntryName>>,
    /// What was read or written last.
    present: Option<(Version, Digest)>,
}

impl<S: StateStore> WithHistory<S> {
    /// The store, with its snapshots kept in `history` for as long as `retention` says.
    pub fn new(store: S, history: BlobHistory, retention: Retention, clock: Arc<dyn Clock>) -> Self {
        Self { store, history, retention, clock, known: Mutex::default() }
    }

    /// The history.
    pub fn history(&self) -> &BlobHistory {
        &self.history
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Nothing that can panic runs while the lock is held, so what is inside is whole.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists what there is, the first time.
    async fn look(&self) -> Result<()> {
        if self.known().entries.is_none() {
            let entries = self.history.entries().await?;
            self.known().entries = Some(entries.into_iter().map(|(name, _)| name).collect());
        }
        Ok(())
    }

    /// Stores an entry of these bytes unless the newest one is that; gives its name if it is new.
    async fn keep(&self, op: Op, bytes: Bytes) -> Result<Option<EntryName>> {
        let mut name = EntryName::of(&bytes, self.clock.now());
        if let Some(newest) = self.known().entries.iter().flatten().next_back() {
            if newest.digest == name.digest {
                return Ok(None);
            }
            name.kept_at = name.kept_at.max(just_after(newest.kept_at));
        }
        let is_new = match self.history.keep(&name, bytes).await {
            Ok(()) => true,
            // The name tells the content, so that is the entry: of an attempt whose answer got lost.
            Err(error) if error.kind() == BlobErrorKind::PreconditionFailed => false,
            Err(error) => return Err(self.not_kept(op, error)),
        };
        self.known().entries.get_or_insert_default().push(name.clone());
        Ok(is_new.then_some(name))
    }

    /// Whatever became of the entry, the state is as it was.
    fn not_kept(&self, op: Op, error: groundstate_blobs::Error) -> Error {
        let error = failed(Op::Other("keep a snapshot in"), &self.history, error);
        let kind = match error.kind() {
            ErrorKind::Ambiguous => ErrorKind::Unavailable,
            kind => kind,
        };
        let why = format!("its snapshot could not be kept, so nothing was changed: {error}");
        Error::new(kind, op, self).because(why).with_source(error)
    }

    /// Keeps what is about to be replaced if it is not kept yet, as with states that other programs wrote.
    async fn keep_present(&self, op: Op, options: &WriteOptions) -> Result<()> {
        let Expect::Version(expected) = &options.expect else { return Ok(()) };
        {
            let known = self.known();
            if let Some((version, digest)) = &known.present
                && version == expected
                && known.entries.iter().flatten().any(|entry| entry.digest == *digest)
            {
                return Ok(());
            }
        }
        // A version that is not there any more is for the store to refuse.
        let Some(stored) = self.store.read().await?.filter(|stored| stored.version == *expected) else {
            return Ok(());
        };
        let digest = Digest::of(&stored.bytes);
        let is_kept = self.known().entries.iter().flatten().any(|entry| entry.digest == digest);
        self.known().present = Some((stored.version, digest));
        if is_kept { Ok(()) } else { self.keep(op, stored.bytes.into()).await.map(drop) }
    }

    /// Removes the entry of a snapshot that was refused. One that cannot be removed does no harm.
    async fn take_back(&self, name: &EntryName) {
        if self.history.remove(name).await.is_ok()
            && let Some(entries) = &mut self.known().entries
        {
            entries.retain(|entry| entry != name);
        }
    }

    /// Removes what is outdated. What cannot be removed now is removed by a later write.
    async fn prune(&self) {
        let outdated: Vec<EntryName> = {
            let known = self.known();
            let entries = known.entries.as_deref().unwrap_or_default();
            let count = self.retention.outdated(entries, self.clock.now()).min(REMOVALS);
            entries.iter().take(count).cloned().collect()
        };
        for name in outdated {
            if self.history.remove(&name).await.is_err() {
                break;
            }
            if let Some(entries) = &mut self.known().entries {
                entries.retain(|entry| *entry != name);
            }
        }
    }
}

/// The next moment, so that clocks that go wrong change no order.
fn just_after(time: Timestamp) -> Timestamp {
    time.checked_add(Duration::from_nanos(1)).unwrap_or(time)
}

impl<S: fmt::Display> fmt::Display for WithHistory<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl<S: fmt::Debug> fmt::Debug for WithHistory<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("WithHistory");
        shown.field("store", &self.store).field("history", &self.history).field("retention", &self.retention);
        shown.finish_non_exhaustive()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: StateStore> StateStore for WithHistory<S> {
    forward_locking!(store);

    async fn read(&self) -> Result<Option<Stored>> {
        let stored = self.store.read().await?;
        self.known().present =
            stored.as_ref().map(|stored| (stored.version.clone(), Digest::of(&stored.bytes)));
        Ok(stored)
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        if bytes.is_empty() {
            return self.store.write(bytes, options).await;
        }
        self.look().await?;
        self.keep_present(Op::Write, options).await?;
        let entry = self.keep(Op::Write, bytes.clone()).await?;
        match self.store.write(bytes.clone(), options).await {
            Ok(version) => {
                self.known().present = Some((version.clone(), Digest::of(&bytes)));
                self.prune().await;
                Ok(version)
            }
            Err(error) => {
                if let Some(entry) = entry.filter(|_| error.kind() != ErrorKind::Ambiguous) {
                    self.take_back(&entry).await;
                }
                Err(error)
            }
        }
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        self.look().await?;
        self.keep_present(Op::Delete, options).await?;
        self.store.delete(options).await
    }
}
