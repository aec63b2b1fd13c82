//! Strongly connected components.

use crate::{Graph, NodeIndex};

/// What Tarjan's algorithm knows of the nodes seen so far.
struct Search {
    /// The number of nodes discovered up to and including each, or 0 before its discovery.
    found: Vec<usize>,
    /// The earliest discovery that can be reached from each through nodes that are not settled.
    low: Vec<usize>,
    settled: Vec<bool>,
    /// Discovered nodes whose component is not complete.
    open: Vec<NodeIndex>,
    count: usize,
}

impl Search {
    fn discover(&mut self, node: NodeIndex) {
        self.count += 1;
        self.found[node.0] = self.count;
        self.low[node.0] = self.count;
        self.open.push(node);
    }

    /// Takes the complete component of which `root` was discovered first.
    fn settle(&mut self, root: NodeIndex) -> Vec<NodeIndex> {
        let start = self.open.iter().rposition(|&node| node == root).unwrap_or_default();
        let mut component = self.open.split_off(start);
        for node in &component {
            self.settled[node.0] = true;
        }
        component.sort_unstable();
        component
    }
}

impl<N> Graph<N> {
    /// The strongly connected components: the largest groups of nodes in which each can be reached from each.
    ///
    /// Every node is in one of them, most often alone. A component comes after all components that its edges point
    /// to; in a component the nodes are in index order.
    pub fn strongly_connected_components(&self) -> Vec<Vec<NodeIndex>> {
        let count = self.node_count();
        let mut search = Search {
            found: vec![0; count],
            low: vec![0; count],
            settled: vec![false; count],
            open: Vec::new(),
            count: 0,
        };
        let mut components = Vec::new();
        // The path from a first node to the one at hand, with the number of edges already followed from each.
        let mut path: Vec<(NodeIndex, usize)> = Vec::new();
        for first in self.indices() {
            if search.found[first.0] == 0 {
                search.discover(first);
                path.push((first, 0));
            }
            while let Some((node, followed)) = path.last_mut() {
                let node = *node;
                let next = self.successors(node).get(*followed).copied();
                *followed += 1;
                match next {
                    Some(to) if search.found[to.0] == 0 => {
                        search.discover(to);
                        path.push((to, 0));
                    }
                    Some(to) if !search.settled[to.0] => {
                        search.low[node.0] = search.low[node.0].min(search.found[to.0]);
                    }
                    Some(_) => {}
                    None => {
                        path.pop();
                        if let Some((parent, _)) = path.last() {
                            search.low[parent.0] = search.low[parent.0].min(search.low[node.0]);
                        }
                        if search.low[node.0] == search.found[node.0] {
                            components.push(search.settle(node));
                        }
                    }
                }
            }
        }
        components
    }
}
