//! The store: the contract's operations, each on a thread of its own.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_common::Clock;
use groundstate_durable::offload;
use groundstate_statemgr::{
    Capabilities, Error, ErrorKind, Exclusion, LockGrant, LockHolder, LockId, LockInfo, Op, Result,
    StateStore, Stored, Version, WriteOptions, traced,
};

use crate::client::Client;
use crate::failure::failed;
use crate::options::FsOptions;
use crate::state_path::StatePath;
use crate::wanted::{Caller, Wanted};

/// A client of a state in a file.
///
/// Several may be open on one file, in one process or many, beside Terraform and OpenTofu. A lock lasts until it is
/// released, its client is dropped or its process ends; there is nothing to free by force.
#[derive(Clone)]
pub struct FsStore {
    client: Arc<Client>,
    target: Arc<str>,
}

impl FsStore {
    /// The state at `path`, which need not exist. Nothing is read or written yet.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Invalid`] when the path names no file.
    pub fn open(path: impl AsRef<Path>, clock: Arc<dyn Clock>) -> Result<Self> {
        Self::with_options(path, FsOptions::new(), clock)
    }

    /// The same with settings.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Invalid`] when one of the paths names no file.
    pub fn with_options(path: impl AsRef<Path>, options: FsOptions, clock: Arc<dyn Clock>) -> Result<Self> {
        let path = path.as_ref();
        let fail = |error: io::Error| failed(Op::Other("open"), path.display(), error);
        let place = StatePath::new(path).map_err(fail)?;
        let target = place.to_string().into();
        Ok(Self { client: Arc::new(Client::new(place, options, clock).map_err(fail)?), target })
    }

    /// The file that is written and locked, as an absolute path.
    pub fn path(&self) -> &Path {
        self.client.place.path()
    }

    /// The settings it was opened with.
    pub fn options(&self) -> &FsOptions {
        &self.client.options
    }

    async fn run<T, F>(&self, op: Op, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Arc<Client>) -> Result<T> + Send + 'static,
    {
        let client = Arc::clone(&self.client);
        offload(op, &self.target, move || work(&client)).await
    }

    /// The same for work that must not begin after its caller has given up.
    async fn run_if_wanted<T, F>(&self, op: Op, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Arc<Client>, &Wanted) -> Result<T> + Send + 'static,
    {
        let caller = Caller::new();
        let wanted = caller.wanted();
        let outcome = self.run(op, move |client| work(client, &wanted)).await;
        drop(caller);
        outcome
    }
}

impl fmt::Display for FsStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.target)
    }
}

impl fmt::Debug for FsStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client, target } = self;
        f.debug_struct("FsStore").field("path", target).field("options", &client.options).finish()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl StateStore for FsStore {
    fn lock_name(&self) -> String {
        self.to_string()
    }

    fn capabilities(&self) -> Capabilities {
        let all = Capabilities::none().locking(Exclusion::Host).conditional_write().holder().delete();
        if self.client.options.fencing { all.fencing() } else { all }
    }

    async fn read(&self) -> Result<Option<Stored>> {
        traced::read(self, self.run(Op::Read, |client| client.read())).await
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        traced::write(self, bytes.len(), options, self.replace(bytes, options)).await
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        let conditions = options.clone();
        let work = self.run_if_wanted(Op::Delete, move |client, wanted| client.delete(&conditions, wanted));
        traced::delete(self, options, work).await
    }

    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        let document = info.clone();
        let work = self.run_if_wanted(Op::Lock, move |client, wanted| client.lock(&document, wanted));
        traced::grant(Op::Lock, self, &info.id, work).await
    }

    async fn renew(&self, _: &LockId) -> Result<LockGrant> {
        Err(Error::unsupported(Op::RenewLock, self))
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        let own = id.clone();
        let work = self.run(Op::Unlock, move |client| client.unlock(&own));
        traced::release(Op::Unlock, self, id, work).await
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        let work = self.run(Op::ForceUnlock, |client| Err(client.force_unlock()));
        traced::release(Op::ForceUnlock, self, id, work).await
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        let work = self.run(Op::FindHolder, |client| client.lock_holder(Op::FindHolder));
        traced::holder(self, work).await
    }
}

impl FsStore {
    async fn replace(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        const OP: Op = Op::Write;
        if bytes.is_empty() {
            let message = "there is nothing to write, delete the state instead";
            return Err(Error::new(ErrorKind::Invalid, OP, self).because(message));
        }
        let options = options.clone();
        self.run_if_wanted(OP, move |client, wanted| client.write(&bytes, &options, wanted)).await
    }
}
