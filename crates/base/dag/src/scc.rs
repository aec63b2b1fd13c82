//! Strongly connected components.

use crate::adjacency::Adjacency;
use crate::{Graph, NodeIndex};

/// What Tarjan's algorithm knows of the nodes seen so far.
struct Search {
    /// The number of nodes discovered up to and including each, or 0 before its discovery.
    found: Vec<usize>,
    /// The earliest discovery that can be reached from each through nodes that are not settled.
    low: Vec<usize>,
    /// The number of the component of each settled node.
    component: Vec<Option<usize>>,
    /// Discovered nodes whose component is not complete.
    open: Vec<usize>,
    count: usize,
    components: usize,
}

impl Search {
    fn discover(&mut self, node: usize) {
        self.count += 1;
        self.found[node] = self.count;
        self.low[node] = self.count;
        self.open.push(node);
    }

    /// Numbers the complete component of which `root` was discovered first.
    fn settle(&mut self, root: usize) {
        while let Some(node) = self.open.pop() {
            self.component[node] = Some(self.components);
            if node == root {
                break;
            }
        }
        self.components += 1;
    }
}

/// The number of each node's component, counted in the order in which they are complete, and how many there are.
pub(crate) fn components(graph: &impl Adjacency) -> (Vec<usize>, usize) {
    let count = graph.count();
    let mut search = Search {
        found: vec![0; count],
        low: vec![0; count],
        component: vec![None; count],
        open: Vec::new(),
        count: 0,
        components: 0,
    };
    // The path from a first node to the one at hand, with the number of edges already followed from each.
    let mut path: Vec<(usize, usize)> = Vec::new();
    for first in 0..count {
        if search.found[first] == 0 {
            search.discover(first);
            path.push((first, 0));
        }
        while let Some((node, followed)) = path.last_mut() {
            let node = *node;
            let next = graph.successor(node, *followed);
            *followed += 1;
            match next {
                Some(to) if search.found[to] == 0 => {
                    search.discover(to);
                    path.push((to, 0));
                }
                Some(to) if search.component[to].is_none() => {
                    search.low[node] = search.low[node].min(search.found[to]);
                }
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some((parent, _)) = path.last() {
                        search.low[*parent] = search.low[*parent].min(search.low[node]);
                    }
                    if search.low[node] == search.found[node] {
                        search.settle(node);
                    }
                }
            }
        }
    }
    let numbers = search.component.into_iter().map(Option::unwrap_or_default).collect();
    (numbers, search.components)
}

impl<N> Graph<N> {
    /// The strongly connected components: the largest groups of nodes in which each can be reached from each.
    ///
    /// Every node is in one of them, most often alone. A component comes after all components that its edges point
    /// to; in a component the nodes are in index order.
    pub fn strongly_connected_components(&self) -> Vec<Vec<NodeIndex>> {
        let (of, count) = components(self);
        let mut components = vec![Vec::new(); count];
        for (node, component) in of.into_iter().enumerate() {
            components[component].push(NodeIndex(node));
        }
        components
    }
}
