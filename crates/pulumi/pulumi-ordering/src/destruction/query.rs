//! Questions to a destruction: order, waves, why, and what else has to go.

use groundstate_pulumi_snapshot::{DependencyKind, Resource, Urn};
use groundstate_schedule::{Scratch, WaitEdge, Waves};

use super::{Destruction, RemovalReason, RemovalReasons};

/// One step of a chain of reasons: the removal `from` waits for the removal `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct RemovalStep {
    /// The removal that waits.
    pub from: usize,
    /// The removal that is waited for.
    pub to: usize,
    /// What makes the one wait for the other.
    pub reasons: RemovalReasons,
}

/// How the removals of two names are ordered.
pub type Explanation = groundstate_schedule::Explanation<RemovalStep>;

/// Something that has to go before what was asked about can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct RemovalAffected {
    /// The removal.
    pub node: usize,
    /// How many steps away it is; 1 is next to it.
    pub distance: usize,
    /// The step on the way back: what of the nearer ones waits for it, and why.
    pub step: RemovalStep,
}

/// What an entry says of another: the reason in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct RemovalReference<'a> {
    /// The entry that refers.
    pub who: &'a Urn,
    /// How.
    pub reason: RemovalReason,
    /// Which of its properties came from the other, if that is how.
    pub property: Option<&'a str>,
    /// What it refers to, or what belongs to the component it refers to.
    pub whom: &'a Urn,
}

impl Destruction {
    /// The removals in an order that keeps to all edges; of those that are ready, the last of the list comes next.
    #[must_use]
    pub fn order(&self) -> Vec<usize> {
        // The planner leaves no cycle, so there is an order.
        let order = self.graph.order().unwrap_or_default();
        order.into_iter().map(|node| node as usize).collect()
    }

    /// What can be removed at the same time.
    #[must_use]
    pub fn waves(&self) -> Waves {
        self.graph.waves().unwrap_or_default()
    }

    /// The removals that this one waits for directly, with the reasons.
    #[must_use]
    pub fn dependencies(&self, node: usize) -> Vec<RemovalStep> {
        let found = self.graph.waits(node as u32, &mut Scratch::default());
        found.into_iter().map(|(to, link)| step((node as u32, to, link))).collect()
    }

    /// Finds the removals that one waits for directly, without the reasons. Its memory lasts from one to the next, so that
    /// asking for all of them takes no longer than there are edges.
    pub fn dependency_finder(&self) -> impl FnMut(usize) -> Vec<usize> {
        let mut scratch = Scratch::default();
        move |node| {
            let found = self.graph.waits(node as u32, &mut scratch);
            found.into_iter().map(|(to, _)| to as usize).collect()
        }
    }

    /// All edges, by the removal that waits and then by the one waited for.
    pub fn edges(&self) -> impl Iterator<Item = RemovalStep> {
        self.graph.edges().map(step)
    }

    /// How the removals of two names are ordered: the shortest chain of direct reasons between any of them.
    #[must_use]
    pub fn why(&self, a: &Urn, b: &Urn) -> Explanation {
        let (a, b) = (self.removals_of(a), self.removals_of(b));
        self.graph.explain(a, b, step)
    }

    /// What must go if the entries of a name go, the nearest first.
    #[must_use]
    pub fn blast(&self, urn: &Urn) -> Vec<RemovalAffected> {
        let found = self.graph.nearest(self.removals_of(urn), |_| true);
        let affected = |(distance, edge): (usize, WaitEdge<RemovalReasons>)| {
            let step = step(edge);
            RemovalAffected { node: step.to, distance, step }
        };
        found.into_iter().map(affected).collect()
    }

    /// What the entries say that makes the step, in order.
    #[must_use]
    pub fn references(&self, step: &RemovalStep) -> Vec<RemovalReference<'_>> {
        let mut found = Vec::new();
        for at in self.removed(step.to) {
            let who: &Resource = &self.resources[at];
            for whom in self.removed(step.from).map(|at| &self.resources[at]) {
                let refers =
                    |reason, property| RemovalReference { who: &who.urn, reason, property, whom: &whom.urn };
                let provider = self.providers[at].as_ref().filter(|urn| **urn == whom.urn);
                found.extend(provider.map(|_| refers(RemovalReason::Provider, None)));
                for one in who.all_dependencies().filter(|one| *one.urn == whom.urn) {
                    let property = match one.kind {
                        DependencyKind::Property(property) => Some(property),
                        _ => None,
                    };
                    found.push(refers(one.kind.into(), property));
                }
                for reason in [RemovalReason::Component, RemovalReason::Batch] {
                    found.extend(step.reasons.contains(reason).then(|| refers(reason, None)));
                }
            }
        }
        found.sort();
        found.dedup();
        found
    }

    /// The places of the resources that a removal removes.
    fn removed(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let removal = &self.removals[node];
        std::iter::once(removal.entry).chain(removal.members.iter().copied())
    }
}

fn step((from, to, reasons): WaitEdge<RemovalReasons>) -> RemovalStep {
    RemovalStep { from: from as usize, to: to as usize, reasons }
}
