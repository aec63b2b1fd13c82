//! The graph in its compact form: operations, and barriers that stand for many edges at once.
//!
//! A barrier `b` with edges `x -> b` and `b -> y` says that every such `x` waits for every such `y`. Barriers may follow
//! each other. They are an encoding: nothing outside of the crate sees one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use groundstate_dag::CompactGraph;

use crate::edge::{EdgeReason, Reasons};

/// Why an edge is there, and whether it was turned round. The first edge on the way through barriers says it for all.
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

    /// Reasons of another kind of graph, as a set of up to fifteen.
    pub(crate) fn of_set(set: u16) -> Self {
        Self(set & !Self::INVERTED)
    }

    /// The set that [`of_set`](Self::of_set) was given, and what was merged with it.
    pub(crate) fn set(self) -> u16 {
        self.0 & !Self::INVERTED
    }

    pub(crate) fn reasons(self) -> Reasons {
        Reasons(self.0 & !Self::INVERTED)
    }

    pub(crate) fn is_inverted(self) -> bool {
        self.0 & Self::INVERTED != 0
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// An edge of the compact form: `(from, to, why)`; `from` waits for `to`.
pub(crate) type RawEdge = (u32, u32, Link);

/// Operations are the nodes below [`ops`](Self::ops), in the order of their keys; the others are barriers.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    graph: CompactGraph<Link>,
    ops: u32,
}

/// So many edges are written out one by one whatever the size of the graph.
const FEW: u64 = 20_000;

/// And so many for each node and edge of the compact form. Beyond, barriers stand for groups of edges, so that what is
/// written grows with the input and not with its square.
const FEW_EACH: u64 = 4;

/// In which wave each operation runs, at the earliest and at the latest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    pub(crate) earliest: Vec<u32>,
    pub(crate) latest: Vec<u32>,
    pub(crate) waves: u32,
}

/// Along which way a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// To what a node waits for.
    Dependencies,
    /// To what waits for a node.
    Waiters,
}

impl Network {
    /// The network of these edges. Barriers must lie on no cycle of barriers alone.
    pub(crate) fn new(ops: usize, nodes: usize, edges: Vec<RawEdge>) -> Self {
        Self { graph: CompactGraph::from_edges(nodes, edges, Link::merge), ops: ops as u32 }
    }

    /// The number of operations.
    pub(crate) fn ops(&self) -> u32 {
        self.ops
    }

    /// The number of operations and barriers.
    pub(crate) fn len(&self) -> u32 {
        self.graph.node_count() as u32
    }

    /// The compact form itself.
    pub(crate) fn graph(&self) -> &CompactGraph<Link> {
        &self.graph
    }

    pub(crate) fn is_op(&self, node: u32) -> bool {
        node < self.ops
    }

    /// What the node waits for, barriers included.
    pub(crate) fn dependencies(&self, node: u32) -> &[u32] {
        self.graph.successors(node)
    }

    /// What waits for the node, barriers included.
    pub(crate) fn waiters(&self, node: u32) -> &[u32] {
        self.graph.predecessors(node)
    }

    pub(crate) fn neighbours(&self, node: u32, direction: Direction) -> &[u32] {
        match direction {
            Direction::Dependencies => self.dependencies(node),
            Direction::Waiters => self.waiters(node),
        }
    }

    /// What the node waits for, barriers included, with the reasons.
    pub(crate) fn links(&self, node: u32) -> impl Iterator<Item = (u32, Link)> {
        self.graph.successors(node).iter().copied().zip(self.graph.values(node).iter().copied())
    }

    /// How many edges each node has to wait for.
    pub(crate) fn counts(&self) -> Vec<u32> {
        (0..self.len()).map(|node| self.dependencies(node).len() as u32).collect()
    }

    /// The operations in their one order: of those that are ready, the smallest comes next. None when there is a cycle.
    pub(crate) fn order(&self) -> Option<Vec<u32>> {
        let mut waiting = self.counts();
        let mut ready = BinaryHeap::new();
        let mut settled: Vec<u32> = Vec::new();
        for node in (0..self.len()).filter(|&node| waiting[node as usize] == 0) {
            if self.is_op(node) { ready.push(Reverse(node)) } else { settled.push(node) }
        }
        let mut order = Vec::with_capacity(self.ops as usize);
        loop {
            // Barriers settle at once, so that what they let through competes for the next place.
            while let Some(node) = settled.pop() {
                for &waiter in self.waiters(node) {
                    waiting[waiter as usize] -= 1;
                    if waiting[waiter as usize] == 0 {
                        if self.is_op(waiter) { ready.push(Reverse(waiter)) } else { settled.push(waiter) }
                    }
                }
            }
            let Some(Reverse(next)) = ready.pop() else { break };
            order.push(next);
            settled.push(next);
        }
        (order.len() == self.ops as usize).then_some(order)
    }

    /// The waves: an operation runs in the one after the last of what it waits for. None when there is a cycle.
    pub(crate) fn schedule(&self) -> Option<Schedule> {
        // Every edge points forward in this order: what waits comes before what is waited for.
        let order = self.graph.topo_order()?;
        // For operations the wave; for barriers the first wave that they let through.
        let mut first = vec![0_u32; order.len()];
        for &node in order.iter().rev() {
            let through = |&to: &u32| first[to as usize] + u32::from(self.is_op(to));
            first[node as usize] = self.dependencies(node).iter().map(through).max().unwrap_or(0);
        }
        let mut earliest = first;
        earliest.truncate(self.ops as usize);
        let waves = earliest.iter().max().map_or(0, |last| last + 1);

        // The wave before which each node must be done.
        let mut before = vec![waves; order.len()];
        for &node in &order {
            let own = before[node as usize].saturating_sub(u32::from(self.is_op(node)));
            before[node as usize] = own;
            for &to in self.dependencies(node) {
                before[to as usize] = before[to as usize].min(own);
            }
        }
        before.truncate(self.ops as usize);
        Some(Schedule { earliest, latest: before, waves })
    }

    /// Everything that is reached from `starts` in the direction, the starts themselves included.
    pub(crate) fn reached(&self, starts: impl IntoIterator<Item = u32>, direction: Direction) -> Vec<bool> {
        let mut seen = vec![false; self.len() as usize];
        let mut stack: Vec<u32> = starts.into_iter().collect();
        for &start in &stack {
            seen[start as usize] = true;
        }
        while let Some(node) = stack.pop() {
            for &next in self.neighbours(node, direction) {
                if !seen[next as usize] {
                    seen[next as usize] = true;
                    stack.push(next);
                }
            }
        }
        seen
    }

    /// The operations that the node waits for directly, barriers resolved, in order.
    pub(crate) fn op_dependencies(&self, node: u32, scratch: &mut Scratch) -> Vec<(u32, Link)> {
        self.op_dependencies_among(node, scratch, |_| true)
    }

    /// As [`op_dependencies`](Self::op_dependencies), looking only at nodes that `among` admits.
    pub(crate) fn op_dependencies_among(
        &self,
        node: u32,
        scratch: &mut Scratch,
        among: impl Fn(u32) -> bool,
    ) -> Vec<(u32, Link)> {
        let mut found: Vec<(u32, Link)> = Vec::new();
        scratch.begin();
        scratch.stack.extend(self.links(node));
        while let Some((to, link)) = scratch.stack.pop() {
            if !among(to) {
                continue;
            }
            if self.is_op(to) {
                found.push((to, link));
            } else if scratch.enter(to, link) {
                scratch.stack.extend(self.dependencies(to).iter().map(|&next| (next, link)));
            }
        }
        found.sort_by_key(|&(to, _)| to);
        found.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1.merge(next.1);
            }
            same
        });
        found
    }

    /// At most how many edges between operations there are, barriers resolved; exact when no two ways are the same edge.
    pub(crate) fn edge_bound(&self) -> u64 {
        // From the far end of the barriers to the near one; each is settled when all that it leads to are.
        let barriers = (self.len() - self.ops) as usize;
        let at = |node: u32| (node - self.ops) as usize;
        let through = |node: u32, leads_to: &[u64]| {
            let count = |&to: &u32| if self.is_op(to) { 1 } else { leads_to[at(to)] };
            self.dependencies(node).iter().map(count).fold(0, u64::saturating_add)
        };
        let below = |node: u32| self.dependencies(node).iter().filter(|&&to| !self.is_op(to)).count();
        let mut open: Vec<usize> = (self.ops..self.len()).map(below).collect();
        let mut settled: Vec<u32> = (self.ops..self.len()).filter(|&node| open[at(node)] == 0).collect();
        let mut leads_to = vec![0; barriers];
        while let Some(barrier) = settled.pop() {
            leads_to[at(barrier)] = through(barrier, &leads_to);
            for &waiter in self.waiters(barrier).iter().filter(|&&waiter| !self.is_op(waiter)) {
                open[at(waiter)] -= 1;
                if open[at(waiter)] == 0 {
                    settled.push(waiter);
                }
            }
        }
        (0..self.ops).map(|node| through(node, &leads_to)).fold(0, u64::saturating_add)
    }

    /// Whether the edges between operations are few enough to be written out one by one.
    pub(crate) fn is_sparse(&self) -> bool {
        let encoded = self.graph.edge_count() as u64 + u64::from(self.len());
        self.edge_bound() <= FEW + FEW_EACH * encoded
    }

    /// The edges to be written: between operations where they are few, otherwise those of the compact form.
    pub(crate) fn written_edges(&self) -> Box<dyn Iterator<Item = RawEdge> + '_> {
        if self.is_sparse() {
            return Box::new(self.op_edges());
        }
        Box::new((0..self.len()).flat_map(|from| self.links(from).map(move |(to, link)| (from, to, link))))
    }

    /// How many barriers stand among the [`written_edges`](Self::written_edges).
    pub(crate) fn written_barriers(&self) -> u32 {
        if self.is_sparse() { 0 } else { self.len() - self.ops }
    }

    /// All edges between operations, barriers resolved, in order.
    pub(crate) fn op_edges(&self) -> impl Iterator<Item = RawEdge> {
        let mut scratch = Scratch::default();
        (0..self.ops).flat_map(move |from| {
            let dependencies = self.op_dependencies(from, &mut scratch);
            dependencies.into_iter().map(move |(to, link)| (from, to, link))
        })
    }

    /// The network without the edges that others imply, with its barriers; none when there is a cycle.
    pub(crate) fn reduced_compactly(&self) -> Option<Self> {
        Some(Self { graph: self.graph.reduce_transitively()?, ops: self.ops })
    }

    /// The network without barriers and without the edges that others imply; none when there is a cycle.
    ///
    /// Barriers are reduced first, so that long chains of them do not become the square of their length in edges.
    /// Where whole groups wait for whole groups in many pairs, the barriers stay.
    pub(crate) fn reduced(&self) -> Option<Self> {
        let order = self.graph.topo_order()?;
        let compact = Self { graph: self.graph.reduce_transitively()?, ops: self.ops };
        if !compact.is_sparse() {
            return Some(compact);
        }
        let flat = CompactGraph::from_edges(self.ops as usize, compact.op_edges().collect(), Link::merge);
        let flat = flat.reduce_transitively()?;

        // Some ways between the nodes of an edge that stays were reduced with the barriers; their reasons count too.
        let mut position = vec![0_u32; order.len()];
        for (at, &node) in order.iter().enumerate() {
            position[node as usize] = at as u32;
        }
        let mut scratch = Scratch::default();
        let mut edges = Vec::with_capacity(flat.edge_count());
        for from in 0..self.ops {
            let kept = flat.successors(from);
            let Some(farthest) = kept.iter().map(|&to| position[to as usize]).max() else { continue };
            let near =
                self.op_dependencies_among(from, &mut scratch, |node| position[node as usize] <= farthest);
            let stays = near.into_iter().filter(|(to, _)| kept.binary_search(to).is_ok());
            edges.extend(stays.map(|(to, link)| (from, to, link)));
        }
        Some(Self::new(self.ops as usize, self.ops as usize, edges))
    }
}

/// What searches through barriers need again and again.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// For each barrier the search that entered it last, and for which reasons.
    entered: Vec<(u32, Link)>,
    search: u32,
    stack: Vec<(u32, Link)>,
}

impl Scratch {
    fn begin(&mut self) {
        if self.search == u32::MAX {
            self.entered.clear();
            self.search = 0;
        }
        self.search += 1;
    }

    /// Whether the barrier was not yet entered for these reasons.
    fn enter(&mut self, barrier: u32, link: Link) -> bool {
        // Grows only here, so that a search that meets no barrier costs nothing.
        if self.entered.len() <= barrier as usize {
            self.entered.resize(barrier as usize + 1, (0, Link::default()));
        }
        let (search, known) = &mut self.entered[barrier as usize];
        if *search != self.search {
            (*search, *known) = (self.search, link);
            return true;
        }
        let before = *known;
        known.merge(link);
        before != *known
    }
}
