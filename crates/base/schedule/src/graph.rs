//! The graph in its compact form: operations, and barriers that stand for many edges at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use groundstate_dag::CompactGraph;

/// What an edge says: why the one waits for the other. Where two edges become one, so do their labels.
///
/// A set of reasons is a label; so is `()`, where no reason is asked for.
pub trait Label: Copy + Default + PartialEq {
    /// Adds what the other label says.
    fn merge(&mut self, other: Self);
}

impl Label for () {
    fn merge(&mut self, (): Self) {}
}

/// An edge: `(from, to, why)`; `from` waits for `to`.
pub type WaitEdge<L> = (u32, u32, L);

/// Operations and what each of them waits for.
///
/// Nodes are numbers. Those below [`operations`](Self::operations) are operations, and where there is a choice the smaller
/// comes first. The others are *barriers*: edges `x -> b` and `b -> y` of a barrier `b` say that every such `x` waits for
/// every such `y`, so that a product of many and many takes a sum of edges. Barriers may follow each other. The first edge
/// on the way through barriers says why.
///
/// Methods that take a node panic, as slices do, when the graph has no such node.
///
/// ```
/// use groundstate_schedule::WaitGraph;
///
/// // 2 and 3 wait for 0 and 1, by way of the barrier 4.
/// let edges = vec![(2, 4, ()), (3, 4, ()), (4, 0, ()), (4, 1, ())];
/// let graph = WaitGraph::new(4, 5, edges);
/// assert_eq!(graph.order(), Some(vec![0, 1, 2, 3]));
/// assert_eq!(graph.edges().count(), 4);
/// assert_eq!(graph.waves().map(|waves| waves.groups()), Some(vec![vec![0, 1], vec![2, 3]]));
/// ```
#[derive(Clone, Debug)]
pub struct WaitGraph<L> {
    graph: CompactGraph<L>,
    operations: u32,
}

/// Along which way a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To what a node waits for.
    Dependencies,
    /// To what waits for a node.
    Waiters,
}

impl<L: Label> WaitGraph<L> {
    /// The graph of these edges, with the operations first and then the barriers. Barriers must lie on no cycle of barriers
    /// alone.
    ///
    /// # Panics
    ///
    /// When an edge names a node that is not below `nodes`, and when there are 2³² edges or more.
    #[must_use]
    pub fn new(operations: usize, nodes: usize, edges: Vec<WaitEdge<L>>) -> Self {
        Self { graph: CompactGraph::from_edges(nodes, edges, L::merge), operations: operations as u32 }
    }

    /// The number of operations.
    #[must_use]
    pub fn operations(&self) -> u32 {
        self.operations
    }

    /// The number of operations and barriers.
    #[must_use]
    pub fn node_count(&self) -> u32 {
        self.graph.node_count() as u32
    }

    /// The operations and barriers as a plain graph.
    #[must_use]
    pub fn graph(&self) -> &CompactGraph<L> {
        &self.graph
    }

    /// Whether the node is an operation, not a barrier.
    #[must_use]
    pub fn is_operation(&self, node: u32) -> bool {
        node < self.operations
    }

    /// The graph of operations and barriers, with the operations first.
    pub(crate) fn of_graph(graph: CompactGraph<L>, operations: u32) -> Self {
        Self { graph, operations }
    }

    /// What the node waits for, barriers included.
    #[must_use]
    pub fn dependencies(&self, node: u32) -> &[u32] {
        self.graph.successors(node)
    }

    /// What waits for the node, barriers included.
    #[must_use]
    pub fn waiters(&self, node: u32) -> &[u32] {
        self.graph.predecessors(node)
    }

    /// The nodes next to this one in a direction, barriers included.
    #[must_use]
    pub fn neighbours(&self, node: u32, direction: Direction) -> &[u32] {
        match direction {
            Direction::Dependencies => self.dependencies(node),
            Direction::Waiters => self.waiters(node),
        }
    }

    /// What the node waits for, barriers included, with the reasons.
    pub fn links(&self, node: u32) -> impl Iterator<Item = (u32, L)> {
        self.graph.successors(node).iter().copied().zip(self.graph.values(node).iter().copied())
    }

    /// How many edges each node has to wait for.
    fn counts(&self) -> Vec<u32> {
        (0..self.node_count()).map(|node| self.dependencies(node).len() as u32).collect()
    }

    /// The operations in their one order: of those that are ready, the smallest comes next. None when there is a cycle.
    #[must_use]
    pub fn order(&self) -> Option<Vec<u32>> {
        let mut waiting = self.counts();
        let mut ready = BinaryHeap::new();
        let mut settled: Vec<u32> = Vec::new();
        for node in (0..self.node_count()).filter(|&node| waiting[node as usize] == 0) {
            if self.is_operation(node) { ready.push(Reverse(node)) } else { settled.push(node) }
        }
        let mut order = Vec::with_capacity(self.operations as usize);
        loop {
            // Barriers settle at once, so that what they let through competes for the next place.
            while let Some(node) = settled.pop() {
                for &waiter in self.waiters(node) {
                    waiting[waiter as usize] -= 1;
                    if waiting[waiter as usize] == 0 {
                        if self.is_operation(waiter) {
                            ready.push(Reverse(waiter))
                        } else {
                            settled.push(waiter)
                        }
                    }
                }
            }
            let Some(Reverse(next)) = ready.pop() else { break };
            order.push(next);
            settled.push(next);
        }
        (order.len() == self.operations as usize).then_some(order)
    }

    /// Everything that is reached from `starts` in the direction, the starts themselves included.
    #[must_use]
    pub fn reached(&self, starts: impl IntoIterator<Item = u32>, direction: Direction) -> Vec<bool> {
        let mut seen = vec![false; self.node_count() as usize];
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
    #[must_use]
    pub fn waits(&self, node: u32, scratch: &mut Scratch<L>) -> Vec<(u32, L)> {
        self.waits_among(node, scratch, |_| true)
    }

    /// As [`waits`](Self::waits), looking only at nodes that `among` admits.
    pub(crate) fn waits_among(
        &self,
        node: u32,
        scratch: &mut Scratch<L>,
        among: impl Fn(u32) -> bool,
    ) -> Vec<(u32, L)> {
        let mut found: Vec<(u32, L)> = Vec::new();
        scratch.begin();
        scratch.stack.extend(self.links(node));
        while let Some((to, link)) = scratch.stack.pop() {
            if !among(to) {
                continue;
            }
            if self.is_operation(to) {
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
}

/// The memory of searches through barriers. Keep one for many searches, so that each takes only as long as its own way.
#[derive(Debug, Default)]
pub struct Scratch<L> {
    /// For each barrier the search that entered it last, and for which reasons.
    entered: Vec<(u32, L)>,
    search: u32,
    stack: Vec<(u32, L)>,
}

impl<L: Label> Scratch<L> {
    fn begin(&mut self) {
        if self.search == u32::MAX {
            self.entered.clear();
            self.search = 0;
        }
        self.search += 1;
    }

    /// Whether the barrier was not yet entered for these reasons.
    fn enter(&mut self, barrier: u32, link: L) -> bool {
        // Grows only here, so that a search that meets no barrier costs nothing.
        if self.entered.len() <= barrier as usize {
            self.entered.resize(barrier as usize + 1, (0, L::default()));
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
