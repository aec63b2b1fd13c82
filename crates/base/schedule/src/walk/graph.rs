//! What a walk has to keep to: nodes by number, and what each of them waits for.

use groundstate_dag::Graph;

use super::csr::Rows;
use crate::graph::{Label, WaitGraph};

/// What an edge from a node to another means for the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// It waits for the other, and is skipped unless the other succeeds.
    Needs,
    /// It waits until the other has settled in any way.
    After,
    /// It does not wait, but is skipped if the other was not done before it starts.
    Unless,
}

/// An acyclic graph to be walked. Nodes are numbers from 0; smaller ones start first when both may.
#[derive(Clone, Debug)]
pub struct WalkGraph {
    nodes: usize,
    pub(super) dependencies: Rows,
    pub(super) waiters: Rows,
    barriers: Vec<bool>,
}

/// Collects the edges of a [`WalkGraph`].
#[derive(Clone, Debug)]
pub struct WalkGraphBuilder {
    nodes: usize,
    edges: Vec<(u32, u32, Relation)>,
    barriers: Vec<bool>,
    unknown: Option<usize>,
}

/// A graph that cannot be walked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WalkGraphError {
    /// Nothing on the cycle could ever start.
    #[error("the nodes {} wait for each other, remove one of these edges", cycle_text(path))]
    Cycle {
        /// A closed way: each node waits for the next, and the last for the first.
        path: Vec<usize>,
    },
    /// An edge or a barrier names a node that does not exist.
    #[error("node {node} is named by an edge or as a barrier, but the graph has {nodes} nodes")]
    UnknownNode {
        /// The number.
        node: usize,
        /// How many nodes there are.
        nodes: usize,
    },
    /// More nodes than 32 bits can number.
    #[error("{nodes} nodes are too many to walk, split the plan")]
    TooManyNodes {
        /// How many nodes there are.
        nodes: usize,
    },
}

impl WalkGraph {
    /// A graph of so many nodes, without edges yet.
    #[must_use]
    pub fn builder(nodes: usize) -> WalkGraphBuilder {
        WalkGraphBuilder { nodes, edges: Vec::new(), barriers: Vec::new(), unknown: None }
    }

    /// A graph in which the node at the start of each edge needs the one at its end; nodes keep their indices.
    ///
    /// # Errors
    /// When there is a cycle, or 2^32 nodes or more.
    pub fn from_graph<N>(graph: &Graph<N>) -> Result<Self, WalkGraphError> {
        let mut builder = Self::builder(graph.node_count());
        for (from, to) in graph.edges() {
            builder.edge(from.index(), to.index(), Relation::Needs);
        }
        builder.build()
    }

    /// A graph in which each operation needs all that it waits for; nodes keep their numbers, and barriers are barriers.
    ///
    /// # Errors
    /// When there is a cycle.
    pub fn from_waits<L: Label>(graph: &WaitGraph<L>) -> Result<Self, WalkGraphError> {
        let mut builder = Self::builder(graph.node_count() as usize);
        for node in 0..graph.node_count() {
            if !graph.is_operation(node) {
                builder.barrier(node as usize);
            }
            for &to in graph.dependencies(node) {
                builder.edge(node as usize, to as usize, Relation::Needs);
            }
        }
        builder.build()
    }

    /// How many nodes there are, barriers included.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes
    }

    /// Whether the node only joins others and has no operation of its own.
    #[must_use]
    pub fn is_barrier(&self, node: usize) -> bool {
        self.barriers.get(node).copied().unwrap_or(false)
    }

    /// How many dependencies each node waits for.
    pub(super) fn waiting_counts(&self) -> Vec<u32> {
        let waits = |node| self.dependencies.of(node).filter(|(_, relation)| relation.waits()).count();
        // A node has fewer distinct edges than 2^32 times the number of relations; more would not fit into memory.
        (0..self.nodes).map(|node| u32::try_from(waits(node)).unwrap_or(u32::MAX)).collect()
    }

    fn check(self) -> Result<Self, WalkGraphError> {
        let mut waiting = self.waiting_counts();
        let mut free: Vec<usize> = (0..self.nodes).filter(|&node| waiting[node] == 0).collect();
        let mut done = 0;
        while let Some(node) = free.pop() {
            done += 1;
            for (waiter, relation) in self.waiters.of(node) {
                if relation.waits() {
                    waiting[waiter] -= 1;
                    if waiting[waiter] == 0 {
                        free.push(waiter);
                    }
                }
            }
        }
        match waiting.iter().position(|&count| count > 0) {
            Some(start) if done < self.nodes => {
                Err(WalkGraphError::Cycle { path: self.cycle_below(start, &waiting) })
            }
            _ => Ok(self),
        }
    }

    /// Follows nodes that wait for others which wait, until one comes twice.
    fn cycle_below(&self, start: usize, waiting: &[u32]) -> Vec<usize> {
        let mut path = Vec::new();
        let mut place = vec![usize::MAX; self.nodes];
        let mut next = Some(start);
        while let Some(node) = next {
            if place[node] != usize::MAX {
                return path.split_off(place[node]);
            }
            place[node] = path.len();
            path.push(node);
            let mut dependencies = self.dependencies.of(node);
            next = dependencies
                .find(|&(dependency, relation)| relation.waits() && waiting[dependency] > 0)
                .map(|(dependency, _)| dependency);
        }
        path
    }
}

impl WalkGraphBuilder {
    /// Adds an edge from a node to what it waits for.
    pub fn edge(&mut self, from: usize, to: usize, relation: Relation) -> &mut Self {
        if let (Some(from), Some(to)) = (self.known(from), self.known(to)) {
            self.edges.push((from, to, relation));
        }
        self
    }

    /// Makes the node one without an operation, which settles as soon as all it waits for has.
    pub fn barrier(&mut self, node: usize) -> &mut Self {
        if self.known(node).is_some() {
            self.barriers.resize(self.nodes, false);
            self.barriers[node] = true;
        }
        self
    }

    /// The finished graph. An edge that was added twice is one.
    ///
    /// # Errors
    /// When there is a cycle, when an edge or a barrier names a node that does not exist, or when there are 2^32 nodes or more.
    pub fn build(&mut self) -> Result<WalkGraph, WalkGraphError> {
        let nodes = self.nodes;
        if u32::try_from(nodes).is_err() {
            return Err(WalkGraphError::TooManyNodes { nodes });
        }
        if let Some(node) = self.unknown {
            return Err(WalkGraphError::UnknownNode { node, nodes });
        }
        let edges = std::mem::take(&mut self.edges);
        let dependencies = Rows::new(nodes, &edges, |edge| edge.0, |edge| edge.1);
        let waiters = Rows::new(nodes, &edges, |edge| edge.1, |edge| edge.0);
        WalkGraph { nodes, dependencies, waiters, barriers: std::mem::take(&mut self.barriers) }.check()
    }

    fn known(&mut self, node: usize) -> Option<u32> {
        match u32::try_from(node) {
            Ok(number) if node < self.nodes => Some(number),
            _ => {
                self.unknown.get_or_insert(node);
                None
            }
        }
    }
}

impl Relation {
    /// Whether the node waits for the other end.
    #[must_use]
    pub fn waits(self) -> bool {
        !matches!(self, Self::Unless)
    }

    /// Whether the node is skipped when the other end does not succeed.
    #[must_use]
    pub fn needs_success(self) -> bool {
        !matches!(self, Self::After)
    }
}

/// The path of a cycle in words, cut off when it gets too long to read.
fn cycle_text(path: &[usize]) -> String {
    const SHOWN: usize = 50;
    let shown: Vec<String> = path.iter().take(SHOWN).map(ToString::to_string).collect();
    let rest = path.len().saturating_sub(SHOWN);
    if rest == 0 { shown.join(", ") } else { format!("{}, … and {rest} more", shown.join(", ")) }
}
