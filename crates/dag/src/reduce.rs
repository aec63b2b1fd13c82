//! Transitive reduction.

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
        let order = self.topo_order()?;
        let mut search = Search {
            position: vec![0; order.len()],
            seen_for: vec![usize::MAX; order.len()],
            kept: vec![Vec::new(); order.len()],
            stack: Vec::new(),
        };
        for (at, node) in order.iter().enumerate() {
            search.position[node.0] = at;
        }
        // Backwards, so that the searches from a node run over edges that are reduced already.
        for &node in order.iter().rev() {
            search.kept[node.0] = search.reduce(node, self.successors(node));
        }
        let Search { kept, position, .. } = search;
        // The kept edges of each node are in the order of their ends' positions.
        Ok(self.retain_edges(|from, to| {
            kept[from.0].binary_search_by_key(&position[to.0], |kept| position[kept.0]).is_ok()
        }))
    }
}

/// The state of the searches, shared among them to be allocated once.
struct Search {
    /// The place of each node in the topological order.
    position: Vec<usize>,
    /// The node for whose sake each was last visited.
    seen_for: Vec<usize>,
    /// The edges of each node that stay, for the nodes done so far.
    kept: Vec<Vec<NodeIndex>>,
    stack: Vec<NodeIndex>,
}

impl Search {
    /// The successors of `node` that no other of them leads to.
    fn reduce(&mut self, node: NodeIndex, successors: &[NodeIndex]) -> Vec<NodeIndex> {
        let mut near_first = successors.to_vec();
        near_first.sort_unstable_by_key(|to| self.position[to.0]);
        let Some(farthest) = near_first.last().map(|to| self.position[to.0]) else { return near_first };
        // A path to a successor can only pass successors before it, so one look at each is enough.
        near_first.retain(|&to| {
            let direct = self.seen_for[to.0] != node.0;
            if direct {
                self.visit(node, to, farthest);
            }
            direct
        });
        near_first
    }

    /// Marks what `start` leads to, as far as the position `farthest`.
    fn visit(&mut self, node: NodeIndex, start: NodeIndex, farthest: usize) {
        self.stack.push(start);
        while let Some(at) = self.stack.pop() {
            for &to in &self.kept[at.0] {
                if self.position[to.0] <= farthest && self.seen_for[to.0] != node.0 {
                    self.seen_for[to.0] = node.0;
                    self.stack.push(to);
                }
            }
        }
    }
}
