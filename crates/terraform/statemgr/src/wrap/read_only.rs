//! A store that is only read.

use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;

use crate::Op;
use crate::capabilities::Capabilities;
use crate::error::{Error, Result};
use crate::holder::{LockGrant, LockHolder};
use crate::lock_info::{LockId, LockInfo};
use crate::store::{StateStore, Stored, Version, WriteOptions};

/// Refuses every change of a store, its lock included. Reading needs no lock, so nothing is missed.
#[derive(Debug)]
pub struct ReadOnly<S>(S);

impl<S: StateStore> ReadOnly<S> {
    /// The store, to be read only.
    pub fn new(store: S) -> Self {
        Self(store)
    }

    fn refuse<T>(&self, op: Op) -> Result<T> {
        Err(Error::unsupported(op, self).because("it was opened for reading only"))
    }
}

impl<S: fmt::Display> fmt::Display for ReadOnly<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: StateStore> StateStore for ReadOnly<S> {
    fn lock_name(&self) -> String {
        self.0.lock_name()
    }

    fn capabilities(&self) -> Capabilities {
        let none = Capabilities::none();
        if self.0.capabilities().holder { none.holder() } else { none }
    }

    async fn read(&self) -> Result<Option<Stored>> {
        self.0.read().await
    }

    async fn write(&self, _: Bytes, _: &WriteOptions) -> Result<Version> {
        self.refuse(Op::Write)
    }

    async fn delete(&self, _: &WriteOptions) -> Result<()> {
        self.refuse(Op::Delete)
    }

    async fn lock(&self, _: &LockInfo) -> Result<LockGrant> {
        self.refuse(Op::Lock)
    }

    async fn renew(&self, _: &LockId) -> Result<LockGrant> {
        self.refuse(Op::RenewLock)
    }

    async fn unlock(&self, _: &LockId) -> Result<()> {
        self.refuse(Op::Unlock)
    }

    async fn force_unlock(&self, _: &LockId) -> Result<()> {
        self.refuse(Op::ForceUnlock)
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        self.0.lock_holder().await
    }
}
