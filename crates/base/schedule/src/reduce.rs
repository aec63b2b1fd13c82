//! How many edges barriers stand for, which of them are written out, and which follow from others.

use groundstate_dag::CompactGraph;

use crate::graph::{Label, Scratch, WaitEdge, WaitGraph};

/// So many edges are written out one by one whatever the size of the graph.
const FEW: u64 = 20_000;

/// And so many for each node and edge of the compact form. Beyond, barriers stand for groups of edges, so that what is
/// written grows with the input and not with its square.
const FEW_EACH: u64 = 4;

impl<L: Label> WaitGraph<L> {
    /// At most how many edges between operations there are, barriers resolved: exact when no two ways are the same edge.
    #[must_use]
    pub fn edge_bound(&self) -> u64 {
        // From the far end of the barriers to the near one; each is settled when all that it leads to are.
        let barriers = (self.node_count() - self.operations()) as usize;
        let at = |node: u32| (node - self.operations()) as usize;
        let through = |node: u32, leads_to: &[u64]| {
            let count = |&to: &u32| if self.is_operation(to) { 1 } else { leads_to[at(to)] };
            self.dependencies(node).iter().map(count).fold(0, u64::saturating_add)
        };
        let below = |node: u32| self.dependencies(node).iter().filter(|&&to| !self.is_operation(to)).count();
        let mut open: Vec<usize> = (self.operations()..self.node_count()).map(below).collect();
        let mut settled: Vec<u32> =
            (self.operations()..self.node_count()).filter(|&node| open[at(node)] == 0).collect();
        let mut leads_to = vec![0; barriers];
        while let Some(barrier) = settled.pop() {
            leads_to[at(barrier)] = through(barrier, &leads_to);
            for &waiter in self.waiters(barrier).iter().filter(|&&waiter| !self.is_operation(waiter)) {
                open[at(waiter)] -= 1;
                if open[at(waiter)] == 0 {
                    settled.push(waiter);
                }
            }
        }
        (0..self.operations()).map(|node| through(node, &leads_to)).fold(0, u64::saturating_add)
    }

    /// Whether the edges between operations are few enough to be written out one by one.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        let encoded = self.graph().edge_count() as u64 + u64::from(self.node_count());
        self.edge_bound() <= FEW + FEW_EACH * encoded
    }

    /// The edges to be written: between operations where they are few, otherwise those of the compact form.
    #[must_use]
    pub fn written_edges(&self) -> Box<dyn Iterator<Item = WaitEdge<L>> + '_> {
        if self.is_sparse() {
            return Box::new(self.edges());
        }
        Box::new(
            (0..self.node_count()).flat_map(|from| self.links(from).map(move |(to, link)| (from, to, link))),
        )
    }

    /// How many barriers stand among the [`written_edges`](Self::written_edges).
    #[must_use]
    pub fn written_barriers(&self) -> u32 {
        if self.is_sparse() { 0 } else { self.node_count() - self.operations() }
    }

    /// All edges between operations, barriers resolved, in order.
    pub fn edges(&self) -> impl Iterator<Item = WaitEdge<L>> {
        let mut scratch = Scratch::default();
        (0..self.operations()).flat_map(move |from| {
            let dependencies = self.waits(from, &mut scratch);
            dependencies.into_iter().map(move |(to, link)| (from, to, link))
        })
    }

    /// The graph without the edges that others imply, with its barriers; none when there is a cycle.
    #[must_use]
    pub fn reduced_compactly(&self) -> Option<Self> {
        Some(Self::of_graph(self.graph().reduce_transitively()?, self.operations()))
    }

    /// The graph without barriers and without the edges that others imply; none when there is a cycle.
    ///
    /// Barriers are reduced first, so that long chains of them do not become the square of their length in edges.
    /// Where whole groups wait for whole groups in many pairs, the barriers stay.
    #[must_use]
    pub fn reduced(&self) -> Option<Self> {
        let order = self.graph().topo_order()?;
        let compact = Self::of_graph(self.graph().reduce_transitively()?, self.operations());
        if !compact.is_sparse() {
            return Some(compact);
        }
        let flat = CompactGraph::from_edges(self.operations() as usize, compact.edges().collect(), L::merge);
        let flat = flat.reduce_transitively()?;

        // Some ways between the nodes of an edge that stays were reduced with the barriers; their reasons count too.
        let mut position = vec![0_u32; order.len()];
        for (at, &node) in order.iter().enumerate() {
            position[node as usize] = at as u32;
        }
        let mut scratch = Scratch::default();
        let mut edges = Vec::with_capacity(flat.edge_count());
        for from in 0..self.operations() {
            let kept = flat.successors(from);
            let Some(farthest) = kept.iter().map(|&to| position[to as usize]).max() else { continue };
            let near = self.waits_among(from, &mut scratch, |node| position[node as usize] <= farthest);
            let stays = near.into_iter().filter(|(to, _)| kept.binary_search(to).is_ok());
            edges.extend(stays.map(|(to, link)| (from, to, link)));
        }
        Some(Self::new(self.operations() as usize, self.operations() as usize, edges))
    }

    /// As [`reduced`](Self::reduced), for graphs with cycles: what lies on one cycle counts as one node, and keeps its edges.
    ///
    /// Where whole groups wait for whole groups in many pairs, nothing is left out.
    #[must_use]
    pub fn reduced_beside_cycles(&self) -> Self {
        if !self.is_sparse() {
            return self.clone();
        }
        let (component, count) = self.graph().components();
        let mut first = vec![u32::MAX; count];
        for operation in 0..self.operations() {
            let first = &mut first[component[operation as usize] as usize];
            *first = operation.min(*first);
        }
        let whole = |operation: u32| first[component[operation as usize] as usize];
        let edges: Vec<WaitEdge<L>> = self.edges().collect();
        let between = edges.iter().map(|&(from, to, _)| (whole(from), whole(to), ()));
        let between = between.filter(|(from, to, ())| from != to).collect();
        let condensed = CompactGraph::from_edges(self.operations() as usize, between, |(), ()| ());
        let Some(condensed) = condensed.reduce_transitively() else { return self.clone() };
        let stays = |&(from, to, _): &WaitEdge<L>| {
            let (from, to) = (whole(from), whole(to));
            from == to || condensed.successors(from).binary_search(&to).is_ok()
        };
        let edges = edges.into_iter().filter(stays).collect();
        Self::new(self.operations() as usize, self.operations() as usize, edges)
    }
}
