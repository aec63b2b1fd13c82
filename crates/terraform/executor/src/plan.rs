//! What is to be done: operations, and what they wait for.

use std::collections::BTreeMap;
use std::sync::Arc;

use groundstate_ordering::effects::{Meta, Operation};
use groundstate_ordering::{ApplyKind, NodeKey, OpKind, OpNode, OperationGraph, PersistMeta};
use groundstate_schedule::walk::{WalkGraph, WalkGraphError};
use groundstate_states::State;
use groundstate_states::addr::{AbsResourceInstance, InstanceKey, ProviderConfig, ProviderInstance};

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
    graph: Arc<WalkGraph>,
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
    /// The operations wait for each other.
    #[error("the plan has a cycle and cannot be carried out")]
    Cycle(#[from] WalkGraphError),
    /// The state does not say which provider manages an object that is to be removed from it.
    #[error("{addr} is not in the state, so nothing can be removed; refresh and plan again")]
    NoProvider {
        /// The instance.
        addr: Box<AbsResourceInstance>,
    },
}

impl Plan {
    /// The operations of a graph, which was built for this state.
    ///
    /// # Errors
    /// When the graph has cycles, or was built for another state.
    ///
    /// # Examples
    /// ```
    /// use groundstate_executor::Plan;
    /// use groundstate_ordering::{Input, Options, build};
    /// use groundstate_states::State;
    ///
    /// let state = State::new();
    /// let graph = build(&Input::destroy(&state), &Options::destroy())?;
    /// assert!(Plan::from_graph(&graph, &state)?.nodes().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_graph(graph: &OperationGraph, state: &State) -> Result<Self, PlanError> {
        let walk = graph.to_walk()?;
        let mut metadata: BTreeMap<_, _> =
            graph.persist_all().map(|(addr, meta)| (addr.clone(), meta_of(meta))).collect();
        let node = |node: &OpNode| {
            Ok(match &node.key {
                NodeKey::Provider(provider) => PlanNode::Configure(provider.clone()),
                NodeKey::ProviderClose(provider) => PlanNode::Close(provider.clone()),
                NodeKey::Operation { addr, .. } => {
                    let applies = matches!(node.kind, OpKind::Apply(_));
                    let meta = if applies { metadata.remove(addr) } else { None };
                    PlanNode::Operation(operation(node, addr, meta.unwrap_or_default(), state)?)
                }
            })
        };
        let mut nodes = graph.nodes().iter().map(node).collect::<Result<Vec<_>, PlanError>>()?;
        nodes.resize(walk.node_count(), PlanNode::Barrier);
        // What has no operation of its own is only recorded anew; checks change nothing, so theirs is written here too.
        for node in graph.nodes().iter().filter(|node| node.kind == OpKind::Apply(ApplyKind::Check)) {
            if let Some((addr, meta)) = node.key.addr().and_then(|addr| Some((addr, graph.persist(addr)?))) {
                metadata.insert(addr.clone(), meta_of(meta));
            }
        }
        Ok(Self::new(nodes, walk)?.recording(metadata))
    }

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
        Ok(Self { nodes, graph: Arc::new(graph), metadata: BTreeMap::new() })
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
    pub fn graph(&self) -> &Arc<WalkGraph> {
        &self.graph
    }

    /// What instances without an operation are to record.
    #[must_use]
    pub fn metadata(&self) -> &BTreeMap<AbsResourceInstance, Meta> {
        &self.metadata
    }
}

fn meta_of(meta: PersistMeta) -> Meta {
    let PersistMeta { create_before_destroy, dependencies, .. } = meta;
    Meta { create_before_destroy, dependencies }
}

fn operation(
    node: &OpNode,
    addr: &AbsResourceInstance,
    meta: Meta,
    state: &State,
) -> Result<Operation, PlanError> {
    let recorded = state.resource_provider(&addr.resource);
    let config = node.provider.as_ref().or(recorded);
    let config = config.ok_or_else(|| PlanError::NoProvider { addr: Box::new(addr.clone()) })?.clone();
    // Graphs know configurations, not their instances: as long as the configuration stays, so does its instance.
    let instance = state.resource_instance(addr).filter(|_| recorded == Some(&config));
    let key = instance.map_or(InstanceKey::None, |instance| instance.provider_key.clone());
    let operation = Operation::new(addr.clone(), node.kind, ProviderInstance { config, key }).recording(meta);
    let operation = operation.skipping_destroy(node.skip_destroy);
    Ok(match node.deposes_to {
        Some(key) => operation.deposing(key),
        None => operation,
    })
}
