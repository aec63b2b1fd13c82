//! What the server refuses beyond what it must.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Who may free a lock without its id: an UNLOCK with an empty body, which is `terraform force-unlock`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ForceUnlock {
    /// Every principal that may lock.
    Any,
    /// Principals with the role `admin` on the state.
    #[default]
    Admin,
    /// No principal.
    Deny,
}

/// What happens to a write whose content does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Check {
    /// It is accepted.
    Off,
    /// It is accepted, and the log and the answer say what is odd.
    Warn,
    /// It is refused.
    Enforce,
}

/// What is accepted and what is refused, where the protocol leaves it open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Policies {
    /// A write needs a lock: without `?ID=` it is refused even if no lock is held.
    pub require_lock: bool,
    /// A write without `?ID=` is accepted while a lock is held: `terraform apply -lock=false`.
    pub allow_unlocked_write: bool,
    /// A write with the id of a lock that is no longer held is accepted, if no other lock is. Terraform and OpenTofu send such
    /// an id when one process writes after its unlock.
    pub accept_stale_id: bool,
    /// Who may unlock without the id.
    pub force_unlock: ForceUnlock,
    /// A state of another lineage, or of a lower serial than the stored one.
    pub check: Check,
    /// A body that is no state of format 4 and no envelope of OpenTofu's encryption.
    pub content: Check,
    /// How long a lock lasts; none, which is the default, means until it is released. The protocol has no renewal, so a holder that
    /// works longer loses its lock, and its writes are refused.
    #[serde(with = "seconds")]
    pub lock_ttl: Option<Duration>,
    /// From which size on, in bytes, Pulumi's CLI may send differences of checkpoints where it sends no journal; none, which is the
    /// default, means never: its differences leave pending operations out.
    pub pulumi_deltas_from: Option<u64>,
}

impl Default for Policies {
    /// No lock is required, no write passes a lock, lineage and serial are only warned of, the content is enforced.
    fn default() -> Self {
        Self {
            require_lock: false,
            allow_unlocked_write: false,
            accept_stale_id: false,
            force_unlock: ForceUnlock::Admin,
            check: Check::Warn,
            content: Check::Enforce,
            lock_ttl: None,
            pulumi_deltas_from: None,
        }
    }
}

/// A duration as whole seconds.
mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(ttl: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        ttl.map(|ttl| ttl.as_secs()).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        match Option::<u64>::deserialize(from)? {
            Some(0) => {
                Err(serde::de::Error::custom("lock_ttl is 0; give at least one second, or leave it out"))
            }
            seconds => Ok(seconds.map(Duration::from_secs)),
        }
    }
}
