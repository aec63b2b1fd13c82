//! The list while steps end: valid after every one of them.

use crate::{StackEntry, StackGraph, Step, StepId, StepKind, Urn};

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// It did what it was to do. Steps that make, change or read an object say what its id is.
    Succeeded {
        /// The id; an update that gives none keeps the old one.
        id: Option<String>,
    },
    /// It did not.
    Failed {
        /// The id of an object that was made or changed in part.
        partial: Option<String>,
        /// What went wrong with that object.
        errors: Vec<String>,
    },
}

/// What kind of provider call was noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperationKind {
    /// An object is made.
    Creating,
    /// An object is changed.
    Updating,
    /// An object is deleted.
    Deleting,
    /// An object is read.
    Reading,
    /// An object is taken over.
    Importing,
}

/// A note that a provider was about to be called, written before the call and removed after it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PendingOperation {
    /// What was about to happen.
    pub kind: OperationKind,
    /// To which entry.
    pub urn: Urn,
    /// Its id, if it had one.
    pub id: Option<String>,
}

/// An outcome that does not go with its step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// A provider made an object without saying what it is called.
    #[error(
        "{urn} was made, but its provider gave no id; report this to its authors and look for the object"
    )]
    NoId {
        /// The resource.
        urn: Urn,
    },
    /// The step is not one of this list.
    #[error("the step for {urn} is about an entry or a goal that does not exist, plan again")]
    UnknownStep {
        /// The resource.
        urn: Urn,
    },
}

/// What is written after every step: new entries in the order in which steps ended, then the old ones that are left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotList {
    new: Vec<StackEntry>,
    base: Vec<StackEntry>,
    done: Vec<bool>,
    operations: Vec<PendingOperation>,
}

impl SnapshotList {
    /// Begins with a list, and with the notes of an earlier run that was interrupted.
    #[must_use]
    pub fn new(base: Vec<StackEntry>, operations: Vec<PendingOperation>) -> Self {
        Self { new: Vec::new(), done: vec![false; base.len()], base, operations }
    }

    /// The entries, as they are to be written.
    pub fn entries(&self) -> impl Iterator<Item = &StackEntry> {
        let left = self.base.iter().zip(&self.done).filter(|(_, done)| !**done).map(|(entry, _)| entry);
        self.new.iter().chain(left)
    }

    /// The notes, as they are to be written.
    #[must_use]
    pub fn operations(&self) -> &[PendingOperation] {
        &self.operations
    }

    /// Removes the notes of an earlier run, once they were reported, but for those of objects that were being made: only
    /// they hint at unrecorded objects, so the user removes them.
    pub fn settle_operations(&mut self) {
        self.operations.retain(|operation| operation.kind == OperationKind::Creating);
    }

    /// Removes one note, which the user has looked into.
    pub fn resolve_operation(&mut self, operation: &PendingOperation) {
        if let Some(at) = self.operations.iter().position(|noted| noted == operation) {
            self.operations.remove(at);
        }
    }

    /// Notes that a step is about to call its provider. Write the list before the call.
    pub fn begin(&mut self, graph: &StackGraph, step: StepId) {
        if let Some(operation) = self.operation(graph, graph.step(step)) {
            self.operations.push(operation);
        }
    }

    /// Does what the end of a step does to the list. Write it before anything starts that waits for the step.
    ///
    /// # Errors
    /// When the outcome does not go with the step: nothing is changed then, so the note of it stays.
    pub fn end(
        &mut self,
        graph: &StackGraph,
        step: StepId,
        outcome: &StepOutcome,
    ) -> Result<(), SnapshotError> {
        let step = graph.step(step);
        let noted = self.operation(graph, step);
        match outcome {
            StepOutcome::Succeeded { id } => self.succeed(graph, step, id.as_deref())?,
            StepOutcome::Failed { partial: Some(id), errors } => self.fail(graph, step, id, errors)?,
            StepOutcome::Failed { partial: None, .. } => {}
        }
        if let Some(noted) = noted {
            self.resolve_operation(&noted);
        }
        Ok(())
    }

    fn succeed(&mut self, graph: &StackGraph, step: &Step, id: Option<&str>) -> Result<(), SnapshotError> {
        match step.kind {
            StepKind::Same if step.keeps_old => {
                let entry = self.old(step)?.clone();
                self.append(step, entry);
            }
            StepKind::Same => {
                let old = self.old(step)?;
                let (id, init_errors) = (old.id.clone(), old.init_errors.clone());
                let entry = StackEntry { id, init_errors, ..goal_entry(graph, step)? };
                self.append(step, entry);
            }
            StepKind::Create | StepKind::Update | StepKind::Read | StepKind::CreateReplacement => {
                let known = if step.kind == StepKind::Update { self.old(step)?.id.clone() } else { None };
                let entry = goal_entry(graph, step)?;
                let id = id.map(str::to_owned).or(known);
                if entry.custom && id.is_none() {
                    return Err(SnapshotError::NoId { urn: step.urn.clone() });
                }
                self.append(step, StackEntry { id, ..entry });
            }
            StepKind::Replace => {}
            StepKind::DeleteReplaced | StepKind::Delete | StepKind::RemovePending => self.delete(step),
        }
        Ok(())
    }

    /// An object that exists in part is recorded; deletions that fail change nothing.
    fn fail(
        &mut self,
        graph: &StackGraph,
        step: &Step,
        id: &str,
        errors: &[String],
    ) -> Result<(), SnapshotError> {
        if matches!(step.kind, StepKind::Create | StepKind::Update | StepKind::CreateReplacement) {
            let (id, init_errors) = (Some(id.to_owned()), errors.to_vec());
            let entry = StackEntry { id, init_errors, ..goal_entry(graph, step)? };
            self.append(step, entry);
        }
        Ok(())
    }

    /// Appends a new entry, and makes of the old one what the step says.
    fn append(&mut self, step: &Step, entry: StackEntry) {
        self.new.push(entry);
        let Some(at) = step.entry.filter(|&at| at < self.base.len()) else { return };
        let replaces = match step.kind {
            StepKind::CreateReplacement => !step.drops_old && !step.delete_first,
            StepKind::Read => !self.base[at].external,
            _ => false,
        };
        if replaces {
            self.base[at].delete = true;
        } else {
            self.done[at] = true;
        }
    }

    fn delete(&mut self, step: &Step) {
        for at in step.entries().filter(|&at| at < self.base.len()).collect::<Vec<_>>() {
            if step.is_final || self.base[at].delete && !step.keeps_entry {
                self.done[at] = true;
            } else {
                self.base[at].pending_replacement = true;
            }
        }
    }

    fn old(&self, step: &Step) -> Result<&StackEntry, SnapshotError> {
        let old = step.entry.and_then(|at| self.base.get(at));
        old.ok_or_else(|| SnapshotError::UnknownStep { urn: step.urn.clone() })
    }

    fn operation(&self, graph: &StackGraph, step: &Step) -> Option<PendingOperation> {
        if !step.calls_provider {
            return None;
        }
        let adopts = step.goal.and_then(|goal| graph.goals().get(goal)).and_then(|goal| goal.adopts.clone());
        let old = || step.entry.and_then(|at| self.base.get(at)).and_then(|entry| entry.id.clone());
        let (kind, id) = match step.kind {
            StepKind::Create | StepKind::CreateReplacement if adopts.is_some() => {
                (OperationKind::Importing, adopts)
            }
            StepKind::Create | StepKind::CreateReplacement => (OperationKind::Creating, None),
            StepKind::Update => (OperationKind::Updating, old()),
            StepKind::Read => (OperationKind::Reading, old()),
            StepKind::DeleteReplaced | StepKind::Delete => (OperationKind::Deleting, old()),
            StepKind::Same | StepKind::Replace | StepKind::RemovePending => return None,
        };
        Some(PendingOperation { kind, urn: step.urn.clone(), id })
    }
}

fn goal_entry(graph: &StackGraph, step: &Step) -> Result<StackEntry, SnapshotError> {
    let goal = step.goal.and_then(|goal| graph.goals().get(goal));
    goal.map(|goal| goal.entry(None)).ok_or_else(|| SnapshotError::UnknownStep { urn: step.urn.clone() })
}
