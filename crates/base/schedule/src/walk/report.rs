//! How a walk ended.

use std::collections::{BTreeMap, BTreeSet};

use super::WalkGraph;

/// What became of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Settled {
    /// It ran and succeeded.
    Succeeded,
    /// It ran, or was refused, and [`WalkReport::failures`] says why.
    Failed,
    /// It did not run because something it depends on failed; see [`WalkReport::roots`].
    SkippedUpstream,
    /// It did not run because the walk was stopped.
    SkippedStopped,
}

/// How a walk ended: what became of each node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct WalkReport {
    pub(super) settled: Vec<Settled>,
    pub(super) failures: BTreeMap<usize, String>,
}

impl WalkReport {
    /// What became of the node; one that the graph does not have was stopped.
    #[must_use]
    pub fn settled(&self, node: usize) -> Settled {
        self.settled.get(node).copied().unwrap_or(Settled::SkippedStopped)
    }

    /// The nodes that ended in this way, in ascending order.
    pub fn nodes(&self, settled: Settled) -> impl Iterator<Item = usize> + '_ {
        self.settled.iter().enumerate().filter(move |(_, found)| **found == settled).map(|(node, _)| node)
    }

    /// The nodes that failed, in ascending order, with their reasons.
    #[must_use]
    pub fn failures(&self) -> &BTreeMap<usize, String> {
        &self.failures
    }

    /// Whether every node succeeded.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.settled.iter().all(|settled| *settled == Settled::Succeeded)
    }

    /// The failed nodes because of which a node was skipped; none unless it is [`Settled::SkippedUpstream`].
    ///
    /// They are looked up in `graph`, the one that was walked: to keep them for each node would need more memory than
    /// the graph.
    #[must_use]
    pub fn roots(&self, graph: &WalkGraph, node: usize) -> BTreeSet<usize> {
        let mut roots = BTreeSet::new();
        if self.settled(node) != Settled::SkippedUpstream || node >= graph.node_count() {
            return roots;
        }
        let (mut seen, mut work) = (BTreeSet::from([node]), vec![node]);
        while let Some(skipped) = work.pop() {
            for (dependency, relation) in graph.dependencies.of(skipped) {
                if !relation.needs_success() {
                    continue;
                }
                match self.settled(dependency) {
                    Settled::Failed => {
                        roots.insert(dependency);
                    }
                    Settled::SkippedUpstream if seen.insert(dependency) => work.push(dependency),
                    _ => {}
                }
            }
        }
        roots
    }

    /// Every node that was skipped because of failures, with the failures; barriers are left out.
    ///
    /// The time is proportional to what is returned and the edges of those nodes.
    #[must_use]
    pub fn all_roots(&self, graph: &WalkGraph) -> BTreeMap<usize, BTreeSet<usize>> {
        let mut roots: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for root in self.nodes(Settled::Failed) {
            let mut work = vec![root];
            while let Some(node) = work.pop() {
                for (waiter, relation) in graph.waiters.of(node) {
                    let skipped = self.settled(waiter) == Settled::SkippedUpstream;
                    if skipped && relation.needs_success() && roots.entry(waiter).or_default().insert(root) {
                        work.push(waiter);
                    }
                }
            }
        }
        roots.retain(|&node, _| !graph.is_barrier(node));
        roots
    }
}
