//! Carrying a planned move out.

use bytes::Bytes;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use groundstate_blobs::{DeleteOptions, ErrorKind as BlobKind, GetOptions, Key, PutOptions};

use super::objects::aside;
use super::{Intent, MovedObject, OP, Relocated, Relocation};
use crate::journal::digest;
use crate::stack::Checkpoint;
use crate::{Backend, Error, ErrorKind, Guard, Op, Result, traced};

/// Objects from this size on are copied one at a time.
const LARGE: u64 = 8 << 20;

impl Relocation {
    /// Moves the stack. The locks of both stacks are asked for before each step.
    ///
    /// # Errors
    ///
    /// [`LockLost`](ErrorKind::LockLost); [`Exists`](ErrorKind::Exists) if another object has the name of a copy;
    /// [`Changed`](ErrorKind::Changed) if another process has written; those of requests. Planning and carrying the same move out
    /// again goes on.
    pub async fn carry_out(self, guard: &dyn Guard) -> Result<Relocated> {
        let target = self.target.clone();
        traced::run(Op::Move.as_str(), &target, self.relocate(guard)).await
    }

    async fn relocate(mut self, guard: &dyn Guard) -> Result<Relocated> {
        guard.check().await?;
        if !self.is_resumed {
            self.intent.write(&self.target).await?;
        }
        self.copy_objects(guard).await?;
        if let Some(document) = self.document.take() {
            guard.check().await?;
            if self.intent.is_rewritten() {
                self.keep_before(&document.key).await?;
            }
            self.write_checkpoint(&document.key, document.bytes).await?;
        }
        let checkpoint = self.verified().await?;
        if !self.options.keep_source {
            self.remove_source(guard).await?;
        }
        guard.check().await?;
        Intent::remove(&self.target).await?;
        Ok(Relocated {
            checkpoint,
            objects: self.objects.len(),
            changed: self.changed,
            is_resumed: self.is_resumed,
            warnings: self.warnings,
        })
    }

    async fn copy_objects(&self, guard: &dyn Guard) -> Result<()> {
        let (small, large): (Vec<_>, Vec<_>) = self.objects.iter().partition(|object| object.size < LARGE);
        let workers = self.target.backend().options().workers.get();
        for (objects, at_once) in [(small, workers), (large, 1)] {
            for some in objects.chunks(at_once) {
                guard.check().await?;
                // Collected first: a stream that borrows the closure could not be sent to another thread.
                let copies: Vec<_> = some.iter().map(|object| self.copy_object(object)).collect();
                stream::iter(copies).buffer_unordered(at_once).try_collect::<Vec<()>>().await?;
            }
        }
        Ok(())
    }

    /// Copies an object under its new name. One that has vanished was removed by another process, as a prune does.
    async fn copy_object(&self, object: &MovedObject) -> Result<()> {
        let Some(bytes) = stored(self.source.backend(), &object.from).await? else { return Ok(()) };
        let backend = self.target.backend();
        if write_new(backend, &object.to, bytes.clone()).await? {
            return Ok(());
        }
        match stored(backend, &object.to).await? {
            Some(there) if there == bytes => Ok(()),
            _ => Err(Error::new(ErrorKind::Exists, OP, backend.place(object.to.as_str()))
                .because(format!("{} would replace it, which is another object", object.from))
                .next_step("remove or rename one of the two, and repeat the move")),
        }
    }

    /// Makes the state before the move the `.bak` of the stack under its new name. What another stack of that name left there becomes a
    /// retained copy.
    async fn keep_before(&self, checkpoint: &Key) -> Result<()> {
        let Some(Checkpoint { stored: before, .. }) = &self.present else { return Ok(()) };
        let backend = self.target.backend();
        let key = backend.key(OP, &format!("{checkpoint}.bak"))?;
        if let Some(there) = stored(backend, &key).await?.filter(|there| there != before) {
            let name = aside(key.as_str(), self.intent.stamp.saturating_add(2));
            write_new(backend, &backend.key(OP, &name)?, there).await?;
        }
        let put = backend.store().put(&key, before.clone(), &PutOptions::default()).await;
        put.map(drop).map_err(|error| Error::from_store(OP, backend.place(key.as_str()), error))
    }

    async fn write_checkpoint(&self, key: &Key, bytes: Bytes) -> Result<()> {
        let backend = self.target.backend();
        match write_new(backend, key, bytes.clone()).await {
            Ok(true) => Ok(()),
            // An answer that got lost is found out by what is there.
            Ok(false) if stored(backend, key).await?.is_some_and(|there| there == bytes) => Ok(()),
            Ok(false) => Err(self.target.failed(ErrorKind::Changed, OP).because("another process made it")),
            Err(error) if error.kind() == ErrorKind::Ambiguous => match stored(backend, key).await? {
                Some(there) if there == bytes => Ok(()),
                _ => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    /// Reads the checkpoint under the new name, as everyone will, and gives its key. It may be newer than the move.
    async fn verified(&self) -> Result<Key> {
        let read = self.target.read().await?;
        let read = read.ok_or_else(|| {
            let failure = self.target.failed(ErrorKind::Changed, OP);
            failure.because("its checkpoint vanished").next_step("look at both stacks, then repeat the move")
        })?;
        if self.is_resumed || digest(&read.stored) == self.intent.target {
            return Ok(read.key);
        }
        let failure = self.target.failed(ErrorKind::Corrupt, OP);
        Err(failure
            .because("what was written is not what is read")
            .next_step("the stack is still there under its old name; ask who else writes to this bucket"))
    }

    /// Removes what was copied, the checkpoint last: as long as it is there, the move goes on.
    async fn remove_source(&self, guard: &dyn Guard) -> Result<()> {
        let backend = self.source.backend();
        let workers = backend.options().workers.get();
        for some in self.objects.chunks(workers) {
            guard.check().await?;
            let removed = some.iter().map(|object| remove(backend, &object.from, DeleteOptions::default()));
            let removed: Vec<_> = removed.collect();
            stream::iter(removed).buffer_unordered(workers).try_collect::<Vec<()>>().await?;
        }
        let Some(present) = &self.present else { return Ok(()) };
        guard.check().await?;
        remove(backend, &present.key, backend.deletion_of(&present.version)).await
    }
}

async fn stored(backend: &Backend, key: &Key) -> Result<Option<Bytes>> {
    let got = backend.store().get(key, &GetOptions::default()).await;
    let got = got.map_err(|error| Error::from_store(OP, backend.place(key.as_str()), error))?;
    Ok(got.map(|blob| blob.bytes))
}

async fn write_new(backend: &Backend, key: &Key, bytes: Bytes) -> Result<bool> {
    let created = backend.create(key, bytes).await;
    created.map_err(|error| Error::from_store(OP, backend.place(key.as_str()), error))
}

async fn remove(backend: &Backend, key: &Key, condition: DeleteOptions) -> Result<()> {
    match backend.store().delete(key, &condition).await {
        Err(error) if error.kind() != BlobKind::NotFound => {
            Err(Error::from_store(OP, backend.place(key.as_str()), error))
        }
        _ => Ok(()),
    }
}
