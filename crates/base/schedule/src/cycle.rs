//! Shortest ways, and cycles with an actual walk along each.

use std::collections::VecDeque;

use groundstate_dag::CompactGraph;

use crate::graph::{Direction, Label, Scratch, WaitEdge, WaitGraph};

/// A strongly connected component, as numbers of operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitCycle<L> {
    /// All operations of the component, in order.
    pub members: Vec<u32>,
    /// A shortest closed walk through the first member.
    pub path: Vec<WaitEdge<L>>,
}

impl<L: Label> WaitGraph<L> {
    /// Edges from an operation to itself, as the operations.
    #[must_use]
    pub fn self_loops(&self) -> Vec<u32> {
        (0..self.operations()).filter(|&op| self.dependencies(op).binary_search(&op).is_ok()).collect()
    }

    /// The cycles, one for each strongly connected component, by their smallest member.
    #[must_use]
    pub fn cycles(&self) -> Vec<WaitCycle<L>> {
        let (of, count) = self.graph().components();
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); count];
        for op in 0..self.operations() {
            members[of[op as usize] as usize].push(op);
        }
        members.retain(|members| members.len() > 1);
        members.sort_unstable();
        let mut search = Search::new(self);
        let mut cycles = Vec::with_capacity(members.len());
        for members in members {
            let start = members[0];
            let inside = |node: u32| of[node as usize] == of[start as usize];
            let path = search.shortest(&[start], &[start], inside).unwrap_or_default();
            cycles.push(WaitCycle { members, path });
        }
        cycles
    }

    /// A shortest chain of edges from one operation to another: the first waits for the last.
    #[must_use]
    pub fn shortest_path(&self, from: u32, to: u32) -> Option<Vec<WaitEdge<L>>> {
        self.shortest_between(&[from], &[to])
    }

    /// A shortest chain of edges from any operation of the one set to any of the other. Both are sorted.
    pub(crate) fn shortest_between(&self, from: &[u32], to: &[u32]) -> Option<Vec<WaitEdge<L>>> {
        Search::new(self).shortest(from, to, |_| true)
    }

    /// Whether the one operation waits for the other, directly or not.
    #[must_use]
    pub fn reaches(&self, from: u32, to: u32) -> bool {
        let mut seen = vec![false; self.node_count() as usize];
        let mut stack = vec![from];
        while let Some(node) = stack.pop() {
            for &next in self.neighbours(node, Direction::Dependencies) {
                if next == to {
                    return true;
                }
                if !seen[next as usize] {
                    seen[next as usize] = true;
                    stack.push(next);
                }
            }
        }
        false
    }
}

/// A breadth-first search over operations, in which a way through barriers counts as one step.
struct Search<'a, L> {
    graph: &'a WaitGraph<L>,
    /// From which operation, and with which link, each node was reached.
    came_from: Vec<Option<(u32, L)>>,
    touched: Vec<u32>,
}

impl<'a, L: Label> Search<'a, L> {
    fn new(graph: &'a WaitGraph<L>) -> Self {
        Self { graph, came_from: vec![None; graph.node_count() as usize], touched: Vec::new() }
    }

    /// The shortest way of at least one edge; among those equally short, the one over the smallest operations. Starts and
    /// goals are sorted.
    fn shortest(
        &mut self,
        starts: &[u32],
        goals: &[u32],
        inside: impl Fn(u32) -> bool,
    ) -> Option<Vec<WaitEdge<L>>> {
        for node in self.touched.drain(..) {
            self.came_from[node as usize] = None;
        }
        let is_in = |set: &[u32], node: u32| set.binary_search(&node).is_ok();
        let mut queue: VecDeque<u32> = starts.iter().copied().collect();
        while let Some(op) = queue.pop_front() {
            let reached = self.step(op, &inside);
            if let Some(&(goal, link)) = reached.iter().find(|&&(to, _)| is_in(goals, to)) {
                return Some(self.back(starts, (op, goal, link)));
            }
            queue.extend(reached.into_iter().map(|(to, _)| to).filter(|&to| !is_in(starts, to)));
        }
        None
    }

    /// The operations that this one leads to and that no other led to before, in order.
    ///
    /// A barrier is passed once: what it leads to is known from then on.
    fn step(&mut self, op: u32, inside: &impl Fn(u32) -> bool) -> Vec<(u32, L)> {
        let mut reached: Vec<(u32, L)> = Vec::new();
        let mut stack: Vec<(u32, L)> = self.graph.links(op).collect();
        // Taken from the end, so that plain edges, which name operations, come before ways through barriers.
        stack.reverse();
        while let Some((to, link)) = stack.pop() {
            if to == op || !inside(to) || self.came_from[to as usize].is_some() {
                continue;
            }
            self.came_from[to as usize] = Some((op, link));
            self.touched.push(to);
            if self.graph.is_operation(to) {
                reached.push((to, link));
            } else {
                stack.extend(self.graph.dependencies(to).iter().map(|&next| (next, link)));
            }
        }
        reached.sort_by_key(|&(to, _)| to);
        reached
    }

    /// The edges from one of `starts` up to and including `last`.
    fn back(&self, starts: &[u32], last: WaitEdge<L>) -> Vec<WaitEdge<L>> {
        let mut path = vec![last];
        let mut at = last.0;
        while starts.binary_search(&at).is_err() {
            let Some((before, link)) = self.came_from[at as usize] else { break };
            path.push((before, at, link));
            at = before;
        }
        path.reverse();
        path
    }
}

impl<L: Label> WaitGraph<L> {
    /// A smallest set of edges among the members of a cycle without which they form none, and whether that is proven.
    ///
    /// Of sets of one size the one with fewer edges that are `costly` to give up is preferred. Nothing is given where there
    /// are too many edges to look at.
    #[must_use]
    pub fn smallest_cut(&self, cycle: &WaitCycle<L>, costly: impl Fn(L) -> bool) -> (Vec<WaitEdge<L>>, bool) {
        const MOST_EDGES: usize = 1 << 16;
        const WORK: usize = 1 << 22;
        let mut scratch = Scratch::default();
        let mut edges: Vec<WaitEdge<L>> = Vec::new();
        for (at, &from) in (0_u32..).zip(&cycle.members) {
            for (to, link) in self.waits(from, &mut scratch) {
                if let Ok(place) = cycle.members.binary_search(&to)
                    && to != from
                {
                    edges.push((at, place as u32, link));
                }
            }
            if edges.len() > MOST_EDGES {
                return (Vec::new(), false);
            }
        }
        let steps = (WORK / edges.len().max(1)).clamp(3, 20_000);
        let graph = CompactGraph::from_edges(cycle.members.len(), edges, L::merge);
        let cut = graph.feedback_edges(steps, |link: &L| costly(*link));
        let member = |at: u32| cycle.members[at as usize];
        let edge = |&(from, to): &(u32, u32)| {
            let at = graph.successors(from).binary_search(&to).unwrap_or_default();
            (member(from), member(to), graph.values(from)[at])
        };
        (cut.edges.iter().map(edge).collect(), cut.is_smallest)
    }
}
