//! The graph of operations in its compact form, with the reason of each edge.

use groundstate_schedule::{Label, WaitEdge, WaitGraph};

use crate::edge::{EdgeReason, Reasons};

/// Operations in the order of their keys, and barriers that stand for many edges at once. Nothing outside of the crate sees
/// a barrier.
pub(crate) type Network = WaitGraph<Link>;

/// An edge of the compact form: `(from, to, why)`; `from` waits for `to`.
pub(crate) type RawEdge = WaitEdge<Link>;

/// Why an edge is there, and whether it was turned round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Link(u16);

impl Link {
    const INVERTED: u16 = 1 << 15;

    pub(crate) fn new(reason: EdgeReason) -> Self {
        Self(Reasons::from(reason).0)
    }

    pub(crate) fn inverted(reason: EdgeReason) -> Self {
        Self(Reasons::from(reason).0 | Self::INVERTED)
    }

    pub(crate) fn reasons(self) -> Reasons {
        Reasons(self.0 & !Self::INVERTED)
    }

    pub(crate) fn is_inverted(self) -> bool {
        self.0 & Self::INVERTED != 0
    }

    /// Whether anything but what a state records is among the reasons, so that no edit of the state removes the edge.
    pub(crate) fn is_not_only_stored(self) -> bool {
        !self.reasons().iter().all(EdgeReason::is_stored)
    }
}

impl Label for Link {
    fn merge(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
