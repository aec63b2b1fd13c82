//! Pairs of operations whose order hangs on a flag that is not known.

use std::collections::BTreeSet;

use groundstate_states::addr::AbsResourceInstance;

use crate::edge::EdgeReason;
use crate::graph::OperationGraph;
use crate::network::Link;
use crate::node::{ApplyKind, NodeKey, OpKind, Part};

/// Two operations whose order a flag decides.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Undecided {
    /// What changes.
    pub change: NodeKey,
    /// The destruction that comes before it, or after it if the object was to be created before it is destroyed.
    pub destruction: NodeKey,
}

impl OperationGraph {
    /// The changes whose order depends on whether one of these instances was to be created before it is destroyed, each
    /// with one such instance. Ask a graph that is not reduced.
    ///
    /// Destructions that wait for all changes in any case are decided, and so is what only other destructions wait for.
    #[must_use]
    pub fn undecided(&self, unknown: &BTreeSet<AbsResourceInstance>) -> Vec<Undecided> {
        if unknown.is_empty() {
            return Vec::new();
        }
        let network = self.network();
        // For each node one of the unknown destructions that it is or leads to through barriers alone.
        let mut leads: Vec<Option<u32>> = vec![None; network.node_count() as usize];
        let mut stack = Vec::new();
        for (number, node) in (0_u32..).zip(self.nodes()) {
            let is_unknown = node.key.part() == Some(Part::Destroy)
                && node.key.addr().is_some_and(|addr| unknown.contains(addr));
            if is_unknown {
                leads[number as usize] = Some(number);
                stack.push(number);
            }
        }
        while let Some(node) = stack.pop() {
            for &waiter in network.waiters(node) {
                if !network.is_operation(waiter) && leads[waiter as usize].is_none() {
                    leads[waiter as usize] = leads[node as usize];
                    stack.push(waiter);
                }
            }
        }
        let turns = |link: Link| {
            use EdgeReason::{ConfigCreate, ConfigUpdate, StoredCreate, StoredUpdate};
            let reasons = [StoredCreate, StoredUpdate, ConfigCreate, ConfigUpdate];
            !link.is_inverted() && reasons.iter().any(|reason| link.reasons().contains(*reason))
        };
        let changes = |kind: OpKind| matches!(kind, OpKind::Apply(kind) if kind != ApplyKind::Check);
        let mut found = Vec::new();
        for (number, node) in (0_u32..).zip(self.nodes()).filter(|(_, node)| changes(node.kind)) {
            let mut links = network.links(number).filter(|(_, link)| turns(*link));
            if let Some(destruction) = links.find_map(|(to, _)| leads[to as usize]) {
                let destruction = self.nodes()[destruction as usize].key.clone();
                found.push(Undecided { change: node.key.clone(), destruction });
            }
        }
        found
    }
}
