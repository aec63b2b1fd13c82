//! An engine that carries planned steps out by way of a journal, as Pulumi's does, and what a replay makes of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use groundstate_pulumi_journal as journal;
use groundstate_pulumi_journal::{Base, Recorded, Recorder, Replayer, Running, State};
use groundstate_pulumi_ordering::{Goal, StackGraph, Step, StepId, StepKind};
use groundstate_pulumi_snapshot::{Manifest, Operation, Resource, Snapshot};

/// How a step ended.
#[derive(Clone, Debug)]
pub(crate) enum Ended {
    /// It did what it was to do; if it made or read an object, with this identifier.
    Succeeded(Option<String>),
    /// It failed, but left an object.
    InPart(String),
    Failed,
}

#[derive(Debug)]
pub(crate) struct Engine<'a> {
    graph: &'a StackGraph,
    base: Base,
    recorder: Recorder,
    replayer: Replayer,
    running: BTreeMap<StepId, (Running, Option<State>)>,
}

impl<'a> Engine<'a> {
    pub(crate) fn new(base: &[Arc<Resource>], graph: &'a StackGraph) -> Self {
        let snapshot = Snapshot { resources: base.to_vec(), ..Snapshot::default() };
        let base = Base::new(snapshot.clone());
        let recorder = Recorder::new(&base);
        Self { graph, base, recorder, replayer: Replayer::new(snapshot), running: BTreeMap::new() }
    }

    /// The list as it is stored now.
    pub(crate) fn list(&mut self) -> Vec<Arc<Resource>> {
        self.stored().resources
    }

    /// The operations that are stored as pending.
    pub(crate) fn operations(&mut self) -> Vec<Operation> {
        self.stored().pending_operations
    }

    fn stored(&mut self) -> Snapshot {
        self.replayer.snapshot(Manifest::default()).unwrap().snapshot
    }

    pub(crate) fn begin(&mut self, id: StepId) {
        let step = self.graph.step(id);
        let old = step.entry.map(|at| self.base.states[at].clone());
        let new = step.completes().then(|| State::new(self.wanted(step)));
        let running = self.record(kind(step, self.goal(step), old.as_ref()), old.as_ref(), new.as_ref());
        self.running.insert(id, (running, new));
    }

    pub(crate) fn end(&mut self, id: StepId, ended: &Ended) {
        let (running, new) = self.running.remove(&id).unwrap();
        let step = self.graph.step(id);
        let (object, errors) = match ended {
            Ended::Succeeded(object) => (object.clone(), Vec::new()),
            Ended::InPart(object) => (Some(object.clone()), vec![Arc::from("not ready")]),
            Ended::Failed => return self.finish(running, false),
        };
        if let (Some(new), false) = (&new, step.kind == StepKind::Same) {
            new.change(|resource| {
                resource.id = object.map(Into::into).or(resource.id.take());
                resource.init_errors = errors;
            });
        }
        if step.deletes() {
            return self.delete(step, running);
        }
        self.finish(running, true);
        // An old object that the stack gives up, or that was deleted before, leaves the list with this step.
        let old = step.entry.map(|at| self.base.states[at].clone());
        let gives_up = step.kind == StepKind::CreateReplacement && (step.drops_old || step.delete_first);
        if let Some(old) =
            old.filter(|old| gives_up && (!old.get().pending_replacement || self.imports(step)))
        {
            self.forget(&old);
        }
    }

    /// What the deletion takes along leaves the list first, since it refers to the rest.
    fn delete(&mut self, step: &Step, running: Running) {
        let stays = |at: usize| !(step.is_final || self.base.states[at].get().delete && !step.keeps_entry);
        let staying: Vec<usize> = step.entries().filter(|&at| stays(at)).collect();
        for at in staying {
            self.base.states[at].change(|resource| resource.pending_replacement = true);
        }
        let mut members = step.members.clone();
        members.sort_unstable_by(|a, b| b.cmp(a));
        for at in members {
            let state = self.base.states[at].clone();
            let running = self.record(kind(step, None, Some(&state)), Some(&state), None);
            self.finish(running, true);
        }
        self.finish(running, true);
    }

    fn forget(&mut self, old: &State) {
        let kind = match old.get().pending_replacement {
            true => journal::StepKind::RemovePendingReplace,
            false => journal::StepKind::DiscardReplaced,
        };
        let running = self.record(kind, Some(old), None);
        self.finish(running, true);
    }

    fn record(&mut self, kind: journal::StepKind, old: Option<&State>, new: Option<&State>) -> Running {
        let step = journal::Step::new(kind, old, new).ignore_protect(true);
        let (running, begin) = self.recorder.begin(step).unwrap();
        self.apply(begin);
        running
    }

    fn finish(&mut self, running: Running, success: bool) {
        let end = self.recorder.end(running, success).unwrap();
        self.apply(end);
    }

    fn apply(&mut self, recorded: Option<Recorded>) {
        if let Some(recorded) = recorded {
            self.replayer.apply(recorded.entry).unwrap();
        }
    }

    fn goal(&self, step: &Step) -> Option<&'a Goal> {
        step.goal.map(|goal| &self.graph.goals()[goal])
    }

    fn imports(&self, step: &Step) -> bool {
        self.goal(step).is_some_and(|goal| goal.adopts.is_some())
    }

    /// The resource after the step: as its goal wants it, with what is known of the old one, below the provider that is there.
    fn wanted(&mut self, step: &Step) -> Resource {
        let old = step.entry.map(|at| self.base.states[at].get());
        let Some(goal) = self.goal(step).filter(|_| !step.keeps_old) else {
            return Resource::clone(&old.unwrap());
        };
        let mut resource = goal.resource.clone();
        let named = resource.provider().and_then(|provider| provider.split().ok());
        let list = self.list();
        let provider = named.and_then(|(urn, _)| list.iter().find(|other| other.urn == urn && !other.delete));
        if let Some(provider) = provider {
            resource.provider = provider.provider_ref().ok();
        }
        match step.kind {
            StepKind::Same | StepKind::Update | StepKind::Read => {
                resource.id = old.as_ref().and_then(|old| old.id.clone());
                resource.init_errors = old.map(|old| old.init_errors.clone()).unwrap_or_default();
            }
            _ => resource.id.clone_from(&goal.adopts),
        }
        resource
    }
}

fn kind(step: &Step, goal: Option<&Goal>, old: Option<&State>) -> journal::StepKind {
    use journal::StepKind as Kind;
    let imports = goal.is_some_and(|goal| goal.adopts.is_some());
    match step.kind {
        StepKind::Same => Kind::Same,
        StepKind::Create if imports => Kind::Import,
        StepKind::Create => Kind::Create,
        StepKind::Update => Kind::Update,
        StepKind::Read if old.is_some_and(|old| !old.get().external) => Kind::ReadReplacement,
        StepKind::Read => Kind::Read,
        StepKind::CreateReplacement if imports => Kind::ImportReplacement,
        StepKind::CreateReplacement => Kind::CreateReplacement,
        StepKind::Replace => Kind::Replace,
        StepKind::DeleteReplaced => Kind::DeleteReplaced,
        StepKind::Delete => Kind::Delete,
        StepKind::RemovePending => Kind::RemovePendingReplace,
    }
}
