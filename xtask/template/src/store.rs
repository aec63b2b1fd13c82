//! The store: what the contract asks for, in terms of the service.

use std::fmt;

use async_trait::async_trait;
use groundstate_statemgr::bytes::Bytes;
use groundstate_statemgr::{
    Capabilities, Error, ErrorKind, LockGrant, LockHolder, LockId, LockInfo, Op, Result, StateStore, Stored,
    Version, WriteOptions,
};

use crate::service::{Entry, Service, ServiceError};
use crate::{locking, writing};

/// One state in template. Each value is a client of its own.
#[derive(Debug)]
pub struct TemplateStore {
    pub(crate) service: Service,
    /// Where the state is.
    pub(crate) key: String,
}

impl TemplateStore {
    /// A client of the state of this name.
    pub fn new(service: Service, name: &str) -> Self {
        Self { service, key: name.to_owned() }
    }

    /// The service's errors in the words of the contract: what can the caller do about it?
    pub(crate) fn error(&self, op: Op, error: ServiceError) -> Error {
        let kind = match error {
            ServiceError::Condition => ErrorKind::Conflict,
            // Nothing has happened: worth another try.
            ServiceError::Unreachable => ErrorKind::Unavailable,
            // It may have happened: only reading tells.
            ServiceError::NoAnswer => ErrorKind::Ambiguous,
        };
        Error::new(kind, op, self).with_source(error)
    }

    /// What is stored.
    pub(crate) async fn entry(&self, op: Op) -> Result<Option<Entry>> {
        let entry = self.service.get(&self.key).await.map_err(|error| self.error(op, error))?;
        Ok(entry.filter(|entry| !entry.value.is_empty()))
    }
}

impl fmt::Display for TemplateStore {
    /// Names the place on one line, without credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "template:{}", self.key)
    }
}

/// The contract's name for a revision.
pub(crate) fn version(revision: u64) -> Version {
    Version::new(&revision.to_string())
}

#[async_trait]
impl StateStore for TemplateStore {
    fn capabilities(&self) -> Capabilities {
        locking::adds(writing::adds(Capabilities::none()))
    }

    async fn read(&self) -> Result<Option<Stored>> {
        let entry = self.entry(Op::Read).await?;
        Ok(entry.map(|entry| Stored::new(entry.value, version(entry.revision))))
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        self.put(&bytes, options).await
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        self.remove(options).await
    }

    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        self.take(info).await
    }

    async fn renew(&self, _: &LockId) -> Result<LockGrant> {
        Err(Error::unsupported(Op::RenewLock, self))
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        self.release(Op::Unlock, id).await
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        self.release(Op::ForceUnlock, id).await
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        self.holder().await
    }
}
