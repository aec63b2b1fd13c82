//! Edges of an operation graph: who waits for whom, and why.

use std::fmt;

use crate::node::NodeKey;

/// Why one node waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[repr(u8)]
pub enum EdgeReason {
    /// The configuration of the one refers to the other, directly or not.
    Config,
    /// Both are operations on the same instance.
    Own,
    /// A change, and the destruction of what the changed object depends on.
    StoredCreate,
    /// Two destructions, of which the one object depends on the other.
    StoredDestroy,
    /// A change, and the destruction of what depends on the changed object.
    StoredUpdate,
    /// The old object is forgotten before the new one is made.
    ForgetFirst,
    /// An operation needs its provider.
    ProviderUse,
    /// The configuration of a provider refers to a resource.
    ProviderConfig,
    /// A provider is shut down when all that use it are done.
    ProviderClose,
    /// As [`StoredCreate`](Self::StoredCreate), because the configuration says so and no record does.
    ConfigCreate,
    /// As [`StoredDestroy`](Self::StoredDestroy), because the configuration says so and no record does.
    ConfigDestroy,
    /// As [`StoredUpdate`](Self::StoredUpdate), because the configuration says so and no record does.
    ConfigUpdate,
}

/// A set of reasons.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "Vec<EdgeReason>", from = "Vec<EdgeReason>"))]
pub struct Reasons(pub(crate) u16);

/// `from` waits for `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edge<'a> {
    /// The node that waits.
    pub from: &'a NodeKey,
    /// The node that is waited for.
    pub to: &'a NodeKey,
    /// Why; never empty.
    pub reasons: Reasons,
    /// Turned round, since the destroyed object makes place only after its successor stands.
    pub inverted: bool,
}

/// An edge that was given up, since it would have closed a cycle through the configuration of a provider.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct DroppedEdge {
    /// The node that would have waited.
    pub from: NodeKey,
    /// The node that would have been waited for.
    pub to: NodeKey,
    /// Why it would have.
    pub reasons: Reasons,
}

impl EdgeReason {
    /// All reasons, in order.
    pub const ALL: [Self; 12] = [
        Self::Config,
        Self::Own,
        Self::StoredCreate,
        Self::StoredDestroy,
        Self::StoredUpdate,
        Self::ForgetFirst,
        Self::ProviderUse,
        Self::ProviderConfig,
        Self::ProviderClose,
        Self::ConfigCreate,
        Self::ConfigDestroy,
        Self::ConfigUpdate,
    ];

    /// The name in JSON and in drawings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Own => "own",
            Self::StoredCreate => "stored-create",
            Self::StoredDestroy => "stored-destroy",
            Self::StoredUpdate => "stored-update",
            Self::ForgetFirst => "forget-first",
            Self::ProviderUse => "provider-use",
            Self::ProviderConfig => "provider-config",
            Self::ProviderClose => "provider-close",
            Self::ConfigCreate => "config-create",
            Self::ConfigDestroy => "config-destroy",
            Self::ConfigUpdate => "config-update",
        }
    }

    /// Whether what a state records is the reason.
    #[must_use]
    pub fn is_stored(self) -> bool {
        matches!(self, Self::StoredCreate | Self::StoredDestroy | Self::StoredUpdate)
    }
}

impl Reasons {
    /// The reasons, in order.
    pub fn iter(self) -> impl Iterator<Item = EdgeReason> {
        EdgeReason::ALL.into_iter().filter(move |reason| self.contains(*reason))
    }

    /// Whether this is one of the reasons.
    #[must_use]
    pub fn contains(self, reason: EdgeReason) -> bool {
        self.0 & (1 << reason as u8) != 0
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The reasons of both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl From<EdgeReason> for Reasons {
    fn from(reason: EdgeReason) -> Self {
        Self(1 << reason as u8)
    }
}

impl FromIterator<EdgeReason> for Reasons {
    fn from_iter<I: IntoIterator<Item = EdgeReason>>(reasons: I) -> Self {
        reasons.into_iter().fold(Self::default(), |all, reason| all.union(reason.into()))
    }
}

impl fmt::Display for EdgeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Reasons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, reason) in self.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            reason.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Reasons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(feature = "serde")]
impl From<Reasons> for Vec<EdgeReason> {
    fn from(reasons: Reasons) -> Self {
        reasons.iter().collect()
    }
}

#[cfg(feature = "serde")]
impl From<Vec<EdgeReason>> for Reasons {
    fn from(reasons: Vec<EdgeReason>) -> Self {
        reasons.into_iter().collect()
    }
}
