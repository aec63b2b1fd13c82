//! Removing a stack.

use groundstate_blobs::{DeleteOptions, GetOptions, Key, PutOptions};

use crate::backend::folder;
use crate::stack::Variant;
use crate::{CopySource, Error, ErrorKind, Guard, Op, Result, Stack, traced};

/// What is removed. The default refuses a stack that has resources, and keeps its state as `.bak`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoveOptions {
    /// Removes a stack that has resources, that is damaged, or whose last update was killed.
    pub force: bool,
    /// Removes all copies of its state too.
    pub backups: bool,
}

/// What was removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Removed {
    /// The keys that were removed, in this order.
    pub keys: Vec<String>,
    /// The copies of the state that were made before.
    pub kept: Vec<String>,
    /// Whether the journal of a killed update stays.
    pub has_journal: bool,
}

/// What a removal has to do.
struct Plan {
    /// The checkpoints, in the order in which they are removed.
    variants: Vec<Variant>,
    /// What is removed after them.
    rest: Vec<Key>,
    has_journal: bool,
}

/// The copy of a checkpoint that is made before it is removed.
fn bak(key: &Key) -> String {
    format!("{key}.bak")
}

impl RemoveOptions {
    /// Removes a stack whatever it holds.
    #[must_use]
    pub fn force(mut self) -> Self {
        self.force = true;
        self
    }

    /// Removes all copies too.
    #[must_use]
    pub fn backups(mut self) -> Self {
        self.backups = true;
        self
    }
}

impl Stack {
    /// Removes this stack while its lock is held: its checkpoint, tags and history. A process that was killed in it is followed by
    /// another one with the same options, which goes on.
    ///
    /// # Errors
    ///
    /// [`NotFound`](ErrorKind::NotFound) if there is nothing to remove. Without [`force`](RemoveOptions::force)
    /// [`Invalid`](ErrorKind::Invalid) if there is a resource beside the root or an operation that is pending,
    /// [`Corrupt`](ErrorKind::Corrupt), and [`Changed`](ErrorKind::Changed) if the journal of a killed update waits.
    /// [`LockLost`](ErrorKind::LockLost), and those of requests.
    pub async fn remove(&self, guard: &dyn Guard, options: &RemoveOptions) -> Result<Removed> {
        traced::run(Op::Remove.as_str(), self, self.remove_all(guard, options)).await
    }

    async fn remove_all(&self, guard: &dyn Guard, options: &RemoveOptions) -> Result<Removed> {
        let plan = self.plan_removal(options).await?;
        let mut removed = Removed { has_journal: plan.has_journal, ..Removed::default() };
        for variant in &plan.variants {
            self.remove_variant(&variant.key, guard, options, &mut removed).await?;
        }
        for key in plan.rest {
            self.remove_key(&key, &DeleteOptions::default(), guard, &mut removed).await?;
        }
        Ok(removed)
    }

    /// What [`remove`](Self::remove) would remove and keep. Nothing is written, and no lock is needed.
    ///
    /// # Errors
    ///
    /// Those of [`remove`](Self::remove).
    pub async fn removal(&self, options: &RemoveOptions) -> Result<Removed> {
        let Plan { variants, rest, has_journal } = self.plan_removal(options).await?;
        let kept = variants.iter().filter(|_| !options.backups).map(|one| bak(&one.key)).collect();
        let keys = variants.iter().map(|one| &one.key).chain(&rest).map(ToString::to_string).collect();
        Ok(Removed { keys, kept, has_journal })
    }

    /// Decides what is removed, and refuses what is not to be.
    async fn plan_removal(&self, options: &RemoveOptions) -> Result<Plan> {
        let has_journal = self.has_journal().await?;
        if has_journal && !options.force {
            return Err(self.unrecovered(Op::Remove));
        }
        let selection = self.select().await?;
        // The one that counts goes last, so that none of the others ever counts.
        let variants: Vec<Variant> = selection.others.into_iter().chain(selection.active).collect();
        if !options.force {
            for variant in &variants {
                self.refuse_resources(&variant.key).await?;
            }
        }
        let mut rest = self.belongings().await?;
        if options.backups {
            rest.extend(self.copy_keys().await?);
        }
        if variants.is_empty() && rest.is_empty() {
            return Err(self.failed(ErrorKind::NotFound, Op::Remove));
        }
        Ok(Plan { variants, rest, has_journal })
    }

    async fn refuse_resources(&self, key: &Key) -> Result<()> {
        let Some(checkpoint) = self.read_object(key).await? else { return Ok(()) };
        let Some(snapshot) = checkpoint.decode()?.snapshot else { return Ok(()) };
        let only_root = match &snapshot.resources[..] {
            [] => true,
            [one] => one.urn.is_root_stack(),
            _ => false,
        };
        if only_root && snapshot.pending_operations.is_empty() {
            return Ok(());
        }
        let failure = self.failed(ErrorKind::Invalid, Op::Remove);
        Err(failure
            .because("refusing to remove stack because it still contains resources")
            .next_step("destroy them first, or force the removal, which forgets them"))
    }

    /// Removes a checkpoint on the condition that it is what was read, after its copy is stored.
    async fn remove_variant(
        &self,
        key: &Key,
        guard: &dyn Guard,
        options: &RemoveOptions,
        removed: &mut Removed,
    ) -> Result<()> {
        let backend = self.backend();
        let got = backend.store().get(key, &GetOptions::default()).await;
        let got = got.map_err(|error| Error::from_store(Op::Remove, backend.place(key.as_str()), error))?;
        let Some(blob) = got else { return Ok(()) };
        if !options.backups {
            let copy = backend.key(Op::BackUp, &bak(key))?;
            guard.check().await?;
            let put = backend.store().put(&copy, blob.bytes.clone(), &PutOptions::default()).await;
            put.map_err(|error| Error::from_store(Op::BackUp, backend.place(copy.as_str()), error))?;
            removed.kept.push(copy.to_string());
        }
        self.remove_key(key, &backend.deletion_of(blob.version()), guard, removed).await
    }

    async fn remove_key(
        &self,
        key: &Key,
        condition: &DeleteOptions,
        guard: &dyn Guard,
        removed: &mut Removed,
    ) -> Result<()> {
        let backend = self.backend();
        guard.check().await?;
        let deleted = backend.store().delete(key, condition).await;
        deleted.map_err(|error| Error::from_store(Op::Remove, backend.place(key.as_str()), error))?;
        removed.keys.push(key.to_string());
        Ok(())
    }

    /// The tags, and what is directly in the folder of the history.
    async fn belongings(&self) -> Result<Vec<Key>> {
        let (backend, reference) = (self.backend(), self.checked(Op::Remove)?);
        let tags = backend.key(Op::Remove, &backend.layout().tags(reference))?;
        let head = backend.store().head(&tags).await;
        let head =
            head.map_err(|error| Error::from_store(Op::Remove, backend.place(tags.as_str()), error))?;
        let mut keys: Vec<Key> = head.map(|_| tags).into_iter().collect();
        keys.extend(self.keys_in(&backend.layout().history(reference)).await?);
        Ok(keys)
    }

    /// `.bak` in each compression, retained checkpoints, and what is directly in the folder of the backups. The `.bak` of a
    /// checkpoint is on no list before it is made, and is not made when it is to be removed.
    async fn copy_keys(&self) -> Result<Vec<Key>> {
        let copies = self.copies().await?.into_iter();
        let beside = |source| matches!(source, CopySource::Previous | CopySource::Retained);
        let mut keys: Vec<Key> = copies.filter(|copy| beside(copy.source)).map(|copy| copy.key).collect();
        keys.extend(self.keys_in(&self.backend().layout().backups(self.checked(Op::Remove)?)).await?);
        Ok(keys)
    }

    async fn keys_in(&self, prefix: &str) -> Result<Vec<Key>> {
        let listed = folder(&**self.backend().store(), prefix).await?.objects;
        listed.iter().map(|listed| self.backend().key(Op::Remove, &listed.name)).collect()
    }
}
