//! Why one operation waits for another, and what else has to be done before it.

use crate::graph::{Label, Scratch, WaitEdge, WaitGraph};

/// How two operations, or two sets of them, are ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Explanation<S> {
    /// The first waits for the second, by this shortest chain.
    Waits(Vec<S>),
    /// The second waits for the first, by this shortest chain.
    IsWaitedFor(Vec<S>),
    /// Neither waits for the other: they may run at the same time.
    Concurrent,
    /// One of them is not in the graph.
    Absent,
}

impl<S> Explanation<S> {
    /// The name of the relation in documents, the same that `serde` gives it, and the steps of the chain if there is one.
    pub fn parts(&self) -> (&'static str, &[S]) {
        match self {
            Self::Waits(steps) => ("waits", steps),
            Self::IsWaitedFor(steps) => ("is_waited_for", steps),
            Self::Concurrent => ("concurrent", &[]),
            Self::Absent => ("absent", &[]),
        }
    }
}

impl<L: Label> WaitGraph<L> {
    /// How two sets of operations are ordered: the shortest chain of edges between any of them, `step` by step.
    ///
    /// Chains run along edges that no others imply, so each step is a direct one: where `c` waits for `b` and `b` for `a`,
    /// an edge from `c` to `a` shortens nothing.
    pub fn explain<S>(&self, a: &[usize], b: &[usize], step: impl Fn(WaitEdge<L>) -> S) -> Explanation<S> {
        if a.is_empty() || b.is_empty() {
            return Explanation::Absent;
        }
        let graph = self.direct(|_| true);
        let shortest = |from: &[usize], to: &[usize]| {
            let path = graph.shortest_between(&sorted(from), &sorted(to))?;
            Some(path.into_iter().map(&step).collect())
        };
        if let Some(path) = shortest(a, b) {
            return Explanation::Waits(path);
        }
        shortest(b, a).map_or(Explanation::Concurrent, Explanation::IsWaitedFor)
    }

    /// All that these operations wait for by way of those that are admitted: how many steps away, and the last of the steps.
    ///
    /// Steps are those of [`explain`](Self::explain), so the distance is the length of the shortest chain of direct waits.
    #[must_use]
    pub fn nearest(&self, starts: &[usize], admits: impl Fn(u32) -> bool) -> Vec<(usize, WaitEdge<L>)> {
        let mut seen = vec![false; self.operations() as usize];
        for &start in starts {
            seen[start] = true;
        }
        let graph = self.direct(|node| seen[node as usize] || admits(node));
        let mut scratch = Scratch::default();
        let mut found = Vec::new();
        let mut front: Vec<u32> = sorted(starts);
        let mut distance = 0;
        while !front.is_empty() {
            distance += 1;
            let mut next = Vec::new();
            for from in front {
                for (to, link) in graph.waits(from, &mut scratch) {
                    if !std::mem::replace(&mut seen[to as usize], true) {
                        next.push(to);
                        found.push((distance, (from, to, link)));
                    }
                }
            }
            next.sort_unstable();
            front = next;
        }
        found
    }

    /// The edges among admitted operations that no others among them imply.
    fn direct(&self, admits: impl Fn(u32) -> bool) -> Self {
        let stays = |node: u32| !self.is_operation(node) || admits(node);
        let edges =
            |from| self.links(from).filter(|&(to, _)| stays(to)).map(move |(to, link)| (from, to, link));
        let edges: Vec<WaitEdge<L>> =
            (0..self.node_count()).filter(|&from| stays(from)).flat_map(edges).collect();
        let among = Self::new(self.operations() as usize, self.node_count() as usize, edges);
        among.reduced().unwrap_or_else(|| among.reduced_beside_cycles())
    }
}

fn sorted(operations: &[usize]) -> Vec<u32> {
    let mut all: Vec<u32> = operations.iter().map(|&operation| operation as u32).collect();
    all.sort_unstable();
    all.dedup();
    all
}
