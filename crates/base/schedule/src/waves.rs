//! Which operations can run at the same time.

use crate::graph::{Label, WaitGraph};

/// In which wave each node runs if each runs as early as it can, and as late as it can.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Waves {
    /// For each node, by number, the wave in which it can run first.
    pub earliest: Vec<u32>,
    /// For each node the wave in which it has to run at the latest, so that nothing is delayed.
    pub latest: Vec<u32>,
    /// The number of waves.
    pub count: usize,
}

impl Waves {
    /// The numbers of the nodes of each wave, in order.
    #[must_use]
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups = vec![Vec::new(); self.count];
        for (node, &wave) in self.earliest.iter().enumerate() {
            groups[wave as usize].push(node);
        }
        groups
    }

    /// By how many waves a node can be delayed without delaying the whole.
    ///
    /// # Panics
    ///
    /// When the graph has no such node.
    #[must_use]
    pub fn slack(&self, node: usize) -> u32 {
        self.latest[node] - self.earliest[node]
    }
}

impl<L: Label> WaitGraph<L> {
    /// The waves: an operation runs in the one after the last of what it waits for. None where there is a cycle.
    #[must_use]
    pub fn waves(&self) -> Option<Waves> {
        // Every edge points forward in this order: what waits comes before what is waited for.
        let order = self.graph().topo_order()?;
        // For operations the wave; for barriers the first wave that they let through.
        let mut first = vec![0_u32; order.len()];
        for &node in order.iter().rev() {
            let through = |&to: &u32| first[to as usize] + u32::from(self.is_operation(to));
            first[node as usize] = self.dependencies(node).iter().map(through).max().unwrap_or(0);
        }
        let mut earliest = first;
        earliest.truncate(self.operations() as usize);
        let waves = earliest.iter().max().map_or(0, |last| last + 1);

        // The wave before which each node must be done.
        let mut before = vec![waves; order.len()];
        for &node in &order {
            let own = before[node as usize].saturating_sub(u32::from(self.is_operation(node)));
            before[node as usize] = own;
            for &to in self.dependencies(node) {
                before[to as usize] = before[to as usize].min(own);
            }
        }
        before.truncate(self.operations() as usize);
        Some(Waves { earliest, latest: before, count: waves as usize })
    }
}
