//! Transitive reduction.

use crate::adjacency::Adjacency;
use crate::{Cycle, Graph, NodeIndex};

impl<N> Graph<N> {
    /// Removes every edge that a longer path between the same nodes makes superfluous, and gives their number.
    ///
    /// What can be reached from where stays as it was, and no smaller set of edges says the same. Takes time
    /// proportional to the edges in the worst case for each node, and far less in graphs that are mostly chains and
    /// trees: only the part between a node and the farthest of its successors is looked at.
    ///
    /// # Errors
    ///
    /// A [`Cycle`] when there is one, for then the reduction is not unique; the graph is left as it was.
    pub fn reduce_transitively(&mut self) -> Result<usize, Cycle> {
        let order: Vec<usize> = self.topo_order()?.into_iter().map(NodeIndex::index).collect();
        let reduced = reduce(self, &order);
        Ok(self.retain_edges(|from, to| reduced.keeps(from.0, to.0)))
    }
}

/// The edges that stay, found from an order in which every edge points forward.
pub(crate) fn reduce(graph: &impl Adjacency, order: &[usize]) -> Reduced {
    let mut search = Search {
        position: vec![0; order.len()],
        seen_for: vec![usize::MAX; order.len()],
        kept: vec![Vec::new(); order.len()],
        stack: Vec::new(),
    };
    for (at, &node) in order.iter().enumerate() {
        search.position[node] = at;
    }
    // Backwards, so that the searches from a node run over edges that are reduced already.
    for &node in order.iter().rev() {
        let successors = (0..).map_while(|at| graph.successor(node, at)).collect();
        search.kept[node] = search.reduce(node, successors);
    }
    Reduced { position: search.position, kept: search.kept }
}

/// The edges that stay: of each node, in the order of their ends' positions.
pub(crate) struct Reduced {
    position: Vec<usize>,
    kept: Vec<Vec<usize>>,
}

impl Reduced {
    pub(crate) fn keeps(&self, from: usize, to: usize) -> bool {
        self.kept[from].binary_search_by_key(&self.position[to], |&kept| self.position[kept]).is_ok()
    }
}

/// The state of the searches, shared among them to be allocated once.
struct Search {
    /// The place of each node in the topological order.
    position: Vec<usize>,
    /// The node for whose sake each was last visited.
    seen_for: Vec<usize>,
    /// The edges of each node that stay, for the nodes done so far.
    kept: Vec<Vec<usize>>,
    stack: Vec<usize>,
}

impl Search {
    /// The successors of `node` that no other of them leads to.
    fn reduce(&mut self, node: usize, mut near_first: Vec<usize>) -> Vec<usize> {
        near_first.sort_unstable_by_key(|&to| self.position[to]);
        let Some(farthest) = near_first.last().map(|&to| self.position[to]) else { return near_first };
        // A path to a successor can only pass successors before it, so one look at each is enough.
        near_first.retain(|&to| {
            let direct = self.seen_for[to] != node;
            if direct {
                self.visit(node, to, farthest);
            }
            direct
        });
        near_first
    }

    /// Marks what `start` leads to, as far as the position `farthest`.
    fn visit(&mut self, node: usize, start: usize, farthest: usize) {
        self.stack.push(start);
        while let Some(at) = self.stack.pop() {
            for &to in &self.kept[at] {
                // The kept edges are in the order of positions.
                if self.position[to] > farthest {
                    break;
                }
                if self.seen_for[to] != node {
                    self.seen_for[to] = node;
                    self.stack.push(to);
                }
            }
        }
    }
}
