//! Managers of small stacks, and sinks that fail.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use groundstate_common::{FixedClock, Timestamp};
use groundstate_pulumi_deployment::DeploymentFile;
use groundstate_pulumi_journal::{Base, Entry, State, Step, StepKind};
use groundstate_pulumi_snapshot::{Resource, Snapshot, Urn};
use groundstate_pulumi_stackmgr::{
    AppendError, BoxError, Error, Events, FullSnapshotManager, JournalManager, JournalSink, LocalJournal,
    MemorySnapshots, Options, Result, SnapshotManager, SnapshotSink,
};

pub(crate) fn options() -> Options {
    Options::new(Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH)), "v3.259.0", "tool up")
}

pub(crate) fn urn(name: &str) -> Urn {
    Urn::build("s", "p", "", "t:t:t", name)
}

/// A resource that depends on others.
pub(crate) fn resource(name: &str, needs: &[&str]) -> Resource {
    Resource {
        dependencies: needs.iter().map(|name| urn(name)).collect(),
        ..Resource::new(urn(name), "t:t:t")
    }
}

pub(crate) fn state(name: &str, needs: &[&str]) -> State {
    State::new(resource(name, needs))
}

/// The names of a snapshot's resources, with `~d` behind those that wait for their deletion, and its pending operations.
pub(crate) fn show(snapshot: &Snapshot) -> String {
    let flag = |resource: &Resource| if resource.delete { "~d" } else { "" };
    let resources = snapshot.resources.iter().map(|r| format!("{}{}", r.urn.name(), flag(r)));
    let pending = snapshot.pending_operations.iter();
    let pending = pending.map(|op| format!("+{} {}", op.kind, op.resource.urn.name()));
    resources.chain(pending).collect::<Vec<_>>().join(" ")
}

/// A manager with its name, its base, and what it saved.
pub(crate) type Managed = (&'static str, Base, Box<dyn SnapshotManager>, Arc<MemorySnapshots>);

/// Both managers on one base each, with what they saved.
pub(crate) fn managers(base: &[Resource], options: &Options) -> Vec<Managed> {
    let snapshot = Snapshot::new(base.to_vec());
    let (whole, journal) = (Arc::new(MemorySnapshots::default()), Arc::new(MemorySnapshots::default()));
    let (first, second) = (Base::new(snapshot.clone()), Base::new(snapshot.clone()));
    let local = LocalJournal::new(snapshot, Arc::clone(&journal), options.clone());
    vec![
        (
            "whole",
            first.clone(),
            Box::new(FullSnapshotManager::new(first, Arc::clone(&whole), options.clone()))
                as Box<dyn SnapshotManager>,
            whole,
        ),
        ("journal", second.clone(), Box::new(JournalManager::new(&second, local, options.clone())), journal),
    ]
}

/// Runs a step that goes well.
pub(crate) async fn run(manager: &dyn SnapshotManager, step: Step) -> Result<()> {
    let mutation = manager.begin(step).await?;
    if let (Some(old), StepKind::CreateReplacement) = (&mutation.step().old, mutation.step().kind) {
        old.change(|resource| resource.delete = true);
    }
    manager.end(mutation, true).await
}

/// What was saved, each as [`show`] has it.
pub(crate) fn saved(saved: &MemorySnapshots) -> Vec<String> {
    saved.saved().iter().map(|file| show(file.snapshot.as_ref().unwrap())).collect()
}

/// A place that fails for as long as it is told to, and what it kept in between.
#[derive(Debug, Default)]
pub(crate) struct Outage {
    pub(crate) fails: AtomicBool,
    pub(crate) kept: MemorySnapshots,
}

#[async_trait]
impl SnapshotSink for Outage {
    async fn save(&self, file: &DeploymentFile) -> Result<(), BoxError> {
        if self.fails.load(Ordering::SeqCst) { Err("disk full".into()) } else { self.kept.save(file).await }
    }
}

/// A journal that takes batches of some size, and fails at a batch if it is told to.
#[derive(Debug)]
pub(crate) struct Limited {
    pub(crate) limit: usize,
    pub(crate) fail: AtomicBool,
    /// The sizes of all batches that were tried.
    pub(crate) tried: Mutex<Vec<usize>>,
    pub(crate) stored: Mutex<Vec<Arc<Entry>>>,
    /// How many tasks the journal lets run before it answers.
    pub(crate) pause: AtomicUsize,
}

impl Limited {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            fail: AtomicBool::new(false),
            tried: Mutex::default(),
            stored: Mutex::default(),
            pause: AtomicUsize::new(0),
        })
    }

    pub(crate) fn stored(&self) -> Vec<u64> {
        self.stored.lock().unwrap().iter().map(|entry| entry.sequence.get()).collect()
    }
}

#[async_trait]
impl JournalSink for Limited {
    async fn append(&self, entries: &[Arc<Entry>]) -> Result<(), AppendError> {
        self.tried.lock().unwrap().push(entries.len());
        for _ in 0..self.pause.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
        if self.fail.load(Ordering::SeqCst) {
            return Err(AppendError::Lost("connection reset".into()));
        }
        if entries.len() > self.limit {
            return Err(AppendError::TooLarge("413".into()));
        }
        self.stored.lock().unwrap().extend(entries.iter().cloned());
        Ok(())
    }

    async fn close(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// Keeps what it is told.
#[derive(Debug, Default)]
pub(crate) struct Told(pub(crate) Mutex<Vec<String>>);

impl Events for Told {
    fn error(&self, message: &str) {
        self.0.lock().unwrap().push(message.to_owned());
    }
}
