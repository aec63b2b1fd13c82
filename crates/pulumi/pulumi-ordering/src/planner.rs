//! Plans a stack goal by goal.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use groundstate_pulumi_integrity::{VerifyOptions, verify};
use groundstate_pulumi_snapshot::{Resource, Snapshot, Urn};

use crate::order::End;
use crate::targets::Selection;
use crate::{
    Differ, Goal, StackEdge, StackError, StackGraph, StackIndex, StackOptions, StackReason, Step, StepId,
};

/// Whether the program came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// It did: what it did not register is not wanted any more.
    Finished,
    /// It did not: that something was not registered proves nothing.
    Failed,
}

/// Plans a stack while its program runs: [`register`](Self::register) each goal, then [`finish`](Self::finish).
#[derive(Debug)]
pub struct StackPlanner<'a> {
    pub(crate) index: StackIndex<'a>,
    pub(crate) options: StackOptions,
    pub(crate) selection: Selection,
    pub(crate) steps: Vec<Step>,
    pub(crate) edges: Vec<StackEdge>,
    pub(crate) chains: Vec<Vec<StepId>>,
    pub(crate) kept: Vec<StepId>,
    pub(crate) goals: Vec<Goal>,
    pub(crate) registered: HashMap<Urn, Registered>,
    /// The entries whose goal was registered, or that are kept.
    pub(crate) operated: Vec<bool>,
    /// The step after which an entry has been taken over by the new list.
    pub(crate) completing: Vec<Option<StepId>>,
    /// Entries that are kept as they are.
    pub(crate) untouched: HashSet<usize>,
    /// Entries that a replacement deletes first, with the step; none if the object was gone before.
    pub(crate) dragged: BTreeMap<usize, Option<StepId>>,
    /// Old entries among them that are removed only at the end.
    pub(crate) needed: HashSet<usize>,
    /// Entries of objects that are replaced before they are deleted, with the step that makes the new one.
    pub(crate) outdated: BTreeMap<usize, StepId>,
    pub(crate) replaced: HashSet<Urn>,
    pub(crate) errors: Vec<StackError>,
}

/// What became of a registered goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Registered {
    /// It has steps; what refers to it waits for this one.
    Planned(StepId),
    /// It does not exist and is not selected.
    Absent,
    /// It is not selected, and can be taken over only at the end.
    Deferred(usize),
    /// It is wrong, and the run does not take place.
    Refused,
}

/// Plans a stack at once.
///
/// # Errors
/// Everything that is wrong with the list, the options and the goals. Where errors do not stop the run, wrong goals are in
/// [`StackGraph::refused`] instead.
pub fn plan_stack(
    base: &[Arc<Resource>],
    goals: &[Goal],
    differ: &mut dyn Differ,
    options: &StackOptions,
) -> Result<StackGraph, Vec<StackError>> {
    let mut planner = StackPlanner::new(base, options)?;
    for goal in goals {
        // Errors are kept, and reported with all others.
        planner.register(goal.clone(), differ).ok();
    }
    planner.finish(Program::Finished)
}

impl<'a> StackPlanner<'a> {
    /// Begins with a list.
    ///
    /// # Errors
    /// When the list is damaged, or the options contradict each other.
    pub fn new(base: &'a [Arc<Resource>], options: &StackOptions) -> Result<Self, Vec<StackError>> {
        check(base)?;
        Self::of_sound(base, options)
    }

    /// Begins with a list that [`check`] has found to be in order.
    pub(crate) fn of_sound(
        base: &'a [Arc<Resource>],
        options: &StackOptions,
    ) -> Result<Self, Vec<StackError>> {
        let index = StackIndex::new(base);
        let selection = Selection::new(&index, options).map_err(|error| vec![error])?;
        Ok(Self {
            index,
            options: options.clone(),
            selection,
            steps: Vec::new(),
            edges: Vec::new(),
            chains: Vec::new(),
            kept: Vec::new(),
            goals: Vec::new(),
            registered: HashMap::new(),
            operated: vec![false; base.len()],
            completing: vec![None; base.len()],
            untouched: HashSet::new(),
            dragged: BTreeMap::new(),
            needed: HashSet::new(),
            outdated: BTreeMap::new(),
            replaced: HashSet::new(),
            errors: Vec::new(),
        })
    }

    /// The steps that were planned so far.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Plans the steps of a goal. There may be none, if it is not selected.
    ///
    /// # Errors
    /// When the goal is wrong, or may not be done. The planner goes on; [`finish`](Self::finish) decides what that means.
    pub fn register(&mut self, goal: Goal, differ: &mut dyn Differ) -> Result<&[StepId], StackError> {
        let number = self.goals.len();
        let urn = goal.urn().clone();
        if self.registered.contains_key(&urn) {
            let error = StackError::DuplicateGoal { urn };
            self.errors.push(error.clone());
            return Err(error);
        }
        self.chains.push(Vec::new());
        let planned = self.plan_goal(number, &goal, differ);
        self.goals.push(goal);
        match planned {
            Ok(registered) => {
                self.registered.insert(urn, registered);
                Ok(&self.chains[number])
            }
            Err(error) => {
                self.refuse(number, urn, &error);
                self.errors.push(error.clone());
                Err(error)
            }
        }
    }

    /// Plans what comes at the end.
    ///
    /// # Errors
    /// Everything that is wrong with what was registered, unless errors do not stop the run, and what is selected wrongly.
    pub fn finish(self, program: Program) -> Result<StackGraph, Vec<StackError>> {
        self.finish_with_index(program).map(|(graph, _)| graph)
    }

    /// The same, and gives the index of the list back.
    pub(crate) fn finish_with_index(
        mut self,
        program: Program,
    ) -> Result<(StackGraph, StackIndex<'a>), Vec<StackError>> {
        let known = |urn: &Urn| self.registered.contains_key(urn);
        let mut fatal = Selection::unknown(&self.options, &self.index, known);
        if !self.options.continue_on_error {
            fatal.append(&mut self.errors);
        }
        let mut end = End::default();
        if program == Program::Finished || self.options.continue_on_error {
            end = self.plan_end();
            fatal.append(&mut end.errors);
        }
        if !fatal.is_empty() {
            fatal.sort();
            fatal.dedup();
            return Err(fatal);
        }
        self.errors.append(&mut end.refused);
        let steps = self.steps.len();
        let number = |node: usize| if node >= FIRST_BARRIER { steps + (node - FIRST_BARRIER) } else { node };
        for edge in &mut self.edges {
            (edge.from, edge.to) = (number(edge.from), number(edge.to));
        }
        let graph = StackGraph {
            steps: self.steps,
            chains: self.chains,
            kept: self.kept,
            finals: end.finals,
            edges: self.edges,
            batches: end.batches,
            barriers: end.barriers,
            goals: self.goals,
            refused: self.errors,
            continue_on_error: self.options.continue_on_error,
            parallelism: self.options.parallelism,
        };
        Ok((graph, self.index))
    }

    pub(crate) fn entry(&self, at: usize) -> &'a Resource {
        &self.index.resources()[at]
    }

    pub(crate) fn add(&mut self, step: Step) -> StepId {
        self.steps.push(step);
        StepId(self.steps.len() - 1)
    }

    pub(crate) fn wait(&mut self, from: usize, to: usize, reason: StackReason) {
        self.edges.push(StackEdge { from, to, reason });
    }
}

/// Makes sure that everything a resource refers to stands before it, and that names are live once: what an order rests on.
pub(crate) fn check(list: &[Arc<Resource>]) -> Result<(), Vec<StackError>> {
    let snapshot = Snapshot { resources: list.to_vec(), ..Snapshot::default() };
    let found = verify(&snapshot, &VerifyOptions::default()).findings.into_iter();
    let errors: Vec<StackError> =
        found.filter(|finding| finding.rule.is_of_order()).map(Box::new).map(StackError::Integrity).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Barriers are numbered from here until it is known how many steps there are.
pub(crate) const FIRST_BARRIER: usize = usize::MAX / 2;
