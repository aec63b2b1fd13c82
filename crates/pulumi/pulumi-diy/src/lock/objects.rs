//! The documents of locks.

use bytes::Bytes;
use groundstate_common::Timestamp;
use serde::{Deserialize, Serialize};

use super::Holder;

/// What Pulumi writes, and what this library adds. Pulumi ignores keys that it does not know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LockObject {
    #[serde(default)]
    pub(super) pid: i64,
    #[serde(default)]
    pub(super) username: String,
    #[serde(default)]
    pub(super) hostname: String,
    /// The text as it was written: other zones than UTC occur.
    pub(super) timestamp: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) groundstate: Option<Heartbeat>,
}

/// What this library adds to a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Heartbeat {
    pub(super) token: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) started: Option<Timestamp>,
    pub(super) renewed: Timestamp,
    pub(super) expires: Timestamp,
}

/// The lease of a stack. It stays when it is free, so that its token grows for ever.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeaseObject {
    /// Grows with each holder.
    pub(crate) token: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) holder: Option<LeaseHolder>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeaseHolder {
    /// Also the name of its object among the locks.
    pub(super) id: String,
    pub(super) pid: u32,
    pub(super) username: String,
    pub(super) hostname: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) started: Option<Timestamp>,
    pub(super) acquired: Timestamp,
    pub(super) expires: Timestamp,
}

impl LeaseHolder {
    /// The same as an object among the locks.
    pub(super) fn lock_object(&self, heartbeat: Option<Heartbeat>) -> LockObject {
        LockObject {
            pid: i64::from(self.pid),
            username: self.username.clone(),
            hostname: self.hostname.clone(),
            timestamp: self.acquired.to_string(),
            groundstate: heartbeat,
        }
    }

    pub(super) fn new(id: String, holder: &Holder, acquired: Timestamp, expires: Timestamp) -> Self {
        Self {
            id,
            pid: holder.pid,
            username: holder.user.clone(),
            hostname: holder.host.clone(),
            started: holder.started,
            acquired,
            expires,
        }
    }
}

/// The bytes of a document.
pub(super) fn bytes(document: &impl Serialize) -> Result<Bytes, serde_json::Error> {
    serde_json::to_vec(document).map(Bytes::from)
}
