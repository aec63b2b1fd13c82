//! Locks that are held: what their holders were granted, and who they are.

use std::fmt;

use groundstate_common::{Timestamp, one_line, shortened};

use crate::lock_info::{LockId, LockInfo};

/// Characters of a member of a document that are shown, at most.
const MAX_SHOWN: usize = 200;

/// A number that grows with each lock granted at a place.
///
/// A holder passes it along with its writes. A store that knows of a newer one refuses, so a holder that was paused
/// until its lock went to another client does no harm when it wakes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FencingToken(u64);

impl FencingToken {
    /// The token of this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for FencingToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A lock that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct LockGrant {
    /// The id that releases it: the one asked for, or the store's own.
    pub id: LockId,
    /// What to pass along with writes; stores without the capability `fencing` give none.
    pub fence: Option<FencingToken>,
    /// When it ends unless renewed; stores without the capability `lease` give none.
    pub expires: Option<Timestamp>,
}

impl LockGrant {
    /// A lock that lasts until it is released, without a token.
    pub fn new(id: LockId) -> Self {
        Self { id, fence: None, expires: None }
    }

    /// Adds the token.
    #[must_use]
    pub fn fence(mut self, token: FencingToken) -> Self {
        self.fence = Some(token);
        self
    }

    /// Adds the end.
    #[must_use]
    pub fn expires(mut self, at: Timestamp) -> Self {
        self.expires = Some(at);
        self
    }
}

/// Who holds a lock, as far as the store can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct LockHolder {
    /// The document that the holder left.
    pub info: LockInfo,
    /// The id that releases the lock, if it is not the document's.
    pub id: LockId,
    /// The holder's host.
    pub host: Option<String>,
    /// The holder's process on that host.
    pub pid: Option<u32>,
    /// Whether the holder still runs; unknown when it cannot be asked.
    pub alive: Option<bool>,
    /// When the lock ends unless it is renewed.
    pub expires: Option<Timestamp>,
    /// Whether the lock has a document. Otherwise `info` says who was about to take it, which its id alone can prove.
    pub documented: bool,
}

impl LockHolder {
    /// What the document alone tells.
    pub fn of(info: LockInfo) -> Self {
        let host = info.who.split_once('@').map(|(_, host)| host.to_owned()).filter(|host| !host.is_empty());
        Self { id: info.id.clone(), info, host, pid: None, alive: None, expires: None, documented: true }
    }

    /// Sets the id that releases the lock.
    #[must_use]
    pub fn with_id(mut self, id: LockId) -> Self {
        self.id = id;
        self
    }

    /// Sets the process, and whether it runs.
    #[must_use]
    pub fn with_process(mut self, pid: Option<u32>, alive: Option<bool>) -> Self {
        self.pid = pid;
        self.alive = alive;
        self
    }

    /// Says that the lock has no document: `info` is that of who was last about to take it.
    #[must_use]
    pub fn without_document(mut self) -> Self {
        self.documented = false;
        self
    }

    /// Sets the end of the lock.
    #[must_use]
    pub fn with_expiry(mut self, at: Option<Timestamp>) -> Self {
        self.expires = at;
        self
    }
}

/// A part of a document that another program wrote, on one line that is not too long to be read.
fn shown(text: &str) -> String {
    shortened(&one_line(text), MAX_SHOWN).into_owned()
}

impl fmt::Display for LockHolder {
    /// In one line, whatever the document contains.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(if self.info.who.is_empty() { "an unknown holder" } else { &self.info.who }))?;
        // Documents without a time have the one that means none.
        if self.info.created != LockInfo::default().created {
            write!(f, " since {}", self.info.created)?;
        }
        if !self.info.operation.is_empty() {
            write!(f, " for {}", shown(&self.info.operation))?;
        }
        if let Some(pid) = self.pid {
            write!(f, " in process {pid}")?;
        }
        if self.alive == Some(false) {
            f.write_str(" which no longer runs")?;
        }
        write!(f, " (lock id {})", shown(if self.id.is_empty() { "unknown" } else { self.id.as_str() }))
    }
}

#[cfg(all(test, feature = "serde"))]
mod tests {
    use super::*;

    #[test]
    fn a_holder_is_the_same_after_serialising_and_a_wrong_time_is_refused() {
        let created = Timestamp::parse("2026-01-31T23:59:59.000000005Z").unwrap();
        let info =
            LockInfo { id: LockId::new("a\"b"), who: "ana@build-7".into(), created, ..LockInfo::default() };
        let holder = LockHolder::of(info).with_process(Some(7), None).with_expiry(Some(Timestamp::MAX));
        let text = serde_json::to_string(&holder).unwrap();
        assert_eq!(serde_json::from_str::<LockHolder>(&text).unwrap(), holder);
        serde_json::from_str::<LockHolder>(&text.replace("-01-31T", "-02-31T")).unwrap_err();
        serde_json::from_str::<LockHolder>(&text.replacen('{', "{\"more\":1,", 1)).unwrap_err();
        let grant = LockGrant::new(LockId::new("1")).fence(FencingToken::new(u64::MAX));
        let text = serde_json::to_string(&grant).unwrap();
        assert_eq!(serde_json::from_str::<LockGrant>(&text).unwrap(), grant);
    }
}
