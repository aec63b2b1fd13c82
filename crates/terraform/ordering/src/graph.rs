//! The operation graph: what there is to do, and what waits for what.

use std::collections::BTreeMap;

use groundstate_schedule::Scratch;
use groundstate_states::addr::{AbsResourceInstance, ConfigResource};

use crate::cbd::{Causes, CbdCause};
use crate::config::Config;
use crate::edge::{DroppedEdge, Edge};
use crate::error::{BuildError, BuildErrors, Warning};
use crate::input::ReplaceOrder;
use crate::network::{Link, Network};
use crate::node::{NodeKey, OpNode, cmp_resources};

/// Single operations, and which of them wait for which.
///
/// Nodes are numbered by their place in [`nodes`](Self::nodes), which is the order of their keys.
#[derive(Clone, Debug)]
pub struct OperationGraph {
    nodes: Vec<OpNode>,
    network: Network,
    dropped: Vec<DroppedEdge>,
    orders: BTreeMap<AbsResourceInstance, ReplaceOrder>,
    persisted: Persisted,
    config: Config,
    warnings: Vec<Warning>,
    /// Keys of objects that are yet to be deposed are counted, and will be others when it is done.
    invented_keys: bool,
}

/// What is to be written back, before it is worked out.
#[derive(Clone, Debug)]
pub(crate) struct Persisted {
    /// Desired instances in order, with their resources and effective flags.
    pub(crate) instances: Vec<(AbsResourceInstance, u32, bool)>,
    pub(crate) causes: Causes,
}

/// What a state is to record about an instance after its operation, or without one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct PersistMeta {
    /// The effective flag.
    pub create_before_destroy: bool,
    /// Everything the configuration of the resource depends on, in order.
    pub dependencies: Vec<ConfigResource>,
}

/// The graph has cycles, so it has no order. Only the graph inside [`BuildErrors`] can be so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the graph has cycles, so there is no order: break them first")]
pub struct CyclicGraph;

impl OperationGraph {
    pub(crate) fn new(
        nodes: Vec<OpNode>,
        network: Network,
        dropped: Vec<DroppedEdge>,
        orders: BTreeMap<AbsResourceInstance, ReplaceOrder>,
        persisted: Persisted,
        config: Config,
        warnings: Vec<Warning>,
    ) -> Self {
        Self { nodes, network, dropped, orders, persisted, config, warnings, invented_keys: false }
    }

    /// The graph, if it has no cycle.
    pub(crate) fn checked(self) -> Result<Self, BuildErrors> {
        let mut errors: Vec<BuildError> = self
            .network
            .self_loops()
            .into_iter()
            .map(|node| BuildError::SelfReference { node: self.nodes[node as usize].key.clone() })
            .collect();
        if errors.is_empty() && self.network.graph().topo_order().is_some() {
            return Ok(self);
        }
        errors.extend(self.cycles().into_iter().map(BuildError::Cycle));
        Err(BuildErrors { errors, cyclic: Some(Box::new(self)) })
    }

    /// All nodes, in the order of their keys.
    #[must_use]
    pub fn nodes(&self) -> &[OpNode] {
        &self.nodes
    }

    /// The number of the node with this key.
    #[must_use]
    pub fn find(&self, key: &NodeKey) -> Option<usize> {
        self.nodes.binary_search_by(|node| node.key.cmp(key)).ok()
    }

    /// The numbers of the operations on an instance.
    pub fn operations_on(&self, addr: &AbsResourceInstance) -> impl Iterator<Item = usize> {
        let first = NodeKey::operation(addr.clone(), crate::node::Part::Apply);
        let start = self.nodes.partition_point(|node| node.key < first);
        let same = self.nodes[start..].iter().take_while(|node| node.key.addr() == Some(addr)).count();
        start..start + same
    }

    /// All edges, by the node that waits and then by the one waited for.
    ///
    /// The graph holds many of them as one where whole groups wait for whole groups, so there may be far more than fit into
    /// memory: 50,000 instances that depend on 50,000 others are 2,500,000,000 edges.
    pub fn edges(&self) -> impl Iterator<Item = Edge<'_>> {
        self.network.edges().map(|(from, to, link)| Edge {
            from: &self.nodes[from as usize].key,
            to: &self.nodes[to as usize].key,
            reasons: link.reasons(),
            inverted: link.is_inverted(),
        })
    }

    /// What one node waits for directly, in order.
    ///
    /// # Panics
    ///
    /// When the graph has no such node.
    #[must_use]
    pub fn dependencies(&self, node: usize) -> Vec<Edge<'_>> {
        let found = self.network.waits(node as u32, &mut Scratch::default());
        let edge = |(to, link): (u32, Link)| Edge {
            from: &self.nodes[node].key,
            to: &self.nodes[to as usize].key,
            reasons: link.reasons(),
            inverted: link.is_inverted(),
        };
        found.into_iter().map(edge).collect()
    }

    /// Finds what a node waits for directly, by number and without reasons. Its memory lasts from one node to the next, so that
    /// asking for all of them takes no longer than there are edges.
    pub fn dependency_finder(&self) -> impl FnMut(usize) -> Vec<usize> {
        let mut scratch = Scratch::default();
        move |node| {
            let found = self.network.waits(node as u32, &mut scratch);
            found.into_iter().map(|(to, _)| to as usize).collect()
        }
    }

    /// How many nodes and edges a drawing or the JSON of the graph has. Where many nodes wait for many, further nodes stand
    /// for groups of edges.
    #[must_use]
    pub fn written_size(&self) -> (usize, usize) {
        let groups = self.network.written_barriers() as usize;
        (self.nodes.len() + groups, self.network.written_edges().count())
    }

    /// Whether the edges are few enough to list what each node waits for; they may be as many as the square of the nodes.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        self.network.is_sparse()
    }

    /// The label of a node as it is known before anything is done: the key under which an object will be deposed is not
    /// known yet, unless the caller of [`build_with`](crate::build_with) gave it.
    ///
    /// # Panics
    ///
    /// When the graph has no such node.
    #[must_use]
    pub fn label(&self, node: usize) -> String {
        let node = &self.nodes[node];
        match (node.key.addr(), self.is_unborn(node)) {
            (Some(addr), true) => format!("{addr} (destroy the old one)"),
            _ => node.key.to_string(),
        }
    }

    /// The label of the node with this key; see [`label`](Self::label).
    #[must_use]
    pub fn label_of(&self, key: &NodeKey) -> String {
        self.find(key).map_or_else(|| key.to_string(), |node| self.label(node))
    }

    /// Whether the key of the deposed object is made up.
    pub(crate) fn is_unborn(&self, node: &OpNode) -> bool {
        use crate::node::{OpKind, Part};
        let OpKind::DestroyDeposed(key) = node.kind else { return false };
        let successor = node.key.addr().map(|addr| NodeKey::operation(addr.clone(), Part::Apply));
        let successor = successor.and_then(|successor| self.find(&successor));
        self.invented_keys && successor.is_some_and(|successor| self.nodes[successor].deposes_to == Some(key))
    }

    pub(crate) fn has_invented_keys(&self) -> bool {
        self.invented_keys
    }

    /// Says that the keys of objects that are yet to be deposed are made up.
    pub(crate) fn with_invented_keys(mut self) -> Self {
        self.invented_keys = true;
        self
    }

    /// No more edges than these come from [`edges`](Self::edges). Found without looking at each, so it is worth asking
    /// before they are listed.
    #[must_use]
    pub fn edge_bound(&self) -> u64 {
        self.network.edge_bound()
    }

    /// How many edges the compact form holds. It grows with nodes, references and records, not with pairs.
    #[must_use]
    pub fn edge_count_encoded(&self) -> usize {
        self.network.graph().edge_count()
    }

    /// Edges between providers that were given up for the sake of an order.
    #[must_use]
    pub fn dropped(&self) -> &[DroppedEdge] {
        &self.dropped
    }

    /// In which order each replacement is done; never `Auto`.
    #[must_use]
    pub fn orders(&self) -> &BTreeMap<AbsResourceInstance, ReplaceOrder> {
        &self.orders
    }

    /// What is odd about the input.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// What a state is to record about an instance; nothing for one that is not to exist.
    ///
    /// It is to be recorded of instances without an operation too, or a flag passed on to them is lost. Worked out at each
    /// call, by a search through what the resource depends on.
    #[must_use]
    pub fn persist(&self, addr: &AbsResourceInstance) -> Option<PersistMeta> {
        let all = &self.persisted.instances;
        let at = all.binary_search_by(|(other, ..)| crate::node::cmp_instances(other, addr)).ok()?;
        let (_, resource, cbd) = &all[at];
        Some(PersistMeta { create_before_destroy: *cbd, dependencies: self.recorded_dependencies(*resource) })
    }

    /// What a state is to record about each desired instance, in order.
    pub fn persist_all(&self) -> impl Iterator<Item = (&AbsResourceInstance, PersistMeta)> {
        let mut last: Option<(u32, Vec<ConfigResource>)> = None;
        self.persisted.instances.iter().map(move |(addr, resource, cbd)| {
            let dependencies = match &last {
                Some((same, dependencies)) if same == resource => dependencies.clone(),
                _ => self.recorded_dependencies(*resource),
            };
            last = Some((*resource, dependencies.clone()));
            (addr, PersistMeta { create_before_destroy: *cbd, dependencies })
        })
    }

    /// What a state is to record about each desired instance, in order; nothing where that is far more than the graph.
    pub(crate) fn persist_bounded(&self) -> Option<Vec<(&AbsResourceInstance, PersistMeta)>> {
        const MOST: usize = 20_000;
        const EACH: usize = 8;
        let edges = self.config.graph.edge_count() + self.network.graph().edge_count();
        let mut left = MOST + EACH * (self.nodes.len() + self.persisted.instances.len() + edges);
        let mut all = Vec::new();
        for (addr, meta) in self.persist_all() {
            left = left.checked_sub(meta.dependencies.len())?;
            all.push((addr, meta));
        }
        Some(all)
    }

    fn recorded_dependencies(&self, resource: u32) -> Vec<ConfigResource> {
        let closure = self.config.closure(resource);
        closure.into_iter().map(|resource| self.config.resources[resource as usize].clone()).collect()
    }

    /// Why replacements of a resource create before they destroy; nothing when they do not.
    #[must_use]
    pub fn cbd_cause(&self, resource: &ConfigResource) -> Option<CbdCause> {
        let at = self.config.resources.binary_search_by(|other| cmp_resources(other, resource)).ok()?;
        self.persisted.causes.explain(&self.config, u32::try_from(at).ok()?)
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }
}
