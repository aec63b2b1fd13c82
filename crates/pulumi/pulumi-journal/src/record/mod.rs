//! The recorder: what an engine does, as entries.

mod error;
mod steps;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use groundstate_pulumi_deployment::has_byte_strings;
use groundstate_pulumi_snapshot::{Resource, SecretsProvider, Snippet};

pub use error::RecordError;

use crate::engine::{Base, State, StateId, Step, StepKind, outputs_changed};
use crate::entry::{Entry, EntryKind, Target};
use crate::ids::{OperationId, SequenceId};

/// Turns what an engine does into entries.
///
/// It numbers entries and operations, and knows by which number each state can be named. Entries hold what states were when
/// they were made. They count in the order in which they were made, whatever order they are stored in.
///
/// ```
/// use groundstate_pulumi_snapshot::{Resource, Snapshot};
/// use groundstate_pulumi_journal::{Base, Recorder, State, Step, StepKind};
///
/// let base = Base::new(Snapshot::new([Resource::new("urn:a", "t")]));
/// let mut recorder = Recorder::new(&base);
///
/// let new = State::new(Resource::new("urn:a", "t"));
/// let (running, begin) = recorder.begin(Step::new(StepKind::Update, Some(&base.states[0]), Some(&new)))?;
/// assert_eq!(begin.unwrap().entry.to_string(), "(1, 1): begin, operation(updating)");
/// let end = recorder.end(running, true)?;
/// assert_eq!(end.unwrap().entry.to_string(), "(2, 1): success, removeOld:0, state(urn:a)");
/// # Ok::<(), groundstate_pulumi_journal::RecordError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Recorder {
    old: HashMap<StateId, usize>,
    new: HashMap<StateId, OperationId>,
    /// Every state that has a number, so that no other one takes its place in memory.
    held: Vec<State>,
    /// Operations whose states were recorded since the base was rebuilt, and are still there.
    recorded: HashSet<OperationId>,
    sequence: SequenceId,
    operation: OperationId,
    /// Something was said about the base.
    is_used: bool,
    is_ended: bool,
}

/// An entry, and how urgent it is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Recorded {
    /// The entry.
    pub entry: Entry,
    /// It need not be stored before the engine goes on: it says nothing that a later one does not say as well.
    pub elided: bool,
}

/// A step that has begun.
#[derive(Debug)]
#[must_use = "a step that has begun stays pending until it ends"]
pub struct Running {
    operation: OperationId,
    step: Step,
}

impl Running {
    /// The number of the operation.
    pub fn operation(&self) -> OperationId {
        self.operation
    }

    /// The step.
    pub fn step(&self) -> &Step {
        &self.step
    }
}

impl Recorder {
    /// A recorder of an engine that begins with a base.
    pub fn new(base: &Base) -> Self {
        Self {
            old: places(base),
            new: HashMap::new(),
            held: base.states.clone(),
            recorded: HashSet::new(),
            sequence: SequenceId::default(),
            operation: OperationId::default(),
            is_used: false,
            is_ended: false,
        }
    }

    /// Records the secrets manager, which a journal begins with.
    ///
    /// # Errors
    ///
    /// See [`RecordError`].
    pub fn secrets_manager(&mut self, provider: SecretsProvider) -> Result<Recorded, RecordError> {
        self.check_open()?;
        let mut entry = self.entry(EntryKind::SecretsManager, OperationId::default());
        entry.secrets_provider = Some(Box::new(provider));
        Ok(Recorded { entry, elided: true })
    }

    /// Records all snippets there are.
    ///
    /// # Errors
    ///
    /// See [`RecordError`].
    pub fn snippets(&mut self, snippets: Vec<Snippet>) -> Result<Recorded, RecordError> {
        self.check_open()?;
        let mut entry = self.entry(EntryKind::Snippets, OperationId::default());
        entry.snippets = snippets;
        Ok(Recorded { entry, elided: false })
    }

    /// Records that the engine begins with another base.
    ///
    /// # Errors
    ///
    /// A step has begun already.
    pub fn write(&mut self, base: &Base) -> Result<Recorded, RecordError> {
        self.check_open()?;
        if self.is_used {
            return Err(RecordError::LateWrite { operations: self.operation.get() });
        }
        self.old = places(base);
        self.held.clone_from(&base.states);
        let snapshot = base.snapshot();
        let mut entry = self.entry(EntryKind::Write, OperationId::default());
        entry.requires_byte_string = snapshot.resources.iter().any(|resource| has_byte_strings(resource));
        entry.new_snapshot = Some(Box::new(snapshot));
        Ok(Recorded { entry, elided: false })
    }

    /// Records that the engine goes on with a base that it made of what it knows after a refresh.
    ///
    /// # Errors
    ///
    /// See [`RecordError`].
    pub fn rebuilt(&mut self, base: &Base) -> Result<Recorded, RecordError> {
        self.check_open()?;
        self.is_used = true;
        self.is_ended = !self.recorded.is_empty();
        self.old = places(base);
        self.held.clone_from(&base.states);
        self.new.clear();
        self.recorded.clear();
        let entry = self.entry(EntryKind::RebuiltBaseState, OperationId::default());
        Ok(Recorded { entry, elided: false })
    }

    /// Records that a resource registered its outputs: `new`, which was recorded before, has them; `old` is the state that its
    /// step began with.
    ///
    /// # Errors
    ///
    /// See [`RecordError`].
    pub fn outputs(&mut self, old: Option<&State>, new: &State) -> Result<Recorded, RecordError> {
        self.check_open()?;
        let removed = Some(self.find(new)?);
        self.is_used = true;
        let operation = self.next_operation();
        let state = new.get();
        let elided = old.is_some_and(|old| !outputs_changed(&old.get(), &state));
        let mut entry = self.entry(EntryKind::Outputs, operation);
        entry.removed = removed;
        with_state(&mut entry, state);
        Ok(Recorded { entry, elided })
    }

    /// Records that a step begins. Steps that are not recorded have no entry, but still a number.
    ///
    /// # Errors
    ///
    /// See [`RecordError`].
    pub fn begin(&mut self, step: Step) -> Result<(Running, Option<Recorded>), RecordError> {
        self.check_open()?;
        steps::check(&step)?;
        let operation = self.next_operation();
        if let Some((reference, extension)) = &step.extension
            && step.kind == StepKind::ExtendParameterize
        {
            // Such steps take two numbers, of which the second is theirs.
            let operation = self.next_operation();
            let mut entry = self.entry(EntryKind::ExtensionParameterize, operation);
            entry.extension_ref = Some(reference.clone());
            entry.extension = Some(Box::new(extension.clone()));
            return Ok((Running { operation, step }, Some(Recorded { entry, elided: false })));
        }
        if step.kind == StepKind::Replace {
            return Ok((Running { operation, step }, None));
        }
        self.is_used = true;
        let mut entry = self.entry(EntryKind::Begin, operation);
        if let Some(pending) = steps::pending(&step) {
            entry.requires_byte_string = has_byte_strings(&pending.resource);
            entry.operation = Some(pending);
        }
        let elided = step.kind == StepKind::Same && !step.view;
        Ok((Running { operation, step }, Some(Recorded { entry, elided })))
    }

    /// Records that a step ended. A failure in part counts as success, as the engine sees it.
    ///
    /// # Errors
    ///
    /// See [`RecordError`].
    pub fn end(&mut self, running: Running, success: bool) -> Result<Option<Recorded>, RecordError> {
        self.check_open()?;
        let Running { operation, step } = running;
        if matches!(step.kind, StepKind::Replace | StepKind::ExtendParameterize) {
            return Ok(None);
        }
        if !success {
            let mut entry = self.entry(EntryKind::Failure, operation);
            entry.is_refresh = step.kind == StepKind::Refresh;
            return Ok(Some(Recorded { entry, elided: false }));
        }
        let effect = self.effect(&step)?;
        let mut entry = self.entry(effect.kind, operation);
        entry.removed = effect.removed;
        entry.deleted = effect.deleted;
        entry.pending_replacement = effect.pending_replacement;
        entry.is_refresh = step.kind == StepKind::Refresh;
        if let Some(Target::New(gone)) = effect.removed {
            self.recorded.remove(&gone);
        }
        if let Some(state) = effect.state {
            self.new.insert(state.id(), operation);
            self.held.push(state.clone());
            // What a refresh finds stays where the old state was.
            if effect.kind == EntryKind::Success {
                self.recorded.insert(operation);
            }
            with_state(&mut entry, state.get());
        }
        Ok(Some(Recorded { entry, elided: effect.elided }))
    }

    /// By which number a state can be named.
    fn find(&self, state: &State) -> Result<Target, RecordError> {
        if let Some(index) = self.old.get(&state.id()) {
            return Ok(Target::Old(*index as u64));
        }
        match self.new.get(&state.id()) {
            Some(operation) => Ok(Target::New(*operation)),
            None => Err(RecordError::UnknownState { urn: state.get().urn.clone() }),
        }
    }

    fn entry(&mut self, kind: EntryKind, operation: OperationId) -> Entry {
        self.sequence = self.sequence.next();
        Entry::new(kind, self.sequence, operation)
    }

    fn next_operation(&mut self) -> OperationId {
        self.operation = self.operation.next();
        self.operation
    }

    fn check_open(&self) -> Result<(), RecordError> {
        if self.is_ended { Err(RecordError::Ended) } else { Ok(()) }
    }
}

fn with_state(entry: &mut Entry, state: Arc<Resource>) {
    entry.requires_byte_string = has_byte_strings(&state);
    entry.state = Some(state);
}

fn places(base: &Base) -> HashMap<StateId, usize> {
    base.states.iter().enumerate().map(|(index, state)| (state.id(), index)).collect()
}
