//! Making changes durable: a record for each, and now and then the ordinary object.

use std::sync::Arc;

use groundstate_statemgr::{
    Error, ErrorKind, LockGrant, Locker, Op, Persisted, PersistentMeta, Persister, Result, StateStore,
    Writer, traced,
};
use groundstate_states::State;
use groundstate_wal::{self as journal, JournalWriter, OpenOptions, Record};

use crate::change::Change;
use crate::digest::digest;
use crate::entry::{Base, Entry};
use crate::failure::failed;
use crate::manager::{JournaledManager, Open};
use crate::noted::Seen;

const OP: Op = Op::Write;

impl JournaledManager {
    /// Makes the transient snapshot durable, by the shortest way.
    pub(crate) async fn persist(&self) -> Result<Persisted> {
        if !self.may_write() {
            self.refuse_beside_journal().await?;
            return self.write_whole().await;
        }
        let (state, is_imported) = self.take_up();
        let Some(state) = state else { return Ok(Persisted::Unchanged) };
        let durable = self.run().durable.clone();
        let (Some(durable), false, Seen::State(..)) = (durable, is_imported, self.store.seen()) else {
            return self.write_whole().await;
        };
        let Some(change) = Change::between(&durable, &state) else { return Ok(Persisted::Unchanged) };
        if let Err(error) = self.append(&Entry::Change(Box::new(change))).await {
            self.put_back();
            return Err(error);
        }
        self.run().durable = Some(state);
        self.shorten().await;
        Ok(Persisted::Written)
    }

    /// Writes the ordinary object as a whole, and ends the journal.
    pub(crate) async fn write_whole(&self) -> Result<Persisted> {
        let (state, _) = self.take_up();
        let Some(state) = state else { return Ok(Persisted::Unchanged) };
        match self.write_object(&state).await {
            Ok(persisted) => {
                self.run().durable = Some(state);
                self.settle_import();
                self.end_epoch().await?;
                Ok(persisted)
            }
            Err(error) => {
                self.put_back();
                Err(error)
            }
        }
    }

    /// Has the ordinary object say this.
    pub(crate) async fn write_object(&self, state: &State) -> Result<Persisted> {
        self.inner.write_state(state)?;
        let persisted = self.inner.persist_state().await;
        if persisted.is_err() {
            // It may have been the note in the journal that failed.
            self.mark_broken();
        }
        persisted
    }

    /// The state is stored, so what the journal says counts for nothing any more.
    pub(crate) async fn end_epoch(&self) -> Result<()> {
        self.store.note_in(None);
        let ended = self.run().journal.as_mut().and_then(|open| {
            open.bytes = 0;
            open.spent = open.epoch.take();
            open.spent.map(|_| Arc::clone(&open.writer))
        });
        let Some(writer) = ended else { return Ok(()) };
        match writer.clear().await {
            Err(error) if error.kind() == journal::ErrorKind::Fenced => Err(failed(OP, self, error)),
            // A journal that stays says itself that all of it is stored; the next epoch ends it.
            Err(_) => {
                self.mark_broken();
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Brings the ordinary object up to date and closes the journal, before the lock is released.
    pub(crate) async fn end_run(&self) -> Result<()> {
        let has_epoch = self.run().journal.as_ref().is_some_and(|open| open.epoch.is_some());
        if has_epoch {
            // What was written and not persisted stays what it is.
            let durable = self.run().durable.clone().unwrap_or_default();
            self.write_object(&durable).await?;
            self.end_epoch().await?;
        }
        let open = self.run().journal.take();
        if let Some(open) = open {
            // A mark behind the last record, and nothing that anybody waits for.
            drop(open.writer.close().await);
        }
        Ok(())
    }

    /// Appends a record to the epoch of this run, which it begins if need be.
    async fn append(&self, entry: &Entry) -> Result<()> {
        let record = entry.encode().map_err(|error| {
            let message = "the change cannot be written as a file";
            Error::new(ErrorKind::Invalid, OP, self).because(message).with_source(error)
        })?;
        let writer = self.writer().await?;
        let appended = writer.append(std::slice::from_ref(&record)).await;
        if let Err(error) = appended {
            if matches!(error.kind(), journal::ErrorKind::Closed | journal::ErrorKind::Ambiguous) {
                self.mark_broken();
            }
            return Err(failed(OP, self, error));
        }
        if let Some(open) = &mut self.run().journal {
            open.bytes = open.bytes.saturating_add(record.as_bytes().len() as u64);
        }
        Ok(())
    }

    /// The journal with an epoch of this run.
    async fn writer(&self) -> Result<Arc<dyn JournalWriter>> {
        let open = self.run().journal.clone();
        let open = match open {
            Some(open) if !open.is_broken => open,
            Some(open) => self.open_again(open).await?,
            None => self.open_journal().await?,
        };
        if open.epoch.is_some() {
            return Ok(open.writer);
        }
        let found = open.writer.position().map(|cursor| cursor.epoch());
        if found.is_some() && found != open.spent {
            self.close_journal().await;
            let message = "another process has journaled changes; refresh to recover them";
            return Err(Error::new(ErrorKind::Conflict, OP, self).because(message));
        }
        let (base, len) = self.base().await?;
        let epoch = open.writer.begin(&base).await;
        if epoch.is_err() {
            self.mark_broken();
        }
        let epoch = epoch.map_err(|error| failed(OP, self, error))?;
        self.store.note_in(Some(Arc::clone(&open.writer)));
        let limit = self.options.checkpoint_bytes.max(len);
        let writer = Arc::clone(&open.writer);
        self.run().journal = Some(Open { epoch: Some(epoch), bytes: 0, limit, state_bytes: len, ..open });
        Ok(writer)
    }

    /// Opens the journal. The holder of the lock takes over from any writer before.
    pub(crate) async fn open_journal(&self) -> Result<Open> {
        let (who, grant) = self.owner();
        self.make_sure_of(grant.as_ref()).await?;
        let owner = match &grant {
            Some(grant) => format!("{who} (lock id {})", grant.id),
            None => who,
        };
        let options = OpenOptions::new(owner.trim()).take_over(grant.is_some());
        let writer = self.journal.open(&options).await.map_err(|error| failed(OP, self, error))?;
        let open = Open {
            writer,
            epoch: None,
            spent: None,
            is_broken: false,
            tried: None,
            bytes: 0,
            limit: 0,
            state_bytes: 0,
        };
        self.run().journal = Some(open.clone());
        Ok(open)
    }

    /// Whether the lock is still this manager's, as far as the store can tell: taking over from its holder would be rude.
    async fn make_sure_of(&self, grant: Option<&LockGrant>) -> Result<()> {
        let Some(grant) = grant.filter(|_| self.store.capabilities().holder) else { return Ok(()) };
        match self.store.lock_holder().await? {
            Some(holder) if holder.id == grant.id => Ok(()),
            _ => Err(Error::new(ErrorKind::LockLost, OP, self)),
        }
    }

    /// Opens the journal once more after its writer has ended, and goes on with the epoch. What the last append has left there is
    /// appended again, which does no harm.
    async fn open_again(&self, broken: Open) -> Result<Open> {
        drop(broken.writer.close().await);
        let fresh = self.open_journal().await?;
        let found = fresh.writer.position().map(|cursor| cursor.epoch());
        let mut open = Open { writer: fresh.writer, is_broken: true, ..broken };
        if open.epoch.is_some() && found != open.epoch {
            self.run().journal = Some(open.clone());
            if !self.has_begun(&open).await? {
                let message = "the journal of this run is gone: another process recovered or discarded it";
                return Err(Error::new(ErrorKind::LockLost, OP, self).because(message));
            }
            (open.epoch, open.bytes) = (found, 0);
        }
        (open.is_broken, open.tried) = (false, None);
        if open.epoch.is_some() {
            self.store.note_in(Some(Arc::clone(&open.writer)));
        }
        self.run().journal = Some(open.clone());
        Ok(open)
    }

    /// Whether the journal is the epoch whose beginning had no answer, as this manager has left it.
    async fn has_begun(&self, open: &Open) -> Result<bool> {
        let Some(tried) = &open.tried else { return Ok(false) };
        let head = self.journal.head().await.map_err(|error| failed(OP, self, error))?;
        let is_empty =
            open.writer.position().is_some_and(|cursor| cursor.position() == journal::Position::START);
        Ok(is_empty && head.is_some_and(|head| head.base == *tried))
    }

    fn mark_broken(&self) {
        if let Some(open) = &mut self.run().journal {
            open.is_broken = true;
        }
    }

    /// What the epoch builds on: the state that is stored, which has to be the one that was read.
    async fn base(&self) -> Result<(Record, u64)> {
        let Seen::State(seen, len) = self.store.seen() else {
            return Err(Error::new(ErrorKind::Internal, OP, self));
        };
        let stored = if self.options.keep_base {
            let stored = self.store.read().await?.map(|stored| stored.bytes);
            let found = stored.as_deref().map(digest);
            if found.as_ref() != Some(&seen) {
                let found = found.map_or_else(|| "nothing".to_owned(), |found| format!("digest {found}"));
                return Err(Error::conflict(OP, self, format!("digest {seen}"), found));
            }
            stored
        } else {
            None
        };
        let meta = self.inner.snapshot_meta();
        let mut base = Base::new(&seen, &meta.lineage, meta.serial).with_state(stored);
        let (who, grant) = self.owner();
        base.line.who = who;
        if let Some(grant) = grant {
            base.line.lock = grant.id.to_string();
            base.line.fence = grant.fence.map(groundstate_statemgr::FencingToken::get);
        }
        let record = base.encode();
        let record = record.map_err(|error| Error::new(ErrorKind::Internal, OP, self).with_source(error))?;
        Ok((record, len))
    }

    /// Brings the ordinary object up to date when the journal is long. Where that does not work now, the journal is compacted, so
    /// that it stays short. All in it is durable, so if that fails too, both are tried again when it has grown by as much.
    async fn shorten(&self) {
        let is_long = self.run().journal.as_ref().is_some_and(|open| open.bytes > open.limit);
        if !is_long {
            return;
        }
        let durable = self.run().durable.clone().unwrap_or_default();
        let shortened = match self.write_object(&durable).await {
            Ok(_) => {
                // The next append meets whatever was wrong.
                drop(self.end_epoch().await);
                return;
            }
            Err(error) if error.kind() == ErrorKind::LockLost => Err(error),
            Err(_) => traced::manager("compact the journal of", self, self.compact(&durable)).await,
        };
        if let (Err(_), Some(open)) = (shortened, &mut self.run().journal) {
            let step = self.options.checkpoint_bytes.max(open.state_bytes);
            open.limit = open.bytes.saturating_add(step);
        }
    }

    /// Begins the journal anew: with the base of the run, what was announced since, and the whole state instead of the records.
    ///
    /// Whichever of those the ordinary object turns out to be, the state that was durable follows from it.
    async fn compact(&self, durable: &State) -> Result<()> {
        let Some(open) = self.run().journal.clone() else { return Ok(()) };
        let open = if open.is_broken { self.open_again(open).await? } else { open };
        let head = self.journal.head().await.map_err(|error| failed(OP, self, error))?;
        let Some(head) = head.filter(|head| Some(head.epoch) == open.epoch) else {
            return Err(Error::new(ErrorKind::LockLost, OP, self));
        };
        let base = Base::decode(&head.base)
            .map_err(|error| Error::new(ErrorKind::Corrupt, OP, self).with_source(error))?;
        let checkpoint = Entry::Change(Box::new(Change::to(durable))).encode();
        let checkpoint =
            checkpoint.map_err(|error| Error::new(ErrorKind::Invalid, OP, self).with_source(error))?;
        let state_bytes = checkpoint.as_bytes().len() as u64;
        let base = base.with_checkpoint(checkpoint, self.store.announced()).encode();
        let base = base.map_err(|error| Error::new(ErrorKind::Internal, OP, self).with_source(error))?;
        match open.writer.begin(&base).await {
            Ok(epoch) => {
                let limit = self.options.checkpoint_bytes.max(state_bytes);
                let open = Open { epoch: Some(epoch), bytes: 0, limit, state_bytes, ..open };
                self.run().journal = Some(open);
                Ok(())
            }
            Err(error) => {
                self.run().journal = Some(Open { is_broken: true, tried: Some(base), ..open });
                Err(failed(OP, self, error))
            }
        }
    }

    /// A client without the lock must not write past a journal that waits to be recovered.
    async fn refuse_beside_journal(&self) -> Result<()> {
        let head = self.journal.head().await.map_err(|error| failed(OP, self, error))?;
        if head.is_none() || !self.is_locking_enabled() {
            return Ok(());
        }
        let message = "a journal of changes is beside it, lock and refresh so that they are recovered first";
        Err(Error::new(ErrorKind::Conflict, OP, self).because(message))
    }
}
