//! Locks that were found.

use std::fmt;

use groundstate_blobs::{BlobStore, BlobVersion, GetOptions, Key, ListOptions};
use groundstate_common::Timestamp;

use super::objects::{LeaseObject, LockObject};
use crate::{Backend, Error, Layout, Op, Result, Stack};

/// An object that locks a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundLock {
    /// Its key.
    pub key: String,
    /// Its id. A lease has the id of the lock that it belongs to.
    pub id: String,
    /// Its place, without credentials.
    pub place: String,
    /// What it says.
    pub content: LockContent,
    /// When its lease ends, if it has one. Locks of `pulumi` have none.
    pub expires: Option<Timestamp>,
    pub(super) version: Option<BlobVersion>,
}

/// What a lock says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockContent {
    /// A process holds it.
    Held {
        /// The id of the process.
        pid: i64,
        /// Its user.
        user: String,
        /// Its machine.
        host: String,
        /// When it was taken, in RFC 3339.
        since: String,
    },
    /// It cannot be understood, for this reason. It locks the stack for `pulumi` too.
    Unreadable(String),
    /// A killed write left it. It locks the stack for `pulumi`.
    Temporary,
}

impl FoundLock {
    /// The id of the holder's process if it runs on `host`, so that the caller can see whether it is alive.
    pub fn pid_on(&self, host: &str) -> Option<i64> {
        match &self.content {
            LockContent::Held { pid, host: holder, .. } if holder == host => Some(*pid),
            _ => None,
        }
    }

    /// Whether it has a lease that ended before `now`.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

impl fmt::Display for FoundLock {
    /// The line that `pulumi` prints.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.content {
            LockContent::Held { pid, user, host, since } => {
                let second =
                    Timestamp::parse(since).ok().and_then(|at| Timestamp::from_unix(at.seconds(), 0).ok());
                let since = second.map_or_else(|| since.clone(), |second| second.to_string());
                write!(f, "{}: created by {user}@{host} (pid {pid}) at {since}", self.place)
            }
            LockContent::Unreadable(why) => write!(f, "{}: unreadable lock: {why}", self.place),
            LockContent::Temporary => write!(f, "{}: stale temporary file of a killed write", self.place),
        }
    }
}

/// The locks that stood in the way; the source of errors of kind [`Locked`](crate::ErrorKind::Locked).
#[derive(Clone, Debug)]
pub struct LockConflict(pub(super) Vec<FoundLock>);

impl LockConflict {
    /// The locks.
    pub fn locks(&self) -> &[FoundLock] {
        &self.0
    }
}

impl fmt::Display for LockConflict {
    /// The text that `pulumi` prints.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the stack is currently locked by {} lock(s). Either wait for the other process(es) to end or delete the lock file \
             with `pulumi cancel`.",
            self.0.len()
        )?;
        self.0.iter().try_for_each(|lock| write!(f, "\n  {lock}"))
    }
}

impl std::error::Error for LockConflict {}

impl Stack {
    /// The locks of this stack: the objects that `pulumi` counts, and the lease of this library if one is in force. The stack
    /// need not exist.
    ///
    /// # Errors
    ///
    /// Those of requests. A lock that cannot be read is one that is [unreadable](LockContent::Unreadable).
    pub async fn locks(&self) -> Result<Vec<FoundLock>> {
        let mut locks = self.lock_objects(None).await?;
        let backend = self.backend();
        let key = backend.key(Op::Lock, &backend.layout().lease(self.checked(Op::Lock)?))?;
        locks.extend(found_lease(backend, &key).await?);
        Ok(locks)
    }

    /// The objects that `pulumi` counts, without the `own` one.
    pub(super) async fn lock_objects(&self, own: Option<&Key>) -> Result<Vec<FoundLock>> {
        let folder = self.backend().layout().locks(self.checked(Op::Lock)?);
        let mut locks = Vec::new();
        for name in names(self.backend(), &folder, true).await? {
            if own.is_some_and(|own| own.as_str() == name) {
                continue;
            }
            locks.extend(found_object(self.backend(), name).await?);
        }
        Ok(locks)
    }
}

impl Backend {
    /// All locks in the bucket, also of stacks that do not exist.
    ///
    /// # Errors
    ///
    /// Those of [`Stack::locks`].
    pub async fn locks(&self) -> Result<Vec<FoundLock>> {
        let mut locks = Vec::new();
        for name in names(self, Layout::LOCKS, false).await? {
            locks.extend(found_object(self, name).await?);
        }
        for name in names(self, Layout::LEASES, false).await? {
            locks.extend(found_lease(self, &self.key(Op::Lock, &name)?).await?);
        }
        Ok(locks)
    }
}

/// The names of objects, without the markers that consoles make for folders.
async fn names(backend: &Backend, prefix: &str, delimited: bool) -> Result<Vec<String>> {
    let mut options = ListOptions::default();
    options.delimiter = delimited;
    let mut names = Vec::new();
    loop {
        let page = backend.store().list(prefix, &options).await;
        let page = page.map_err(|error| Error::from_store(Op::Lock, backend.place(prefix), error))?;
        let objects = page.blobs.into_iter().map(|listed| listed.name);
        names.extend(objects.filter(|name| !name.ends_with('/') && !name.ends_with(".attrs")));
        match page.next {
            Some(next) => options = options.page(Some(next)),
            None => return Ok(names),
        }
    }
}

/// The id in a key: the name of the object without its ending.
fn id_of(key: &str) -> String {
    let name = key.rsplit('/').next().unwrap_or(key);
    name.strip_suffix(".json").unwrap_or(name).to_owned()
}

/// Reads a lock; none if it was removed since it was listed.
pub(crate) async fn found_object(backend: &Backend, name: String) -> Result<Option<FoundLock>> {
    let place = backend.place(&name);
    let found = |content, expires, version| FoundLock {
        key: name.clone(),
        id: id_of(&name),
        place: place.clone(),
        content,
        expires,
        version,
    };
    if name.ends_with(".tmp") {
        return Ok(Some(found(LockContent::Temporary, None, None)));
    }
    let key = match Key::parse(&name) {
        Ok(key) => key,
        Err(error) => {
            return Ok(Some(found(LockContent::Unreadable(error.message().to_owned()), None, None)));
        }
    };
    let blob = backend.store().get(&key, &GetOptions::default()).await;
    let Some(blob) = blob.map_err(|error| Error::from_store(Op::Lock, &place, error))? else {
        return Ok(None);
    };
    let version = Some(blob.version().clone());
    Ok(Some(match serde_json::from_slice::<LockObject>(&blob.bytes) {
        Ok(lock) => {
            let expires = lock.groundstate.as_ref().map(|heartbeat| heartbeat.expires);
            let LockObject { pid, username: user, hostname: host, timestamp: since, .. } = lock;
            found(LockContent::Held { pid, user, host, since }, expires, version)
        }
        Err(error) => found(LockContent::Unreadable(error.to_string()), None, version),
    }))
}

/// Reads a lease; none if it is free.
pub(crate) async fn found_lease(backend: &Backend, key: &Key) -> Result<Option<FoundLock>> {
    let place = backend.place(key.as_str());
    let blob = backend.store().get(key, &GetOptions::default()).await;
    let Some(blob) = blob.map_err(|error| Error::from_store(Op::Lock, &place, error))? else {
        return Ok(None);
    };
    let (id, content, expires) = match serde_json::from_slice::<LeaseObject>(&blob.bytes) {
        Ok(LeaseObject { holder: None, .. }) => return Ok(None),
        Ok(LeaseObject { holder: Some(holder), .. }) => {
            let (pid, since) = (i64::from(holder.pid), holder.acquired.to_string());
            (
                holder.id,
                LockContent::Held { pid, user: holder.username, host: holder.hostname, since },
                Some(holder.expires),
            )
        }
        Err(error) => (id_of(key.as_str()), LockContent::Unreadable(error.to_string()), None),
    };
    let version = Some(blob.version().clone());
    Ok(Some(FoundLock { key: key.as_str().to_owned(), id, place, content, expires, version }))
}
