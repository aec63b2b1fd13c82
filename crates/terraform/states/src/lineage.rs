//! Lineage and serial: which history a snapshot belongs to, and its place in it.

use std::fmt;
use std::sync::Arc;

/// The opaque identifier of a chain of snapshots; empty in files that predate it.
///
/// A lineage is not a serial, nor a name:
///
/// ```compile_fail
/// let lineage: groundstate_states::Lineage = groundstate_states::Serial::new(1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Lineage(Arc<str>);

impl Lineage {
    /// Any text is a lineage; only equality has meaning.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The lineage as states store it, usually a UUID.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the absent lineage of old files, which is compatible with every other.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Lineage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The position of a snapshot inside its lineage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Serial(u64);

impl Serial {
    /// The serial of this number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The serial after this one; none after the last.
    #[must_use]
    pub const fn next(self) -> Option<Self> {
        match self.0.checked_add(1) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }
}

impl fmt::Display for Serial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
