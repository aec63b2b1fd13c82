//! What is to be done: operations, and what they wait for.

use std::collections::BTreeMap;

use groundstate_ordering::effects::{Meta, Operation};
use groundstate_ordering::walk::WalkGraph;
use groundstate_states::addr::{AbsResourceInstance, ProviderConfig};

/// A node of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanNode {
    /// Does something to an instance.
    Operation(Operation),
    /// Configures a provider, before its operations.
    Configure(ProviderConfig),
    /// Shuts a provider down, after its operations.
    Close(ProviderConfig),
    /// Only joins others; it is a barrier of the graph.
    Barrier,
}

/// Operations, the graph that orders them, and what instances without an operation record.
#[derive(Clone, Debug)]
pub struct Plan {
    nodes: Vec<PlanNode>,
    graph: WalkGraph,
    metadata: BTreeMap<AbsResourceInstance, Meta>,
}

/// Nodes and graph that do not belong together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// They are not as many.
    #[error("{nodes} operations do not go with a graph of {graph} nodes, build both from one plan")]
    Mismatch {
        /// How many operations there are.
        nodes: usize,
        /// How many nodes the graph has.
        graph: usize,
    },
    /// A barrier of the graph has an operation, or a node that is none has nothing to do.
    #[error("node {node} is a barrier in the graph or in the list but not in both, build both from one plan")]
    Barrier {
        /// The number of the node.
        node: usize,
    },
}

impl Plan {
    /// Operations, each the node of the graph whose number is its place in the list.
    ///
    /// # Errors
    /// When list and graph do not belong together.
    pub fn new(nodes: Vec<PlanNode>, graph: WalkGraph) -> Result<Self, PlanError> {
        if nodes.len() != graph.node_count() {
            return Err(PlanError::Mismatch { nodes: nodes.len(), graph: graph.node_count() });
        }
        let wrong = |(at, node): (usize, &PlanNode)| (*node == PlanNode::Barrier) != graph.is_barrier(at);
        if let Some(node) = nodes.iter().enumerate().position(wrong) {
            return Err(PlanError::Barrier { node });
        }
        Ok(Self { nodes, graph, metadata: BTreeMap::new() })
    }

    /// Adds what instances without an operation are to record; it is written before anything starts.
    #[must_use]
    pub fn recording(mut self, metadata: BTreeMap<AbsResourceInstance, Meta>) -> Self {
        self.metadata = metadata;
        self
    }

    /// The nodes, by number.
    #[must_use]
    pub fn nodes(&self) -> &[PlanNode] {
        &self.nodes
    }

    /// What they wait for.
    #[must_use]
    pub fn graph(&self) -> &WalkGraph {
        &self.graph
    }

    /// What instances without an operation are to record.
    #[must_use]
    pub fn metadata(&self) -> &BTreeMap<AbsResourceInstance, Meta> {
        &self.metadata
    }
}
