//! Earlier snapshots of a state, where a place keeps them.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use groundstate_common::Timestamp;
use groundstate_states::{Lineage, Serial};

use crate::error::Result;
use crate::store::Stored;

/// The snapshots that were stored in one place, the present one among them if the place keeps it there.
///
/// How many are kept, and how long, is the place's business. What is listed may be gone when it is read.
#[async_trait]
pub trait History: fmt::Debug + Send + Sync + 'static {
    /// Snapshots, the newest first. What the place knows to be damaged or missing is in its position, as
    /// [`unreadable`](HistoryEntry::unreadable).
    ///
    /// # Errors
    ///
    /// `NotFound` for a missing container, `Denied`, `Unavailable`.
    async fn list(&self) -> Result<Vec<HistoryEntry>>;

    /// A snapshot, byte for byte as it was stored.
    ///
    /// # Errors
    ///
    /// `NotFound` when there is none of this id, `Denied`, `Unavailable`, `Corrupt`.
    async fn read(&self, id: &HistoryId) -> Result<Stored>;
}

/// Names a snapshot in the history of one place. Only equality has meaning.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HistoryId(Arc<str>);

impl HistoryId {
    /// Any text; the place knows whether it has such a snapshot.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The id as it is listed and asked for.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HistoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// What a list of the history says about a snapshot without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryEntry {
    /// To read it with.
    pub id: HistoryId,
    /// When it was stored.
    pub stored_at: Timestamp,
    /// How many bytes it has.
    pub size: u64,
    /// Its serial, if the place keeps that beside it.
    pub serial: Option<Serial>,
    /// Its lineage, if the place keeps that beside it.
    pub lineage: Option<Lineage>,
    /// The principal that wrote it, if the place keeps that beside it.
    pub by: Option<String>,
    /// Oddities that the place noticed and accepted when it was written, such as a foreign lineage.
    pub remarks: Vec<String>,
    /// Reason that the snapshot cannot be read. Its time and its size are not known then.
    pub unreadable: Option<String>,
}

impl HistoryEntry {
    /// A snapshot of which the place keeps neither serial nor lineage.
    pub fn new(id: HistoryId, stored_at: Timestamp, size: u64) -> Self {
        let (serial, lineage, by, remarks, unreadable) = (None, None, None, Vec::new(), None);
        Self { id, stored_at, size, serial, lineage, by, remarks, unreadable }
    }

    /// A snapshot that the history should have, and that is damaged or missing.
    pub fn unreadable(id: HistoryId, reason: impl Into<String>) -> Self {
        Self { unreadable: Some(reason.into()), ..Self::new(id, Timestamp::UNIX_EPOCH, 0) }
    }

    /// Adds the serial.
    #[must_use]
    pub fn serial(mut self, serial: impl Into<Option<Serial>>) -> Self {
        self.serial = serial.into();
        self
    }

    /// Adds the principal that wrote it.
    #[must_use]
    pub fn by(mut self, by: impl Into<Option<String>>) -> Self {
        self.by = by.into();
        self
    }

    /// Adds what the place remarked of it.
    #[must_use]
    pub fn remarks(mut self, remarks: Vec<String>) -> Self {
        self.remarks = remarks;
        self
    }

    /// Adds the lineage.
    #[must_use]
    pub fn lineage(mut self, lineage: impl Into<Option<Lineage>>) -> Self {
        self.lineage = lineage.into();
        self
    }
}
