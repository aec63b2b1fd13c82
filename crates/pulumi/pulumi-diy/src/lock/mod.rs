//! Locks of stacks: Pulumi's own protocol, and above it a lease by which writers of this library exclude each other.

mod acquire;
mod both;
mod cancel;
mod found;
mod held;
mod lease;
mod objects;
mod shared;

use std::collections::BTreeSet;
use std::time::Duration;

use groundstate_common::Timestamp;

pub use both::HeldLocks;
pub use cancel::Cancelled;
pub use found::{FoundLock, LockConflict, LockContent};
pub(crate) use found::{found_lease, found_object};
pub use held::HeldLock;
#[cfg(test)]
pub(crate) use objects::LeaseObject;

/// The process that takes a lock, as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The id of the process.
    pub pid: u32,
    /// The user it runs as.
    pub user: String,
    /// The name of the machine.
    pub host: String,
    /// When the process started; tells it from a later one with the same id.
    pub started: Option<Timestamp>,
}

/// How a lock is taken.
///
/// The default asks once, as `pulumi` does, and honours every lock that it finds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LockOptions {
    /// How long to ask again while another process holds the lock.
    pub timeout: Duration,
    /// How long the lease lasts unless it is renewed. [`HeldLock::check`](crate::Guard::check) renews it in its second half.
    pub lease: Duration,
    /// Removes locks of this library whose lease has ended. Locks of `pulumi` have no lease, and stay.
    pub take_over_expired: bool,
    /// Keys of locks whose holders are known to be dead; they are removed. [`FoundLock::pid_on`] names the process to look for.
    pub abandoned: BTreeSet<String>,
    /// The id of the lock, which stands in its key; a random one if there is none. A lock of this id that is there already is taken
    /// over, so the id has to be known to those alone who may do that.
    pub id: Option<String>,
}

impl Default for LockOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::ZERO,
            lease: Duration::from_secs(300),
            take_over_expired: false,
            abandoned: BTreeSet::new(),
            id: None,
        }
    }
}

impl LockOptions {
    /// Asks again for this long.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Makes the lease this long.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Removes locks of this library whose lease has ended.
    #[must_use]
    pub fn take_over_expired(mut self) -> Self {
        self.take_over_expired = true;
        self
    }

    /// Gives the lock an id of letters, digits and `-`, by which other processes of the same service find it:
    /// [`Stack::held_lock`](crate::Stack::held_lock).
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Removes the lock with this key, whose holder is known to be dead.
    #[must_use]
    pub fn abandoned(mut self, key: impl Into<String>) -> Self {
        self.abandoned.insert(key.into());
        self
    }
}
