//! Whole cycles, each node of them in order.

use std::collections::VecDeque;
use std::fmt;

use crate::{Graph, NodeIndex};

/// A cycle: an edge leads from each node to the next, and from the last to the first.
///
/// It begins with its node of the smallest index, and no node occurs twice in it. A node with an edge to itself is a
/// cycle of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle(Vec<NodeIndex>);

impl Cycle {
    /// The nodes in the order of the edges; at least one.
    pub fn nodes(&self) -> &[NodeIndex] {
        &self.0
    }

    /// The nodes in the order of the edges; at least one.
    pub fn into_nodes(self) -> Vec<NodeIndex> {
        self.0
    }

    /// The labels of the nodes in order, the first once more at the end: `a -> b -> a`.
    pub fn describe<L: fmt::Display>(&self, mut label: impl FnMut(NodeIndex) -> L) -> String {
        let labels: Vec<String> =
            self.0.iter().chain(self.0.first()).map(|&node| label(node).to_string()).collect();
        labels.join(" -> ")
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [node] => write!(f, "node {} has an edge to itself", node.0),
            nodes => write!(f, "{} nodes form a cycle: {}", nodes.len(), self.describe(|node| node.0)),
        }
    }
}

impl std::error::Error for Cycle {}

impl<N> Graph<N> {
    /// A cycle through the node of the smallest index that lies on any, and of those a shortest one; none when the
    /// graph has no cycle.
    pub fn find_cycle(&self) -> Option<Cycle> {
        self.cycles().next()
    }

    /// One cycle for each strongly connected component that has any, by the smallest index of the component's nodes.
    ///
    /// Each is a shortest one through that node. Graphs can have more cycles than anyone could count; breaking those
    /// given here and asking again comes to the end of them all.
    pub fn cycles(&self) -> impl Iterator<Item = Cycle> {
        let mut components = self.strongly_connected_components();
        components.retain(|component| component.len() > 1 || self.contains_edge(component[0], component[0]));
        components.sort_unstable();
        let mut component_of = vec![usize::MAX; self.node_count()];
        for (number, component) in components.iter().enumerate() {
            for node in component {
                component_of[node.0] = number;
            }
        }
        let mut came_from = vec![None; self.node_count()];
        components.into_iter().filter_map(move |component| {
            self.shortest_cycle(component[0], |node| component_of[node.0], &mut came_from)
        })
    }

    /// Searches breadth first from `start`, inside its component, until an edge leads back to it.
    fn shortest_cycle(
        &self,
        start: NodeIndex,
        component: impl Fn(NodeIndex) -> usize,
        came_from: &mut [Option<NodeIndex>],
    ) -> Option<Cycle> {
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            if self.contains_edge(node, start) {
                return Some(Cycle(path_back(node, start, came_from)));
            }
            for &to in self.successors(node) {
                if component(to) == component(start) && to != start && came_from[to.0].is_none() {
                    came_from[to.0] = Some(node);
                    queue.push_back(to);
                }
            }
        }
        None
    }
}

/// The nodes from `start` to `end`, found by going back from `end`.
fn path_back(end: NodeIndex, start: NodeIndex, came_from: &[Option<NodeIndex>]) -> Vec<NodeIndex> {
    let mut path = vec![end];
    let mut at = end;
    while at != start {
        let Some(before) = came_from[at.0] else { break };
        path.push(before);
        at = before;
    }
    path.reverse();
    path
}
