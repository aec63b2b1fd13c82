//! What can be reached from a node, and from where it can be reached.

use std::collections::VecDeque;
use std::fmt;

use crate::{Graph, NodeIndex};

/// Nodes in the order of a breadth-first search, each once; made by [`Graph::descendants`] and [`Graph::ancestors`].
#[must_use = "a walk does nothing until it is iterated"]
pub struct Walk<'a, N> {
    graph: &'a Graph<N>,
    neighbours: fn(&Graph<N>, NodeIndex) -> &[NodeIndex],
    seen: Vec<bool>,
    queue: VecDeque<NodeIndex>,
}

impl<N> Graph<N> {
    /// The nodes that can be reached from any of `starts` along one edge or more, the nearest first.
    ///
    /// A start is itself among them only when a cycle or another start leads to it.
    ///
    /// ```
    /// use groundstate_dag::Graph;
    ///
    /// let mut graph = Graph::new();
    /// let [app, subnet, network] = ["app", "subnet", "network"].map(|name| graph.add_node(name));
    /// graph.add_edge(app, subnet);
    /// graph.add_edge(subnet, network);
    /// assert!(graph.descendants([app]).eq([subnet, network]));
    /// assert!(graph.ancestors([network]).eq([subnet, app]));
    /// ```
    ///
    /// # Panics
    ///
    /// When the graph has no such node.
    pub fn descendants(&self, starts: impl IntoIterator<Item = NodeIndex>) -> Walk<'_, N> {
        Walk::new(self, Self::successors, starts)
    }

    /// The nodes from which any of `starts` can be reached along one edge or more, the nearest first.
    ///
    /// A start is itself among them only when it leads to a cycle that it lies on, or to another start.
    ///
    /// # Panics
    ///
    /// When the graph has no such node.
    pub fn ancestors(&self, starts: impl IntoIterator<Item = NodeIndex>) -> Walk<'_, N> {
        Walk::new(self, Self::predecessors, starts)
    }
}

impl<'a, N> Walk<'a, N> {
    fn new(
        graph: &'a Graph<N>,
        neighbours: fn(&Graph<N>, NodeIndex) -> &[NodeIndex],
        starts: impl IntoIterator<Item = NodeIndex>,
    ) -> Self {
        let mut walk =
            Self { graph, neighbours, seen: vec![false; graph.node_count()], queue: VecDeque::new() };
        for start in starts {
            walk.enqueue_neighbours(start);
        }
        walk
    }

    fn enqueue_neighbours(&mut self, node: NodeIndex) {
        for &to in (self.neighbours)(self.graph, node) {
            if !self.seen[to.0] {
                self.seen[to.0] = true;
                self.queue.push_back(to);
            }
        }
    }
}

impl<N> Iterator for Walk<'_, N> {
    type Item = NodeIndex;

    fn next(&mut self) -> Option<NodeIndex> {
        let node = self.queue.pop_front()?;
        self.enqueue_neighbours(node);
        Some(node)
    }
}

impl<N> fmt::Debug for Walk<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Walk").field("queue", &self.queue).finish_non_exhaustive()
    }
}
