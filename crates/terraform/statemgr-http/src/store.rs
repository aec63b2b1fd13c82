//! The store: one state at an address, with the lock that this client holds.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_common::{Clock, IdSource};
use groundstate_http_client::http::HeaderValue;
use groundstate_statemgr::{
    Capabilities, Error, Exclusion, Expect, LockGrant, LockHolder, LockId, LockInfo, Op, Result, StateStore,
    Stored, Version, WriteOptions, traced,
};

use crate::address::{Endpoints, LockEndpoints, shown};
use crate::exchange::Exchange;
use crate::failure::Context;

/// A client of a state at a server of Terraform's HTTP protocol.
///
/// Each request is repeated as Terraform repeats it, but no write blindly: after an answer that got lost the state is read, and the write
/// sent again only if what was there before still is. A lock that is refused in the name of this client's own document is its own.
pub struct HttpStore {
    pub(crate) shared: Arc<Shared>,
    /// The lock that this client took and has not released.
    held: Mutex<Option<HeldLock>>,
    /// What this client knows to be stored, from its last request.
    seen: Mutex<Option<Seen>>,
}

/// What all clients of one backend have in common.
pub(crate) struct Shared {
    pub(crate) exchange: Exchange,
    pub(crate) endpoints: Endpoints,
    pub(crate) conditional: bool,
    /// What no error shows, though a server may send it back.
    pub(crate) secrets: Vec<String>,
    pub(crate) target: String,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
}

/// A lock of this client.
#[derive(Clone)]
pub(crate) struct HeldLock {
    pub(crate) id: LockId,
    /// The document, byte for byte as it was sent: its release sends the same.
    pub(crate) document: Bytes,
    /// The server has taken a change under it.
    pub(crate) is_proven: bool,
}

/// What is stored.
#[derive(Clone, PartialEq)]
pub(crate) enum Seen {
    /// Nothing, or zero bytes, which the server may have a mark of.
    Nothing { e_tag: Option<HeaderValue> },
    State {
        version: Version,
        /// The server's mark of it, if it sends any.
        e_tag: Option<HeaderValue>,
    },
}

impl Seen {
    pub(crate) fn version(&self) -> Option<&Version> {
        match self {
            Self::Nothing { .. } => None,
            Self::State { version, .. } => Some(version),
        }
    }
}

impl Shared {
    /// The requests for the lock.
    pub(crate) fn locks(&self, op: Op) -> Result<&LockEndpoints> {
        self.endpoints.locks.as_ref().ok_or_else(|| {
            let why = "it is configured without lock_address and unlock_address";
            Error::unsupported(op, &self.target).because(why)
        })
    }

    pub(crate) fn context(&self, op: Op) -> Context<'_> {
        Context { op, target: &self.target, secrets: &self.secrets }
    }

    /// What the lock is, for messages.
    pub(crate) fn lock_name(&self) -> String {
        match &self.endpoints.locks {
            Some(locks) if locks.lock.url != self.endpoints.read.url => shown(&locks.lock.url),
            _ => format!("the lock of {}", self.target),
        }
    }
}

impl HttpStore {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, held: Mutex::default(), seen: Mutex::default() }
    }

    pub(crate) fn held(&self) -> MutexGuard<'_, Option<HeldLock>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn seen(&self) -> MutexGuard<'_, Option<Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn context(&self, op: Op) -> Context<'_> {
        self.shared.context(op)
    }

    /// Refuses what needs a capability that this client does not have.
    pub(crate) fn check_options(&self, op: Op, options: &WriteOptions) -> Result<()> {
        let lacks = |why: &str| Err(Error::unsupported(op, self).because(why));
        if options.fence.is_some() {
            return lacks("the protocol has no fencing tokens");
        }
        if options.force {
            return lacks("the protocol has no word that overrides the checks of a server");
        }
        if options.expect != Expect::Any && !self.shared.conditional {
            return lacks(
                "the protocol has no conditions; set the option `conditional_write` if the server honours If-Match",
            );
        }
        Ok(())
    }
}

impl fmt::Display for HttpStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.shared.target)
    }
}

impl fmt::Debug for HttpStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpStore")
            .field("state", &self.shared.target)
            .field("held", &self.held().as_ref().map(|held| held.id.clone()))
            .finish_non_exhaustive()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl StateStore for HttpStore {
    fn capabilities(&self) -> Capabilities {
        let mut all = Capabilities::none().delete();
        if self.shared.conditional {
            all = all.conditional_write();
        }
        if self.shared.endpoints.locks.is_some() {
            all = all.locking(Exclusion::Global).force_unlock().holder();
        }
        all
    }

    async fn read(&self) -> Result<Option<Stored>> {
        traced::read(self, self.fetch(Op::Read)).await
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        traced::write(self, bytes.len(), options, self.put(bytes, options)).await
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        traced::delete(self, options, self.remove(options)).await
    }

    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        traced::grant(Op::Lock, self, &info.id, self.take(info)).await
    }

    async fn renew(&self, _: &LockId) -> Result<LockGrant> {
        Err(Error::unsupported(Op::RenewLock, self).because("the protocol has no leases"))
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        traced::release(Op::Unlock, self, id, self.free(Op::Unlock, id)).await
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        traced::release(Op::ForceUnlock, self, id, self.free(Op::ForceUnlock, id)).await
    }

    fn lock_name(&self) -> String {
        self.shared.lock_name()
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        traced::holder(self, self.find_holder(Op::FindHolder)).await
    }
}
