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
    pub fn explain<S>(&self, a: &[usize], b: &[usize], step: impl Fn(WaitEdge<L>) -> S) -> Explanation<S> {
        if a.is_empty() || b.is_empty() {
            return Explanation::Absent;
        }
        let shortest = |from: &[usize], to: &[usize]| {
            let pairs = from.iter().flat_map(|&from| to.iter().map(move |&to| (from, to)));
            let paths = pairs.filter_map(|(from, to)| self.shortest_path(from as u32, to as u32));
            paths.min_by_key(Vec::len).map(|path| path.into_iter().map(&step).collect())
        };
        if let Some(path) = shortest(a, b) {
            return Explanation::Waits(path);
        }
        shortest(b, a).map_or(Explanation::Concurrent, Explanation::IsWaitedFor)
    }

    /// All that these operations wait for by way of those that are admitted: how many steps away, and the last of the steps.
    #[must_use]
    pub fn nearest(&self, starts: &[usize], admits: impl Fn(u32) -> bool) -> Vec<(usize, WaitEdge<L>)> {
        let mut seen = vec![false; self.operations() as usize];
        for &start in starts {
            seen[start] = true;
        }
        let mut scratch = Scratch::default();
        let mut found = Vec::new();
        let mut front: Vec<u32> = starts.iter().map(|&start| start as u32).collect();
        let mut distance = 0;
        while !front.is_empty() {
            distance += 1;
            let mut next = Vec::new();
            for from in front {
                for (to, link) in self.waits(from, &mut scratch) {
                    if admits(to) && !std::mem::replace(&mut seen[to as usize], true) {
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
}
