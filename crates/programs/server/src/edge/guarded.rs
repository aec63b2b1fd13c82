//! A store that looks whether it still is the one with which the server started.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_blobs::{
    Blob, BlobCapabilities, BlobMeta, BlobStore, BlobVersion, DeleteOptions, Error, ErrorKind, GetOptions,
    Key, Leases, ListOptions, Op, Page, PutOptions, Result,
};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::mark::{LAYOUT, Mark, StoreId};

/// For how long a look counts before a write, where a look costs a request over a network.
const COUNTS_FOR: Duration = Duration::from_secs(5);

/// A store whose absences are believed only while its mark has the id of the store that was opened.
///
/// A store that was unmounted, emptied or exchanged answers "not there", too. So before `None`, an empty list
/// and any write the mark is read.
#[derive(Clone, Debug)]
pub(super) struct Guarded {
    store: Arc<dyn BlobStore>,
    id: StoreId,
    /// `true` if every write looks: a directory can be unmounted at any time.
    each_write: bool,
    looked: Arc<Mutex<Option<Instant>>>,
}

impl Guarded {
    pub(super) fn new(store: Arc<dyn BlobStore>, id: StoreId, each_write: bool) -> Self {
        Self { store, id, each_write, looked: Arc::default() }
    }

    /// Reads the mark.
    async fn look(&self, op: Op) -> Result<()> {
        let found = match Mark::read(&self.store).await {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let gone = |why: String| {
            let error = Error::new(ErrorKind::NotFound, op, &self.store).because(why);
            Err(error.next_step("bring back the store with which this server started"))
        };
        match found.map(|stored| stored.mark.and_then(|mark| mark.id)) {
            Some(Some(id)) if id == self.id => {
                *self.looked.lock().await = Some(Instant::now());
                Ok(())
            }
            None => gone(format!("the store has gone: it has no {LAYOUT} any more")),
            Some(None) => gone(format!("its {LAYOUT} is damaged")),
            Some(Some(id)) => {
                let known = &self.id;
                gone(format!("it is another store: its id is {id}, and this server started with {known}"))
            }
        }
    }

    async fn look_before_write(&self) -> Result<()> {
        let looked = *self.looked.lock().await;
        match looked.is_some_and(|at| !self.each_write && at.elapsed() < COUNTS_FOR) {
            true => Ok(()),
            false => self.look(Op::Write).await,
        }
    }
}

impl fmt::Display for Guarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl BlobStore for Guarded {
    fn capabilities(&self) -> BlobCapabilities {
        self.store.capabilities()
    }

    async fn get(&self, key: &Key, options: &GetOptions) -> Result<Option<Blob>> {
        let found = self.store.get(key, options).await?;
        if found.is_none() {
            self.look(Op::Read).await?;
        }
        Ok(found)
    }

    async fn head(&self, key: &Key) -> Result<Option<BlobMeta>> {
        let found = self.store.head(key).await?;
        if found.is_none() {
            self.look(Op::Read).await?;
        }
        Ok(found)
    }

    async fn put(&self, key: &Key, bytes: Bytes, options: &PutOptions) -> Result<BlobVersion> {
        self.look_before_write().await?;
        self.store.put(key, bytes, options).await
    }

    async fn delete(&self, key: &Key, options: &DeleteOptions) -> Result<bool> {
        self.look_before_write().await?;
        self.store.delete(key, options).await
    }

    async fn list(&self, prefix: &str, options: &ListOptions) -> Result<Page> {
        let page = self.store.list(prefix, options).await?;
        if page.blobs.is_empty() && page.prefixes.is_empty() && page.next.is_none() {
            self.look(Op::List).await?;
        }
        Ok(page)
    }

    fn leases(&self) -> Option<&dyn Leases> {
        self.store.leases()
    }
}
