//! The store that keeps everything in memory: the reference of the contract, and handy in tests.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_common::{Clock, Timestamp};

use crate::Op;
use crate::capabilities::{Capabilities, Exclusion};
use crate::error::{Error, ErrorKind, Result};
use crate::holder::{FencingToken, LockGrant, LockHolder};
use crate::lock_info::{LockId, LockInfo};
use crate::store::{StateStore, Stored, Version, WriteOptions};

/// A place in memory, on which any number of clients can be opened.
///
/// ```
/// use groundstate_statemgr::{Expect, SharedMemory, StateStore, WriteOptions};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> groundstate_statemgr::Result<()> {
/// let place = SharedMemory::new("prod");
/// let (a, b) = (place.open(), place.open());
/// let version = a.write("{}".into(), &WriteOptions::expecting(Expect::Absent)).await?;
/// assert_eq!(b.read().await?.map(|stored| stored.version), Some(version));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SharedMemory {
    name: Arc<str>,
    lease: Option<Lease>,
    shared: Arc<Mutex<Shared>>,
}

/// A client of a [`SharedMemory`]. It can do all there is; leases if the place was made with them.
#[derive(Debug)]
pub struct MemoryStore {
    place: SharedMemory,
    /// The lock this client took and has not released, so that it can be told that it was lost.
    held: Mutex<Option<LockId>>,
}

#[derive(Clone, Debug)]
struct Lease {
    duration: Duration,
    clock: Arc<dyn Clock>,
}

#[derive(Default)]
struct Shared {
    bytes: Option<Bytes>,
    /// Counts the writes, also across deletions, so that no version comes twice.
    writes: u64,
    /// The newest token; it also grows when a lock is broken by force.
    token: u64,
    lock: Option<Held>,
}

impl fmt::Debug for Shared {
    /// Shows the size only: states hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, writes, token, lock } = self;
        let bytes = bytes.as_ref().map(Bytes::len);
        f.debug_struct("Shared")
            .field("bytes", &bytes)
            .field("writes", writes)
            .field("token", token)
            .field("lock", lock)
            .finish()
    }
}

#[derive(Debug)]
struct Held {
    info: LockInfo,
    token: FencingToken,
    expires: Option<Timestamp>,
}

impl SharedMemory {
    /// An empty place. Its locks last until they are released.
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), lease: None, shared: Arc::default() }
    }

    /// An empty place whose locks end after `duration` unless they are renewed.
    pub fn with_lease(name: &str, duration: Duration, clock: Arc<dyn Clock>) -> Self {
        Self { lease: Some(Lease { duration, clock }), ..Self::new(name) }
    }

    /// A new client.
    pub fn open(&self) -> MemoryStore {
        MemoryStore { place: self.clone(), held: Mutex::default() }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        // Nothing that can panic runs while the lock is held, so what is inside is whole.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn expiry(&self) -> Option<Timestamp> {
        let Lease { duration, clock } = self.lease.as_ref()?;
        Some(clock.now().checked_add(*duration).unwrap_or(Timestamp::MAX))
    }

    fn has_expired(&self, held: &Held) -> bool {
        let now = self.lease.as_ref().map(|lease| lease.clock.now());
        matches!((now, held.expires), (Some(now), Some(end)) if now >= end)
    }
}

impl fmt::Display for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "memory:{}", self.place.name)
    }
}

impl Shared {
    fn version(&self) -> Option<Version> {
        self.bytes.as_ref().map(|_| Version::new(&self.writes.to_string()))
    }
}

impl Held {
    fn holder(&self) -> LockHolder {
        LockHolder::of(self.info.clone()).with_expiry(self.expires)
    }
}

impl MemoryStore {
    /// Refuses what the options do not allow.
    fn check(&self, op: Op, shared: &Shared, options: &WriteOptions) -> Result<()> {
        if options.force {
            return Err(
                Error::unsupported(op, self).because("the store makes no checks that force overrides")
            );
        }
        if let Some(token) = options.fence
            && token.get() != shared.token
        {
            let expected = format!("token {token}");
            return Err(Error::new(ErrorKind::LockLost, op, self)
                .expected_and_found(expected, format!("token {}", shared.token)));
        }
        let stored = shared.version();
        if !options.expect.is_met_by(stored.as_ref()) {
            let found = stored.map_or_else(|| "nothing".to_owned(), |version| format!("version {version}"));
            return Err(Error::conflict(op, self, &options.expect, found));
        }
        Ok(())
    }

    /// Takes the lock with this id away from the place, or says why not.
    fn free(&self, op: Op, shared: &mut Shared, id: &LockId) -> Result<()> {
        let was_mine = self.held().as_ref() == Some(id);
        match &shared.lock {
            Some(held) if held.info.id == *id => {
                shared.lock = None;
                self.held().take_if(|mine| mine == id);
                Ok(())
            }
            _ if was_mine => {
                *self.held() = None;
                Err(Error::new(ErrorKind::LockLost, op, self))
            }
            Some(held) => Err(Error::locked(op, self, Some(held.holder()))),
            None => Err(Error::new(ErrorKind::NotFound, op, self).because("it is not locked")),
        }
    }

    fn held(&self) -> MutexGuard<'_, Option<LockId>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl StateStore for MemoryStore {
    fn lock_name(&self) -> String {
        self.to_string()
    }

    fn capabilities(&self) -> Capabilities {
        let all = Capabilities::none()
            .locking(Exclusion::Process)
            .conditional_write()
            .fencing()
            .force_unlock()
            .holder()
            .delete();
        if self.place.lease.is_some() { all.lease() } else { all }
    }

    async fn read(&self) -> Result<Option<Stored>> {
        let shared = self.place.shared();
        Ok(shared
            .bytes
            .clone()
            .zip(shared.version())
            .map(|(bytes, version)| Stored::new(bytes.into(), version)))
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        if bytes.is_empty() {
            let message = "there is nothing to write, delete the state instead";
            return Err(Error::new(ErrorKind::Invalid, Op::Write, self).because(message));
        }
        let mut shared = self.place.shared();
        self.check(Op::Write, &shared, options)?;
        shared.bytes = Some(bytes);
        shared.writes += 1;
        Ok(Version::new(&shared.writes.to_string()))
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        let mut shared = self.place.shared();
        self.check(Op::Delete, &shared, options)?;
        shared.bytes = None;
        Ok(())
    }

    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        if info.id.is_empty() {
            return Err(Error::new(ErrorKind::Invalid, Op::Lock, self).because("the lock has no id"));
        }
        let mut shared = self.place.shared();
        if let Some(held) = shared.lock.as_ref().filter(|held| !self.place.has_expired(held)) {
            return Err(Error::locked(Op::Lock, self, Some(held.holder())));
        }
        shared.token += 1;
        let (token, expires) = (FencingToken::new(shared.token), self.place.expiry());
        shared.lock = Some(Held { info: info.clone(), token, expires });
        *self.held() = Some(info.id.clone());
        Ok(LockGrant { id: info.id.clone(), fence: Some(token), expires })
    }

    async fn renew(&self, id: &LockId) -> Result<LockGrant> {
        const OP: Op = Op::RenewLock;
        if self.place.lease.is_none() {
            return Err(Error::unsupported(OP, self));
        }
        let mut shared = self.place.shared();
        match &mut shared.lock {
            Some(held) if held.info.id == *id => {
                held.expires = self.place.expiry();
                Ok(LockGrant { id: id.clone(), fence: Some(held.token), expires: held.expires })
            }
            _ if self.held().as_ref() == Some(id) => Err(Error::new(ErrorKind::LockLost, OP, self)),
            Some(held) => Err(Error::locked(OP, self, Some(held.holder()))),
            None => Err(Error::new(ErrorKind::NotFound, OP, self).because("it is not locked")),
        }
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        self.free(Op::Unlock, &mut self.place.shared(), id)
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        let mut shared = self.place.shared();
        match &shared.lock {
            Some(held) if held.info.id != *id => {
                Err(Error::locked(Op::ForceUnlock, self, Some(held.holder())))
            }
            None => Err(Error::new(ErrorKind::NotFound, Op::ForceUnlock, self).because("it is not locked")),
            Some(_) => {
                shared.lock = None;
                // The broken lock's token is outdated from here on, although no lock has a newer one yet.
                shared.token += 1;
                Ok(())
            }
        }
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        let shared = self.place.shared();
        Ok(shared.lock.as_ref().filter(|held| !self.place.has_expired(held)).map(Held::holder))
    }
}
