//! What a journal consists of: records, their positions, epochs, and where to read on.

use std::fmt;
use std::sync::Arc;

/// An entry of a journal: bytes that no store looks into. Cloning shares them.
///
/// `Debug` shows the size only, since entries hold secrets.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Record(Arc<[u8]>);

impl Record {
    /// A record of these bytes.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Record {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Record {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(bytes)
    }
}

impl From<&[u8]> for Record {
    fn from(bytes: &[u8]) -> Self {
        Self::new(bytes)
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Record({} bytes)", self.0.len())
    }
}

/// The place of a record in its epoch: 0 for the first, 1 for the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(u64);

impl Position {
    /// The place of the first record.
    pub const START: Self = Self(0);

    /// The place with so many records before it.
    pub const fn new(records: u64) -> Self {
        Self(records)
    }

    /// How many records come before it.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The place behind so many records more; the last place there is if there are no such places.
    #[must_use]
    pub const fn plus(self, records: u64) -> Self {
        Self(self.0.saturating_add(records))
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of a stretch of a journal that has a base of its own. Later epochs have larger numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(u64);

impl Epoch {
    /// The epoch of this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What an epoch begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Head {
    /// Which epoch it is.
    pub epoch: Epoch,
    /// What the records build on: whatever [`begin`](crate::JournalWriter::begin) was given.
    pub base: Record,
}

impl Head {
    /// The beginning of an epoch.
    pub fn new(epoch: Epoch, base: Record) -> Self {
        Self { epoch, base }
    }

    /// Where its first record is read.
    pub fn start(&self) -> Cursor {
        Cursor::new(self.epoch, Position::START)
    }
}

/// Where to read on, or to write on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    epoch: Epoch,
    position: Position,
    hint: (u64, u64),
}

impl Cursor {
    /// This position of an epoch.
    pub const fn new(epoch: Epoch, position: Position) -> Self {
        Self { epoch, position, hint: (0, 0) }
    }

    /// Adds what the store needs to find the place again without searching; it means nothing to others.
    #[must_use]
    pub const fn with_hint(mut self, hint: (u64, u64)) -> Self {
        self.hint = hint;
        self
    }

    /// The epoch.
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The position of the next record.
    pub const fn position(&self) -> Position {
        self.position
    }

    /// What the store has added; zeros if nothing.
    pub const fn hint(&self) -> (u64, u64) {
        self.hint
    }
}

/// Some records that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// The records, the first of which is the one that was asked for.
    pub records: Vec<Record>,
    /// Where the next page begins; absent when nothing follows now.
    pub next: Option<Cursor>,
    /// What a crash has left behind the last record, if this is the last page.
    pub torn: Option<Torn>,
}

impl Page {
    /// A page of these records.
    pub fn new(records: Vec<Record>, next: Option<Cursor>) -> Self {
        Self { records, next, torn: None }
    }

    /// Adds what was left behind the last record.
    #[must_use]
    pub fn with_torn(mut self, torn: Option<Torn>) -> Self {
        self.torn = torn;
        self
    }
}

/// A batch that was being written when its writer died. It was never acknowledged, and counts for nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Torn {
    /// Where it stands.
    pub place: String,
    /// How many bytes of it there are.
    pub bytes: u64,
}

impl Torn {
    /// So many bytes at this place.
    pub fn new(place: impl Into<String>, bytes: u64) -> Self {
        Self { place: place.into(), bytes }
    }
}

/// The receipt for a batch: it is durable, and stands in these places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ack {
    /// The epoch it belongs to.
    pub epoch: Epoch,
    /// The place of its first record.
    pub first: Position,
    /// The place behind its last record.
    pub next: Position,
}

impl Ack {
    /// A receipt for the records from `first` up to `next`.
    pub const fn new(epoch: Epoch, first: Position, next: Position) -> Self {
        Self { epoch, first, next }
    }
}
