//! Locks of documents, and their JSON.

use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use groundstate_common::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::wire::{self, Extra, members};

/// A lock that a document has.
#[derive(Clone)]
#[non_exhaustive]
pub struct Lock {
    /// The id that its holder chose.
    pub id: String,
    /// The document of the lock, as its holder sent it.
    pub document: Bytes,
    /// The fencing token: each lock of a document has a larger one than all before.
    pub token: u64,
    /// When it was taken, by the clock of the client that took it.
    pub taken: Timestamp,
    /// When others may take it, unless it is renewed. Without a time it lasts until it is released or broken.
    pub expires: Option<Timestamp>,
    /// Who took it, as the caller says.
    pub by: String,
    pub(crate) extra: Extra,
}

impl Lock {
    /// Whether others have to respect it.
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|end| now < end)
    }
}

impl fmt::Debug for Lock {
    /// Shows the size of the document only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lock")
            .field("id", &self.id)
            .field("document", &self.document.len())
            .field("token", &self.token)
            .field("taken", &self.taken)
            .field("expires", &self.expires)
            .field("by", &self.by)
            .finish_non_exhaustive()
    }
}

/// A lock to be taken.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct NewLock {
    /// The id that the holder chooses, 1 to 512 bytes. Taking a lock again under the id that is in force succeeds.
    pub id: String,
    /// The document of the lock, kept as it is; at most 32 KiB.
    pub document: Bytes,
    /// After how long others may take the lock, unless it is renewed.
    pub lease: Option<Duration>,
    /// Who takes it; at most 512 bytes.
    pub by: String,
}

impl NewLock {
    /// A lock that lasts until it is released or broken.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), ..Self::default() }
    }

    /// Keeps a document with the lock.
    #[must_use]
    pub fn document(mut self, document: impl Into<Bytes>) -> Self {
        self.document = document.into();
        self
    }

    /// Lets others take the lock after this time, unless it is renewed.
    #[must_use]
    pub fn lease(mut self, lease: Option<Duration>) -> Self {
        self.lease = lease;
        self
    }

    /// Says who takes it.
    #[must_use]
    pub fn by(mut self, by: impl Into<String>) -> Self {
        self.by = by.into();
        self
    }
}

impl NewLock {
    /// Whether taking it in place of this lock would change nothing.
    pub(crate) fn is_same_as(&self, lock: &Lock) -> bool {
        let is_endless = self.lease.is_none() && lock.expires.is_none();
        is_endless && self.id == lock.id && self.document == lock.document && self.by == lock.by
    }
}

impl fmt::Debug for NewLock {
    /// Shows the size of the document only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewLock")
            .field("id", &self.id)
            .field("document", &self.document.len())
            .field("lease", &self.lease)
            .field("by", &self.by)
            .finish()
    }
}

/// A lock that a document had not long ago.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct EndedLock {
    /// Its id.
    pub id: String,
    /// Its fencing token.
    pub token: u64,
    /// When it ended.
    pub time: Timestamp,
    /// How it ended.
    pub how: Ending,
}

/// How a lock ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Ending {
    /// Its holder released it.
    Released,
    /// Its lease was over, and another client took the lock.
    Expired,
    /// It was ended by force.
    Broken {
        /// Who ended it, as the caller says.
        by: String,
        /// The reason that the caller gave.
        reason: String,
    },
}

members! {
    struct Wire {
        id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        document: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        document_base64: Option<String>,
        token: u64,
        taken: Timestamp,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires: Option<Timestamp>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        by: String,
    }
}

impl Lock {
    pub(crate) fn read(text: &[u8]) -> Result<Self, String> {
        let (wire, extra) = wire::read::<Wire>(text).map_err(|error| error.to_string())?;
        let document = match (wire.document, wire.document_base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(text)) => BASE64.decode(text).map_err(|error| error.to_string())?,
            (None, None) => Vec::new(),
            (Some(_), Some(_)) => return Err("the lock has two documents".to_owned()),
        };
        let Wire { id, token, taken, expires, by, .. } = wire;
        Ok(Self { id, document: document.into(), token, taken, expires, by, extra })
    }

    pub(crate) fn write(&self) -> serde_json::Result<Box<RawValue>> {
        let text = std::str::from_utf8(&self.document).ok().filter(|text| !text.is_empty());
        let base64 = (text.is_none() && !self.document.is_empty()).then(|| BASE64.encode(&self.document));
        let wire = Wire {
            id: self.id.clone(),
            document: text.map(str::to_owned),
            document_base64: base64,
            token: self.token,
            taken: self.taken,
            expires: self.expires,
            by: self.by.clone(),
        };
        wire::write(&wire, &self.extra)
    }
}
