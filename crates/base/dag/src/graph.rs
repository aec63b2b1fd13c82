//! Nodes and edges in the order they were added.

use std::collections::HashSet;
use std::ops::{Index, IndexMut};

use crate::adjacency::Adjacency;

/// The place of a node in its graph: the first node has index 0, the next 1, and so on.
///
/// It means something only to the graph that gave it out, and to others with as many nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(pub(crate) usize);

impl NodeIndex {
    /// The number of nodes that were added before this one.
    pub fn index(self) -> usize {
        self.0
    }
}

/// A directed graph whose nodes and edges stay in the order they were added.
///
/// There is at most one edge from a node to another. An edge from a node to itself is allowed, and is a cycle.
///
/// Methods that take a [`NodeIndex`] panic, as slices do, when the graph has no such node, which cannot happen with an
/// index that the same graph gave out.
#[derive(Clone, Debug)]
pub struct Graph<N> {
    nodes: Vec<N>,
    outgoing: Vec<Vec<NodeIndex>>,
    incoming: Vec<Vec<NodeIndex>>,
    // Asked for single edges only, never walked: its order must not reach any result.
    edges: HashSet<(NodeIndex, NodeIndex)>,
}

impl<N> Graph<N> {
    /// A graph without nodes.
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// A graph without nodes, with room for as many as given.
    pub fn with_capacity(nodes: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(nodes),
            outgoing: Vec::with_capacity(nodes),
            incoming: Vec::with_capacity(nodes),
            edges: HashSet::new(),
        }
    }

    /// Adds a node, and gives its index.
    pub fn add_node(&mut self, node: N) -> NodeIndex {
        let index = NodeIndex(self.nodes.len());
        self.nodes.push(node);
        self.outgoing.push(Vec::new());
        self.incoming.push(Vec::new());
        index
    }

    /// Adds an edge, and tells whether it is a new one.
    ///
    /// # Panics
    ///
    /// When the graph has no such node.
    pub fn add_edge(&mut self, from: NodeIndex, to: NodeIndex) -> bool {
        assert!(from.0 < self.nodes.len() && to.0 < self.nodes.len(), "an index of another graph");
        let new = self.edges.insert((from, to));
        if new {
            self.outgoing[from.0].push(to);
            self.incoming[to.0].push(from);
        }
        new
    }

    /// Tells whether there is an edge from the one node to the other.
    pub fn contains_edge(&self, from: NodeIndex, to: NodeIndex) -> bool {
        self.edges.contains(&(from, to))
    }

    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The number of edges.
    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// Tells whether the graph has no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The node at the index, or none when the graph has fewer nodes.
    pub fn get(&self, node: NodeIndex) -> Option<&N> {
        self.nodes.get(node.0)
    }

    /// The indexes of all nodes, in order.
    pub fn indices(&self) -> impl DoubleEndedIterator<Item = NodeIndex> + ExactSizeIterator + use<N> {
        (0..self.nodes.len()).map(NodeIndex)
    }

    /// All nodes with their indexes, in the order they were added.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = (NodeIndex, &N)> + ExactSizeIterator {
        self.nodes.iter().enumerate().map(|(at, node)| (NodeIndex(at), node))
    }

    /// All edges: those of the first node in the order they were added, then those of the next.
    pub fn edges(&self) -> impl Iterator<Item = (NodeIndex, NodeIndex)> {
        self.indices().flat_map(|from| self.outgoing[from.0].iter().map(move |&to| (from, to)))
    }

    /// The nodes that edges of this node point to, in the order the edges were added.
    ///
    /// # Panics
    ///
    /// When the graph has no such node.
    pub fn successors(&self, node: NodeIndex) -> &[NodeIndex] {
        &self.outgoing[node.0]
    }

    /// The nodes whose edges point to this node, in the order the edges were added.
    ///
    /// # Panics
    ///
    /// When the graph has no such node.
    pub fn predecessors(&self, node: NodeIndex) -> &[NodeIndex] {
        &self.incoming[node.0]
    }

    /// The same nodes with every edge turned round.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self {
            nodes: self.nodes,
            edges: self.edges.into_iter().map(|(from, to)| (to, from)).collect(),
            outgoing: self.incoming,
            incoming: self.outgoing,
        }
    }

    /// The same shape with other nodes.
    pub fn map<M>(&self, mut make: impl FnMut(NodeIndex, &N) -> M) -> Graph<M> {
        Graph {
            nodes: self.nodes().map(|(index, node)| make(index, node)).collect(),
            outgoing: self.outgoing.clone(),
            incoming: self.incoming.clone(),
            edges: self.edges.clone(),
        }
    }

    /// Removes the edges for which `keep` says no; the others stay in order. Gives the number removed.
    pub fn retain_edges(&mut self, mut keep: impl FnMut(NodeIndex, NodeIndex) -> bool) -> usize {
        let before = self.edges.len();
        for (at, successors) in self.outgoing.iter_mut().enumerate() {
            successors.retain(|&to| {
                let kept = keep(NodeIndex(at), to);
                if !kept {
                    self.edges.remove(&(NodeIndex(at), to));
                }
                kept
            });
        }
        for (at, predecessors) in self.incoming.iter_mut().enumerate() {
            predecessors.retain(|&from| self.edges.contains(&(from, NodeIndex(at))));
        }
        before - self.edges.len()
    }
}

impl<N> Adjacency for Graph<N> {
    fn count(&self) -> usize {
        self.nodes.len()
    }

    fn successor(&self, node: usize, at: usize) -> Option<usize> {
        self.outgoing[node].get(at).map(|to| to.0)
    }
}

impl<N> Default for Graph<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<N> Index<NodeIndex> for Graph<N> {
    type Output = N;

    fn index(&self, node: NodeIndex) -> &N {
        &self.nodes[node.0]
    }
}

impl<N> IndexMut<NodeIndex> for Graph<N> {
    fn index_mut(&mut self, node: NodeIndex) -> &mut N {
        &mut self.nodes[node.0]
    }
}
