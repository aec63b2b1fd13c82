//! Questions to a graph: order, waves, what precedes what, and why.

use std::collections::HashSet;

use groundstate_schedule::{WaitCycle, Waves};
use groundstate_states::addr::AbsResourceInstance;

use crate::edge::{EdgeReason, Reasons};
use crate::graph::{CyclicGraph, OperationGraph};
use crate::network::{Link, RawEdge};
use crate::node::{NodeKey, OpNode};
use crate::report::{CycleReport, CycleStep};

/// One step of a chain of reasons: `from` waits for `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Step {
    /// The node that waits.
    pub from: NodeKey,
    /// The node that is waited for.
    pub to: NodeKey,
    /// What makes the one wait for the other.
    pub reasons: Reasons,
    /// Turned round, since the new object comes before the old one goes.
    pub inverted: bool,
}

/// How two nodes, or the operations on two instances, are ordered.
pub type Explanation = groundstate_schedule::Explanation<Step>;

/// Something that has to be done before what was asked about can go.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Affected {
    /// The operation.
    pub key: NodeKey,
    /// How many steps away it is; 1 is next to it.
    pub distance: usize,
    /// The step on the way back: what of the nearer ones waits for it, and why.
    pub step: Step,
}

impl OperationGraph {
    /// The nodes in an order that keeps to all edges; of those that are ready, the one with the smallest key comes next.
    ///
    /// # Errors
    ///
    /// When the graph has cycles.
    pub fn order(&self) -> Result<Vec<&OpNode>, CyclicGraph> {
        Ok(self.order_numbers()?.into_iter().map(|node| &self.nodes()[node]).collect())
    }

    /// As [`order`](Self::order), by number.
    ///
    /// # Errors
    ///
    /// When the graph has cycles.
    pub fn order_numbers(&self) -> Result<Vec<usize>, CyclicGraph> {
        let order = self.network().order().ok_or(CyclicGraph)?;
        Ok(order.into_iter().map(|node| node as usize).collect())
    }

    /// Which nodes can run at the same time.
    ///
    /// # Errors
    ///
    /// When the graph has cycles.
    pub fn waves(&self) -> Result<Waves, CyclicGraph> {
        self.network().waves().ok_or(CyclicGraph)
    }

    /// Whether the first node is done before the second can start.
    ///
    /// # Panics
    ///
    /// When the graph has no such node.
    #[must_use]
    pub fn precedes(&self, first: usize, second: usize) -> bool {
        self.network().reaches(second as u32, first as u32)
    }

    /// Whether the two nodes may run at the same time.
    ///
    /// # Panics
    ///
    /// When the graph has no such node.
    #[must_use]
    pub fn concurrent(&self, a: usize, b: usize) -> bool {
        a != b && !self.precedes(a, b) && !self.precedes(b, a)
    }

    /// How two nodes are ordered, with a shortest chain of reasons.
    #[must_use]
    pub fn explain(&self, a: &NodeKey, b: &NodeKey) -> Explanation {
        let (Some(a), Some(b)) = (self.find(a), self.find(b)) else { return Explanation::Absent };
        self.explain_any(&[a], &[b])
    }

    /// How the operations on two instances are ordered: the shortest chain of direct reasons between any of them.
    ///
    /// States record dependencies with all that follows from them. What follows is no reason of its own, so the chain runs
    /// along the graph without it.
    #[must_use]
    pub fn why(&self, a: &AbsResourceInstance, b: &AbsResourceInstance) -> Explanation {
        self.why_any(std::slice::from_ref(a), std::slice::from_ref(b))
    }

    /// As [`why`](Self::why) for sets of instances, such as those of a module or of a counted resource.
    #[must_use]
    pub fn why_any(&self, a: &[AbsResourceInstance], b: &[AbsResourceInstance]) -> Explanation {
        let operations = |set: &[AbsResourceInstance]| -> Vec<usize> {
            set.iter().flat_map(|addr| self.operations_on(addr)).collect()
        };
        self.explain_any(&operations(a), &operations(b))
    }

    fn explain_any(&self, a: &[usize], b: &[usize]) -> Explanation {
        self.network().explain(a, b, |(from, to, link)| self.step(from, to, link))
    }

    /// What must go if an instance goes: everything that the destruction of its objects waits for, the nearest first.
    ///
    /// On a graph that destroys everything these are the destructions of all that depends on it. Distances count direct
    /// steps, as the chains of [`why`](Self::why) do.
    #[must_use]
    pub fn blast(&self, addr: &AbsResourceInstance) -> Vec<Affected> {
        self.blast_all(std::slice::from_ref(addr))
    }

    /// As [`blast`](Self::blast) for several instances that go together; they themselves are not listed.
    #[must_use]
    pub fn blast_all(&self, addrs: &[AbsResourceInstance]) -> Vec<Affected> {
        let asked: HashSet<&AbsResourceInstance> = addrs.iter().collect();
        let is_goal = |node: usize| self.nodes()[node].key.part().is_some_and(crate::node::Part::is_destroy);
        let starts = asked.iter().flat_map(|addr| self.operations_on(addr));
        let starts: Vec<usize> = starts.filter(|&node| is_goal(node)).collect();
        let addr_of = |node: u32| self.nodes()[node as usize].key.addr();
        let is_operation = |node: u32| addr_of(node).is_some();
        let affected = |(distance, (from, to, link)): (usize, RawEdge)| Affected {
            key: self.nodes()[to as usize].key.clone(),
            distance,
            step: self.step(from, to, link),
        };
        let found = self.network().nearest(&starts, is_operation);
        let others =
            |&(_, (_, to, _)): &(usize, RawEdge)| addr_of(to).is_some_and(|addr| !asked.contains(addr));
        let mut found: Vec<Affected> = found.into_iter().filter(others).map(affected).collect();
        found.sort_by(|a, b| (a.distance, &a.key).cmp(&(b.distance, &b.key)));
        found
    }

    /// The nodes that targets select, or that excludes leave, by number. One of the lists is to be empty.
    #[must_use]
    pub fn select(
        &self,
        targets: &[groundstate_states::addr::Target],
        excludes: &[groundstate_states::addr::Target],
    ) -> Vec<usize> {
        let kept = crate::select::kept(self.network(), self.nodes(), targets, excludes);
        kept.into_iter().enumerate().filter(|(_, keep)| *keep).map(|(node, _)| node).collect()
    }

    fn step(&self, from: u32, to: u32, link: Link) -> Step {
        let key = |node: u32| self.nodes()[node as usize].key.clone();
        Step { from: key(from), to: key(to), reasons: link.reasons(), inverted: link.is_inverted() }
    }

    /// The cycles, if there are any. Only the graph inside [`BuildErrors`](crate::BuildErrors) has some.
    #[must_use]
    pub fn cycles(&self) -> Vec<CycleReport<NodeKey>> {
        self.network().cycles().iter().map(|cycle| self.report(cycle)).collect()
    }

    fn report(&self, cycle: &WaitCycle<Link>) -> CycleReport<NodeKey> {
        let key = |node: u32| self.nodes()[node as usize].key.clone();
        let step = |&(from, to, link): &RawEdge| CycleStep {
            from: key(from),
            to: key(to),
            reasons: link.reasons(),
            inverted: link.is_inverted(),
        };
        let path: Vec<CycleStep<NodeKey>> = cycle.path.iter().map(step).collect();
        let cut: Vec<CycleStep<NodeKey>> =
            path.iter().filter(|step| step.reasons.iter().any(EdgeReason::is_stored)).cloned().collect();
        let (smallest, proven) = self.network().smallest_cut(cycle, Link::is_not_only_stored);
        CycleReport {
            members: cycle.members.iter().map(|&node| key(node)).collect(),
            state_is_stale: cycle.path.iter().any(|edge| self.is_reversed(edge)),
            path,
            cut,
            smallest_cut: smallest.iter().map(step).collect(),
            cut_is_smallest: proven,
        }
    }

    /// Whether configuration says the reverse of what a state records to make the edge.
    fn is_reversed(&self, &(from, to, link): &RawEdge) -> bool {
        let reasons = link.reasons();
        let resource = |node: u32| {
            let addr = self.nodes()[node as usize].key.addr()?.resource.to_config();
            let known = &self.config().resources;
            known.binary_search_by(|other| crate::node::cmp_resources(other, &addr)).ok()
        };
        let (Some(from), Some(to)) = (resource(from), resource(to)) else { return false };
        let depends = |a: usize, b: usize| self.config().closure(a as u32).contains(&(b as u32));
        // A creation waits for the destruction of what it depends on; all other edges go against the dependency.
        let along = reasons.contains(EdgeReason::StoredCreate) != link.is_inverted();
        let against = reasons.contains(EdgeReason::StoredDestroy)
            || reasons.contains(EdgeReason::StoredUpdate) != link.is_inverted();
        (along && depends(to, from)) || (against && depends(from, to))
    }
}
