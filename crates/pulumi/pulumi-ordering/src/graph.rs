//! The graph of steps, and what of it is walked.

use groundstate_dag::{Cycle, Graph};
use groundstate_schedule::WaitGraph;
use groundstate_schedule::walk::{OnFailure, Relation, WalkGraph, WalkGraphError, WalkOptions};

use crate::{Goal, StackError, Step, StepId};

/// Steps and what they wait for.
#[derive(Clone, Debug)]
pub struct StackGraph {
    pub(crate) steps: Vec<Step>,
    pub(crate) chains: Vec<Vec<StepId>>,
    pub(crate) kept: Vec<StepId>,
    pub(crate) finals: Vec<StepId>,
    pub(crate) edges: Vec<StackEdge>,
    pub(crate) batches: Option<Vec<Vec<StepId>>>,
    /// Nodes behind the steps that only join others.
    pub(crate) barriers: usize,
    pub(crate) goals: Vec<Goal>,
    pub(crate) refused: Vec<StackError>,
    pub(crate) continue_on_error: bool,
    pub(crate) parallelism: usize,
}

/// That one node waits for another. Nodes are the numbers of steps; those behind are barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct StackEdge {
    /// Who waits.
    pub from: usize,
    /// For whom.
    pub to: usize,
    /// What makes the one wait for the other.
    pub reason: StackReason,
}

/// Why a step waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum StackReason {
    /// They belong to one goal, or to the untouched entries, and come one after another.
    Chain,
    /// The goal refers to the other one.
    Reference,
    /// The new object of an entry that was dragged along waits for the deletion of the old one.
    Member,
    /// What depends on the entry was deleted by an earlier replacement.
    Dragged,
    /// An old object is deleted only if there is a new one.
    Replaced,
    /// An entry stays as long as an old entry refers to it that a goal failed to change.
    Rewritten,
    /// Deletions come after all goals.
    End,
    /// What depends on an entry is deleted before it.
    Delete,
    /// A batch comes after the one before.
    Batch,
    /// It does not wait, but stays if the other failed, which needs it by way of entries that stay.
    Needed,
}

impl StackReason {
    /// What the edge means for a walk.
    #[must_use]
    pub fn relation(self) -> Relation {
        match self {
            Self::End | Self::Batch => Relation::After,
            Self::Needed => Relation::Unless,
            Self::Chain
            | Self::Reference
            | Self::Member
            | Self::Dragged
            | Self::Replaced
            | Self::Rewritten
            | Self::Delete => Relation::Needs,
        }
    }
}

impl StackGraph {
    /// All steps: those of goals in the order of registration, the untouched entries, and the deletions at the end from
    /// the last entry of the list to the first.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// One step.
    #[must_use]
    pub fn step(&self, step: StepId) -> &Step {
        &self.steps[step.0]
    }

    /// The steps of each registered goal, in order.
    #[must_use]
    pub fn chains(&self) -> &[Vec<StepId>] {
        &self.chains
    }

    /// The entries that were not selected and stay as they are, where no goal takes them over.
    #[must_use]
    pub fn kept(&self) -> &[StepId] {
        &self.kept
    }

    /// The deletions at the end.
    #[must_use]
    pub fn finals(&self) -> &[StepId] {
        &self.finals
    }

    /// Who waits for whom, and why.
    #[must_use]
    pub fn edges(&self) -> &[StackEdge] {
        &self.edges
    }

    /// The batches of deletions, if that is how they are ordered.
    #[must_use]
    pub fn batches(&self) -> Option<&[Vec<StepId>]> {
        self.batches.as_deref()
    }

    /// The registered goals.
    #[must_use]
    pub fn goals(&self) -> &[Goal] {
        &self.goals
    }

    /// What is refused although the rest goes on: goals, where errors do not stop the run, and deletions of protected
    /// entries.
    #[must_use]
    pub fn refused(&self) -> &[StackError] {
        &self.refused
    }

    /// The steps as a graph that can be walked. The first nodes are the steps, and those behind them are barriers.
    ///
    /// # Errors
    /// Never for a graph that the planner has made.
    pub fn walk_graph(&self) -> Result<WalkGraph, WalkGraphError> {
        let nodes = self.steps.len() + self.barriers;
        let mut builder = WalkGraph::builder(nodes);
        for edge in &self.edges {
            builder.edge(edge.from, edge.to, edge.reason.relation());
        }
        for barrier in self.steps.len()..nodes {
            builder.barrier(barrier);
        }
        builder.build()
    }

    /// How the options of the plan say that it is walked.
    #[must_use]
    pub fn walk_options(&self) -> WalkOptions {
        let on_failure = if self.continue_on_error { OnFailure::Continue } else { OnFailure::Stop };
        WalkOptions::default().parallelism(self.parallelism).on_failure(on_failure)
    }

    /// The steps and barriers as a plain graph, for orders, levels and drawings. An edge leads from who waits to whom for;
    /// barriers have no label.
    #[must_use]
    pub fn to_dag(&self) -> Graph<Option<String>> {
        let mut graph = Graph::with_capacity(self.steps.len() + self.barriers);
        let labels = self.steps.iter().map(|step| Some(step.to_string()));
        let barriers = std::iter::repeat_n(None, self.barriers);
        let nodes: Vec<_> = labels.chain(barriers).map(|label| graph.add_node(label)).collect();
        for edge in self.edges.iter().filter(|edge| edge.reason.relation().waits()) {
            graph.add_edge(nodes[edge.from], nodes[edge.to]);
        }
        graph
    }

    /// The steps in an order in which they can run one after another.
    ///
    /// # Errors
    /// Never for a graph that the planner has made.
    pub fn order(&self) -> Result<Vec<StepId>, Cycle> {
        let waits = self.edges.iter().filter(|edge| edge.reason.relation().waits());
        let edges = waits.map(|edge| (edge.from as u32, edge.to as u32, ())).collect();
        // Barriers take no place in the order: what they let through competes for the next one at once.
        match WaitGraph::new(self.steps.len(), self.steps.len() + self.barriers, edges).order() {
            Some(order) => Ok(order.into_iter().map(|step| StepId(step as usize)).collect()),
            None => {
                let order = self.to_dag().reversed().topo_order()?;
                let steps = order.into_iter().map(|node| StepId(node.index()));
                Ok(steps.filter(|id| id.0 < self.steps.len()).collect())
            }
        }
    }
}
