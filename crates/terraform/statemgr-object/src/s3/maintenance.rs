//! What a table of DynamoDB needs now and then: digests repaired, and states moved away from it.

use std::sync::Arc;

use groundstate_blobs::Key;
use groundstate_statemgr::{
    Error, LockHolder, LockId, LockInfo, Op, Result, StateStore, WorkspaceName, under_lock,
};

use crate::digest::RepairedDigest;
use crate::failure::failed;
use crate::s3::S3Backend;
use crate::scheme::{BothLocks, LockScheme, LookLock};
use crate::store::ObjectStateStore;

/// A held lock, by one mechanism.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundLock {
    /// The object or row, in words.
    pub place: String,
    /// Who holds it.
    pub holder: LockHolder,
}

/// A state whose lock went from a table to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MigratedLock {
    /// The object that locks the state from now on.
    pub lock: String,
    /// The digest that was in the table, and is gone now unless this was a dry run.
    pub digest: Option<String>,
}

impl S3Backend {
    /// Every lock that is held on a workspace's state, by object and by row, also where the options use only one of them. A
    /// crash or a mixed team may leave half of a lock.
    ///
    /// # Errors
    ///
    /// Those of [`LockScheme::holder`].
    pub async fn locks(&self, workspace: &WorkspaceName) -> Result<Vec<FoundLock>> {
        let store = self.open(workspace)?;
        let mut found = Vec::new();
        for scheme in self.schemes(&store, workspace)? {
            if let Some(holder) = scheme.holder().await? {
                found.push(FoundLock { place: scheme.to_string(), holder });
            }
        }
        Ok(found)
    }

    /// Releases the lock of this id, whichever mechanism it is of, also where the options use only one of them.
    ///
    /// # Errors
    ///
    /// Errors of [`LockScheme::unlock`].
    pub async fn force_unlock(&self, workspace: &WorkspaceName, id: &LockId) -> Result<()> {
        let store = self.open(workspace)?;
        LookLock::new(self.schemes(&store, workspace)?).unlock(id).await
    }

    fn schemes(
        &self,
        store: &ObjectStateStore,
        workspace: &WorkspaceName,
    ) -> Result<Vec<Arc<dyn LockScheme>>> {
        let mut schemes = vec![self.locks.file(store, self.lock_key(workspace)?)];
        schemes.extend(self.locks.tables().map(|table| self.locks.row(store, table)));
        Ok(schemes)
    }

    fn lock_key(&self, workspace: &WorkspaceName) -> Result<Key> {
        Key::parse(&self.objects.layout().lock_key(workspace))
            .map_err(|error| failed(Op::Other("open"), workspace, error))
    }

    /// Makes the digest of a workspace's state that of what is stored, under the lock.
    ///
    /// Be sure that what is stored is right before: a digest that is not that of the state may mean that the state is older.
    ///
    /// # Errors
    ///
    /// `Unsupported` without a table, and those of locking and of [`ObjectStateStore::repair_digest`].
    pub async fn repair_digest(&self, workspace: &WorkspaceName, lock: &LockInfo) -> Result<RepairedDigest> {
        let store = self.open(workspace)?;
        let grant = store.lock(lock).await?;
        under_lock(&grant.id, store.repair_digest(), store.unlock(&grant.id)).await
    }

    /// Moves a workspace's lock from the table to an object: takes both, checks that digest and state agree, removes the
    /// digest, and releases both, so that nothing of the state is left in the table.
    ///
    /// Everybody has to be configured with `use_lockfile` by then; while some still use only the table, set both options.
    /// Doing it twice does nothing more. A dry run takes no lock and changes nothing.
    ///
    /// # Errors
    ///
    /// `Unsupported` without a table; `Locked` while either lock is held, in a dry run too; `Corrupt` when digest and
    /// state do not agree; those of locking and reading.
    pub async fn migrate_lock(
        &self,
        workspace: &WorkspaceName,
        lock: &LockInfo,
        dry_run: bool,
    ) -> Result<MigratedLock> {
        const OP: Op = Op::Other("migrate the lock of");
        let store = self.open(workspace)?;
        let Some(table) = self.locks.table() else {
            let why = "no table is configured, name it as `dynamodb_table`";
            return Err(Error::unsupported(OP, &store).because(why));
        };
        let file = self.locks.file(&store, self.lock_key(workspace)?);
        let row = self.locks.row(&store, table);
        let both = BothLocks::new(Arc::clone(&file), row);
        let lock_name = file.to_string();
        if dry_run {
            if let Some(holder) = both.holder().await? {
                return Err(Error::locked(OP, &store, Some(holder)));
            }
            store.read().await?;
            return Ok(MigratedLock {
                lock: lock_name,
                digest: self.locks.digests(&store, table).stored().await?,
            });
        }
        let grant = both.lock(lock).await?;
        let digest = under_lock(&grant.id, self.leave_table(&store), both.unlock(&grant.id)).await?;
        Ok(MigratedLock { lock: lock_name, digest })
    }

    /// Removes the digest of a state that agrees with it.
    async fn leave_table(&self, store: &ObjectStateStore) -> Result<Option<String>> {
        store.read().await?;
        let Some(table) = self.locks.table() else { return Ok(None) };
        let digests = self.locks.digests(store, table);
        let digest = digests.stored().await?;
        if digest.is_some() {
            digests.remove().await?;
        }
        Ok(digest)
    }
}
