//! Why one removal waits for another.

use std::fmt;

use groundstate_schedule::Label;

/// Why one removal waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[repr(u8)]
#[non_exhaustive]
pub enum RemovalReason {
    /// It is the parent of the other.
    Parent,
    /// It is the provider of the other.
    Provider,
    /// The other depends on it as a whole.
    Dependency,
    /// A property of the other came from it.
    #[cfg_attr(feature = "serde", serde(rename = "property-dependency"))]
    Property,
    /// The other is deleted with it.
    DeletedWith,
    /// The other is replaced with it.
    ReplaceWith,
    /// It belongs to a component that the other depends on.
    Component,
    /// The other is in the batch before.
    Batch,
}

/// A set of reasons; in a graph never empty.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "Vec<RemovalReason>", from = "Vec<RemovalReason>"))]
pub struct RemovalReasons(u16);

impl RemovalReason {
    /// All reasons, in order.
    pub const ALL: [Self; 8] = [
        Self::Parent,
        Self::Provider,
        Self::Dependency,
        Self::Property,
        Self::DeletedWith,
        Self::ReplaceWith,
        Self::Component,
        Self::Batch,
    ];

    /// The name in JSON and in drawings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Parent => "parent",
            Self::Provider => "provider",
            Self::Dependency => "dependency",
            Self::Property => "property-dependency",
            Self::DeletedWith => "deleted-with",
            Self::ReplaceWith => "replace-with",
            Self::Component => "component",
            Self::Batch => "batch",
        }
    }
}

impl From<RemovalReason> for RemovalReasons {
    fn from(reason: RemovalReason) -> Self {
        Self(1 << reason as u8)
    }
}

impl Label for RemovalReasons {
    fn merge(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl RemovalReasons {
    /// The reasons, in order.
    pub fn iter(self) -> impl Iterator<Item = RemovalReason> {
        RemovalReason::ALL.into_iter().filter(move |reason| self.contains(*reason))
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether this is one of the reasons.
    #[must_use]
    pub fn contains(self, reason: RemovalReason) -> bool {
        self.0 & Self::from(reason).0 != 0
    }
}

impl fmt::Display for RemovalReasons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(RemovalReason::name).collect();
        f.write_str(&names.join(", "))
    }
}

impl fmt::Debug for RemovalReasons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

#[cfg(feature = "serde")]
impl From<RemovalReasons> for Vec<RemovalReason> {
    fn from(reasons: RemovalReasons) -> Self {
        reasons.iter().collect()
    }
}

#[cfg(feature = "serde")]
impl From<Vec<RemovalReason>> for RemovalReasons {
    fn from(reasons: Vec<RemovalReason>) -> Self {
        let mut all = Self::default();
        reasons.into_iter().for_each(|reason| all.merge(reason.into()));
        all
    }
}
