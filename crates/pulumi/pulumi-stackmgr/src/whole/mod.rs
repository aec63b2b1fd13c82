//! The manager of whole snapshots: each write has everything, and one comes after the other.

mod compose;
mod steps;

use std::collections::HashSet;

use async_trait::async_trait;
use groundstate_pulumi_journal::{Base, State, StateId, Step, outputs_changed};
use groundstate_pulumi_snapshot::{
    Extension, ExtensionRef, OperationType, SecretsProvider, Snapshot, Snippet,
};
use tokio::sync::Mutex;

use crate::error::{Error, Result};
use crate::gate::Gate;
use crate::manager::{Begun, Mutation, SnapshotManager};
use crate::options::Options;
use crate::save::{Repair, save};
use crate::sink::SnapshotSink;

/// Writes a whole snapshot for every step that changes something.
///
/// It shares its states with the engine, so that a write has what is true at that moment. Writes come one after the other,
/// and one with less in it never comes after one with more.
#[derive(Debug)]
pub struct WholeManager<S> {
    sink: S,
    options: Options,
    work: Mutex<Work>,
}

/// What has been done so far.
#[derive(Debug, Default)]
struct Work {
    base: Base,
    /// New states, in the order in which they were done.
    resources: Vec<State>,
    /// States that are in the snapshot no more.
    done: HashSet<StateId>,
    /// Operations that are under way, in the order in which they began.
    operations: Vec<(State, OperationType)>,
    /// Every state that is done, so that no other one takes its place in memory.
    held: Vec<State>,
    is_refresh: bool,
    provider: Option<SecretsProvider>,
    snippets: Option<Vec<Snippet>>,
    extensions: Vec<(ExtensionRef, Extension)>,
    gate: Gate,
    /// Something was left out of the last write; true before the first one, so that there is one at least.
    has_elided: bool,
    is_closed: bool,
}

/// Whether something has to be written at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Write {
    Now,
    Later,
    /// There is nothing new, now or later.
    Nothing,
}

impl<S: SnapshotSink> WholeManager<S> {
    /// A manager of an engine that begins with a base.
    pub fn new(base: Base, sink: S, options: Options) -> Self {
        let work = Work { base, has_elided: true, ..Work::default() };
        Self { sink, options, work: Mutex::new(work) }
    }

    /// What would be written now.
    ///
    /// # Errors
    ///
    /// Names cannot be brought up to date.
    pub async fn snapshot(&self) -> Result<Snapshot> {
        self.work.lock().await.compose(self.options.manifest())
    }

    /// Lets the function change what is known, and writes if it says so.
    async fn change(&self, change: impl FnOnce(&mut Work) -> Result<Write> + Send) -> Result<()> {
        let mut work = self.work.lock().await;
        if work.is_closed {
            return Err(Error::Closed);
        }
        let write = change(&mut work)?;
        if write == Write::Nothing {
            return Ok(());
        }
        work.has_elided = write == Write::Later || self.options.skip_checkpoints;
        if work.has_elided { Ok(()) } else { self.save(&work).await }
    }

    async fn save(&self, work: &Work) -> Result<()> {
        let snapshot = work.compose(self.options.manifest())?;
        save(&self.sink, &self.options, Repair::Allowed, snapshot, false).await
    }
}

#[async_trait]
impl<S: SnapshotSink> SnapshotManager for WholeManager<S> {
    async fn begin(&self, step: Step) -> Result<Mutation> {
        let mut has_begun = false;
        let begin = |work: &mut Work| {
            let write = work.begin(&step)?;
            has_begun = true;
            Ok(write)
        };
        let stored = self.change(begin).await;
        if stored.is_err() && has_begun {
            self.work.lock().await.gate.leave(&step);
        }
        stored.map(|()| Mutation(Begun::Whole(step)))
    }

    async fn end(&self, mutation: Mutation, success: bool) -> Result<()> {
        self.change(|work| work.end(mutation.step(), success)).await
    }

    async fn outputs(&self, old: Option<&State>, new: &State) -> Result<()> {
        let elided = old.is_some_and(|old| !outputs_changed(&old.get(), &new.get()));
        self.change(|_| Ok(if elided { Write::Later } else { Write::Now })).await
    }

    async fn snippets(&self, snippets: Vec<Snippet>) -> Result<()> {
        self.change(|work| {
            work.snippets = Some(snippets);
            Ok(Write::Now)
        })
        .await
    }

    async fn secrets_manager(&self, provider: SecretsProvider) -> Result<()> {
        self.change(|work| {
            work.provider = Some(provider);
            Ok(Write::Later)
        })
        .await
    }

    async fn write(&self, base: &Base) -> Result<()> {
        self.rebuilt(base).await
    }

    async fn rebuilt(&self, base: &Base) -> Result<()> {
        self.change(|work| {
            work.base = base.clone();
            Ok(Write::Later)
        })
        .await
    }

    async fn close(&self) -> Result<()> {
        let mut work = self.work.lock().await;
        if std::mem::replace(&mut work.is_closed, true) || !work.has_elided {
            return Ok(());
        }
        self.save(&work).await
    }
}
