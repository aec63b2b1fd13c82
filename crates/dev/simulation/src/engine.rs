//! The engine: runs chains, changes states as providers would, and tells both managers.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use groundstate_common::{FixedClock, Timestamp};
use groundstate_pulumi_integrity::{IntegrityError, IntegrityOperation};
use groundstate_pulumi_journal::{Base, Entry, Replayer, State, Step, StepKind};
use groundstate_pulumi_snapshot::{Resource, Snapshot};
use groundstate_pulumi_stackmgr::{
    FullSnapshotManager, JournalManager, MemoryEntries, MemorySnapshots, Mutation, Options, SnapshotManager,
};

use crate::base::version;
use crate::naive::Replay;
use crate::program::Found;

/// Why a case failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What is wrong.
    pub what: String,
    /// What happened before: bases, steps, entries.
    pub log: Vec<String>,
}

pub(crate) type Outcome<T = ()> = Result<T, String>;

/// How a step ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Done,
    /// It was done in part, which counts as done.
    Part,
    Failed,
}

/// Both managers on one base, and the world outside.
pub(crate) struct Engine<'r> {
    whole: FullSnapshotManager<Arc<MemorySnapshots>>,
    journal: JournalManager<Arc<MemoryEntries>>,
    saved: Arc<MemorySnapshots>,
    stored: Arc<MemoryEntries>,
    replay: &'r Replay,
    replayer: Replayer,
    pub(crate) start: Snapshot,
    pub(crate) base: Base,
    /// For each entry, those that were there before it could be made.
    pub(crate) before: Vec<Vec<usize>>,
    /// Entries that came before everything that is made now.
    pub(crate) barrier: usize,
    /// Objects that exist outside and are this stack's.
    owned: BTreeSet<String>,
    next_id: &'r mut usize,
    /// The manager of whole snapshots does not know yet what a refresh finds.
    pub(crate) in_refresh: bool,
    pub(crate) log: Vec<String>,
}

/// A step that both managers know of.
pub(crate) struct Both(Mutation, Mutation);

impl Both {
    pub(crate) fn step(&self) -> &Step {
        self.0.step()
    }
}

impl<'r> Engine<'r> {
    pub(crate) fn new(start: Snapshot, replay: &'r Replay, next_id: &'r mut usize) -> Self {
        let options =
            Options::new(Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH)), "v3.259.0", "simulate").batch(1);
        let (saved, stored) = (Arc::new(MemorySnapshots::default()), Arc::new(MemoryEntries::default()));
        let base = Base::new(start.clone());
        let owned = start
            .resources
            .iter()
            .filter(|resource| resource.custom && !resource.external && !resource.pending_replacement)
            .filter_map(|resource| resource.id().map(ToString::to_string))
            .collect();
        Self {
            whole: FullSnapshotManager::new(base.clone(), Arc::clone(&saved), options.clone()),
            journal: JournalManager::new(&base, Arc::clone(&stored), options),
            saved,
            stored,
            replay,
            replayer: Replayer::new(start.clone()),
            base,
            before: Vec::new(),
            barrier: 0,
            owned,
            next_id,
            in_refresh: false,
            log: vec![format!("base: {}", show(&start))],
            start,
        }
    }

    pub(crate) fn entries(&self) -> Vec<Arc<Entry>> {
        self.stored.entries()
    }

    /// Tells both managers something that needs no end.
    pub(crate) fn tell(
        &mut self,
        what: &str,
        before: &[usize],
        tell: impl AsyncFn(&dyn SnapshotManager) -> groundstate_pulumi_stackmgr::Result<()>,
    ) -> Outcome<Vec<usize>> {
        self.log.push(what.to_owned());
        for manager in [&self.whole as &dyn SnapshotManager, &self.journal] {
            now(tell(manager)).map_err(|error| format!("{what}: {error}"))?;
        }
        self.noted(before)
    }

    pub(crate) fn begin(&mut self, step: &Step, before: &[usize]) -> Outcome<(Both, Vec<usize>)> {
        self.log.push(format!("begin {step:?}"));
        let whole = now(self.whole.begin(step.clone())).map_err(|error| format!("begin: {error}"))?;
        let journal = now(self.journal.begin(step.clone())).map_err(|error| format!("begin: {error}"))?;
        Ok((Both(whole, journal), self.noted(before)?))
    }

    pub(crate) fn end(&mut self, both: Both, end: End, before: &[usize]) -> Outcome<Vec<usize>> {
        self.log.push(format!("end {end:?} {:?}", both.step()));
        let success = end != End::Failed;
        now(self.whole.end(both.0, success)).map_err(|error| format!("end: {error}"))?;
        now(self.journal.end(both.1, success)).map_err(|error| format!("end: {error}"))?;
        self.noted(before)
    }

    /// Closes both managers; what was written last is what the journal stands for.
    pub(crate) fn close(&mut self) -> Outcome {
        now(self.whole.close()).map_err(|error| format!("close: {error}"))?;
        now(self.journal.close()).map_err(|error| format!("close: {error}"))?;
        let last = self.saved.saved().pop().and_then(|file| file.snapshot).ok_or("nothing was saved")?;
        let composed = now(self.whole.snapshot()).map_err(|error| error.to_string())?;
        same(&last, &composed).map_err(|error| format!("the last write and what is known: {error}"))
    }

    /// What the provider does between the beginning and the end of a step.
    pub(crate) fn apply(&mut self, step: &Step, found: Option<Found>, leaves_pending: bool, end: End) {
        use StepKind as Kind;
        let old = step.old.as_ref().map(State::get);
        let Some(new) = &step.new else {
            if step.kind == Kind::Refresh || step.kind.deletes() {
                self.owned.remove(old.as_ref().and_then(|old| old.id()).map_or("", |id| id.as_str()));
            }
            if let Some(state) = step.old.as_ref().filter(|_| leaves_pending) {
                state.change(|resource| resource.pending_replacement = true);
            }
            return;
        };
        let marks_old = |kind: StepKind| {
            matches!(kind, Kind::CreateReplacement | Kind::ReadReplacement | Kind::ImportReplacement)
        };
        if let Some(state) = step.old.as_ref().filter(|_| marks_old(step.kind))
            && !state.get().pending_replacement
        {
            state.change(|resource| resource.delete = true);
        }
        match step.kind {
            Kind::Same | Kind::Update => {
                let id = old.as_ref().and_then(|old| old.id.clone());
                let outputs = old.as_ref().map(|old| old.outputs.clone()).unwrap_or_default();
                let inputs = old.as_ref().map(|old| old.inputs.clone()).unwrap_or_default();
                let number = self.fresh();
                new.change(|resource| {
                    resource.id = id;
                    resource.outputs = if step.kind == Kind::Same { outputs } else { version(number).into() };
                    if end == End::Part {
                        resource.inputs = inputs;
                    }
                });
            }
            Kind::Refresh => {
                if found == Some(Found::Changed) {
                    let number = self.fresh();
                    new.change(|resource| resource.outputs = version(number).into());
                }
            }
            Kind::Replace => {}
            _ => self.make(new),
        }
    }

    /// Makes a new object, or finds one.
    fn make(&mut self, new: &State) {
        let number = self.fresh();
        new.change(|resource| {
            resource.outputs = version(number).into();
            if resource.custom {
                resource.id = Some(format!("id-{number}").into());
            }
        });
        let made = new.get();
        if let (Some(id), false) = (made.id(), made.external) {
            self.owned.insert(id.to_string());
        }
    }

    pub(crate) fn fresh(&mut self) -> usize {
        *self.next_id += 1;
        *self.next_id
    }

    /// Takes note of the entries that are new, and checks everything.
    fn noted(&mut self, before: &[usize]) -> Outcome<Vec<usize>> {
        let entries = self.stored.entries();
        let new: Vec<usize> = (self.before.len()..entries.len()).collect();
        for &at in &new {
            self.log.push(format!("  {}", entries[at]));
            let mut all: Vec<usize> = (0..self.barrier).collect();
            all.extend(before);
            self.before.push(all);
            self.replayer.apply(Arc::clone(&entries[at])).map_err(|error| error.to_string())?;
        }
        self.check(&entries)?;
        Ok(new)
    }

    fn check(&mut self, entries: &[Arc<Entry>]) -> Outcome {
        let replayed = (self.replay)(&self.start, entries)?;
        sound(&replayed).map_err(|error| format!("the replayed snapshot is broken: {error}"))?;
        let step_by_step = self.replayer.snapshot(Default::default()).map_err(|error| error.to_string())?;
        same(&step_by_step.snapshot, &replayed)
            .map_err(|error| format!("replays step by step and at once: {error}"))?;
        let known: BTreeSet<&str> =
            replayed.resources.iter().filter_map(|resource| resource.id()).map(|id| id.as_str()).collect();
        if let Some(lost) = self.owned.iter().find(|id| !known.contains(id.as_str())) {
            return Err(format!("the object {lost} exists and is not in the snapshot"));
        }
        if self.in_refresh {
            return Ok(());
        }
        let whole = now(self.whole.snapshot()).map_err(|error| error.to_string())?;
        sound(&whole).map_err(|error| format!("the whole snapshot is broken: {error}"))?;
        same(&whole, &replayed).map_err(|error| format!("the whole and the replayed snapshot: {error}"))
    }
}

/// Runs a future that never has to wait.
fn now<T>(future: impl Future<Output = groundstate_pulumi_stackmgr::Result<T>>) -> Result<T, String> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result.map_err(|error| error.to_string()),
        Poll::Pending => Err("a manager waits although no other task can wake it".to_owned()),
    }
}

/// Whether a snapshot is sound.
pub(crate) fn sound(snapshot: &Snapshot) -> Outcome {
    IntegrityError::check(snapshot, IntegrityOperation::Write).map_err(|error| error.to_string())
}

/// Whether two snapshots say the same, but for the manifest and for unused extensions.
pub(crate) fn same(one: &Snapshot, other: &Snapshot) -> Outcome {
    if one.resources != other.resources {
        let differs = one.resources.iter().zip(&other.resources).find(|(a, b)| a != b);
        return Err(format!("resources differ: {}; and {} ({differs:?})", show(one), show(other)));
    }
    if one.pending_operations != other.pending_operations {
        return Err(format!("pending operations differ: {}; and {}", show(one), show(other)));
    }
    let used = |snapshot: &Snapshot| {
        let used: BTreeSet<_> =
            snapshot.resources.iter().filter_map(|resource| resource.extension_ref.clone()).collect();
        used.into_iter().map(|key| snapshot.extensions.get(&key).cloned()).collect::<Vec<_>>()
    };
    match () {
        () if one.secrets_provider != other.secrets_provider => Err("secrets managers differ".to_owned()),
        () if one.snippets != other.snippets => Err("snippets differ".to_owned()),
        () if used(one) != used(other) => Err("extensions differ".to_owned()),
        () => Ok(()),
    }
}

/// A snapshot in one line.
pub(crate) fn show(snapshot: &Snapshot) -> String {
    let resource = |resource: &Resource| {
        let mut text = resource.urn.name().to_owned();
        let needs: Vec<String> = resource
            .all_dependencies()
            .map(|needed| format!("{:?}:{}", needed.kind, needed.urn.name()))
            .chain(
                resource
                    .provider()
                    .map(|provider| format!("by {}", provider.as_str().rsplit("::").next().unwrap_or(""))),
            )
            .collect();
        if !needs.is_empty() {
            text.push_str(&format!("({})", needs.join(", ")));
        }
        let id = resource.id().map_or("", |id| id.as_str());
        let flags = [
            (resource.delete, "~delete"),
            (resource.pending_replacement, "~pending"),
            (resource.external, "~external"),
            (resource.protect, "~protect"),
        ];
        text.push_str(&format!("#{id}"));
        flags.iter().filter(|(set, _)| *set).for_each(|(_, flag)| text.push_str(flag));
        text
    };
    let resources = snapshot.resources.iter().map(|one| resource(one));
    let pending = snapshot.pending_operations.iter();
    let pending = pending.map(|one| format!("+{} {}", one.kind, one.resource.urn.name()));
    format!("[{}]", resources.chain(pending).collect::<Vec<_>>().join(", "))
}
