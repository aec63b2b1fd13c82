//! The manager of whole snapshots: each write has everything, and one comes after the other.

use async_trait::async_trait;
use groundstate_pulumi_journal::{
    Base, RecordError, Recorded, Recorder, Replayed, Replayer, State, Step, StepKind,
};
use groundstate_pulumi_snapshot::{SecretsProvider, Snapshot, Snippet};
use tokio::sync::Mutex;

use crate::error::{Error, Result};
use crate::gate::Gate;
use crate::manager::{Mutation, SnapshotManager};
use crate::options::Options;
use crate::save::{Repair, is_stored, save};
use crate::sink::SnapshotSink;

/// Writes a whole snapshot for every step that changes something.
///
/// It records what a journal would hold, in memory, and writes what a replay makes of it. Writes come one after the other, and one
/// with less in it never comes after one with more.
#[derive(Debug)]
pub struct FullSnapshotManager<S> {
    sink: S,
    options: Options,
    work: Mutex<Work>,
}

/// What has been done so far.
#[derive(Debug)]
struct Work {
    recorder: Recorder,
    replayer: Replayer,
    gate: Gate,
    /// Something is not stored yet; true before the first write, so that there is one at least.
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

impl<S: SnapshotSink> FullSnapshotManager<S> {
    /// A manager of an engine that begins with a base.
    pub fn new(base: Base, sink: S, options: Options) -> Self {
        let work = Work {
            recorder: Recorder::new(&base),
            replayer: Replayer::new(base.snapshot()),
            gate: Gate::default(),
            has_elided: true,
            is_closed: false,
        };
        Self { sink, options, work: Mutex::new(work) }
    }

    /// What would be written now.
    ///
    /// # Errors
    ///
    /// Names cannot be brought up to date.
    pub async fn snapshot(&self) -> Result<Snapshot> {
        Ok(self.work.lock().await.replayed(&self.options)?.snapshot)
    }

    /// Lets the function change what is known, and writes if it says so.
    async fn change<T>(&self, change: impl FnOnce(&mut Work) -> Result<(T, Write)> + Send) -> Result<T> {
        let mut work = self.work.lock().await;
        if work.is_closed {
            return Err(Error::Closed);
        }
        let (done, write) = change(&mut work)?;
        if write != Write::Nothing {
            work.has_elided = true;
            if write == Write::Now && !self.options.skip_checkpoints {
                self.save(&mut work).await?;
            }
        }
        Ok(done)
    }

    async fn record(
        &self,
        record: impl FnOnce(&mut Recorder) -> Result<Recorded, RecordError> + Send,
        write: impl FnOnce(&Recorded) -> Write + Send,
    ) -> Result<()> {
        self.change(|work| {
            let recorded = record(&mut work.recorder)?;
            let write = write(&recorded);
            work.replayer.apply(recorded.entry)?;
            Ok(((), write))
        })
        .await
    }

    /// Writes what there is. What could not be stored is left for the next write, at the latest that of closing.
    async fn save(&self, work: &mut Work) -> Result<()> {
        work.has_elided = true;
        let Replayed { snapshot, has_byte_string, .. } = work.replayed(&self.options)?;
        let saved = save(&self.sink, &self.options, Repair::Allowed, snapshot, has_byte_string).await;
        work.has_elided = !is_stored(&saved);
        saved
    }
}

impl Work {
    fn replayed(&mut self, options: &Options) -> Result<Replayed> {
        self.replayer.snapshot(options.manifest()).map_err(|error| match error {
            groundstate_pulumi_journal::ReplayError::Normalize(error) => Error::Normalize(error),
            error => Error::Replay(error),
        })
    }

    fn begin(&mut self, step: &Step) -> Result<(Mutation, Write)> {
        self.gate.enter(step)?;
        let begun = self.recorder.begin(step.clone()).map_err(Error::from).and_then(|(running, recorded)| {
            let write = match &recorded {
                Some(Recorded { entry, .. }) if entry.operation.is_some() => Write::Now,
                Some(_) if matches!(step.kind, StepKind::Same | StepKind::ExtendParameterize) => Write::Later,
                _ => Write::Nothing,
            };
            self.apply(recorded)?;
            Ok((Mutation(running), write))
        });
        if begun.is_err() {
            self.gate.leave(step);
        }
        begun
    }

    fn end(&mut self, mutation: Mutation, success: bool) -> Result<((), Write)> {
        let step = mutation.step().clone();
        self.gate.leave(&step);
        let recorded = self.recorder.end(mutation.0, success)?;
        let write = match &recorded {
            None => Write::Nothing,
            // The engine makes a base of what such a step finds, and tells so with all of it.
            Some(_) if step.kind == StepKind::Refresh && !step.persisted => Write::Later,
            Some(recorded) => elided(recorded),
        };
        self.apply(recorded)?;
        Ok(((), write))
    }

    fn apply(&mut self, recorded: Option<Recorded>) -> Result<()> {
        if let Some(recorded) = recorded {
            self.replayer.apply(recorded.entry)?;
        }
        Ok(())
    }
}

fn elided(recorded: &Recorded) -> Write {
    if recorded.elided { Write::Later } else { Write::Now }
}

#[async_trait]
impl<S: SnapshotSink> SnapshotManager for FullSnapshotManager<S> {
    async fn begin(&self, step: Step) -> Result<Mutation> {
        let mut has_begun = false;
        let begin = |work: &mut Work| {
            let begun = work.begin(&step)?;
            has_begun = true;
            Ok(begun)
        };
        let stored = self.change(begin).await;
        if stored.is_err() && has_begun {
            self.work.lock().await.gate.leave(&step);
        }
        stored
    }

    async fn end(&self, mutation: Mutation, success: bool) -> Result<()> {
        self.change(|work| work.end(mutation, success)).await
    }

    async fn outputs(&self, old: Option<&State>, new: &State) -> Result<()> {
        self.record(|recorder| recorder.outputs(old, new), elided).await
    }

    async fn snippets(&self, snippets: Vec<Snippet>) -> Result<()> {
        self.record(|recorder| recorder.snippets(snippets), elided).await
    }

    async fn secrets_manager(&self, provider: SecretsProvider) -> Result<()> {
        self.record(|recorder| recorder.secrets_manager(provider), elided).await
    }

    async fn write(&self, base: &Base) -> Result<()> {
        self.record(|recorder| recorder.write(base), |_| Write::Later).await
    }

    async fn rebuilt(&self, base: &Base) -> Result<()> {
        self.record(|recorder| recorder.rebuilt(base), |_| Write::Later).await
    }

    async fn close(&self) -> Result<()> {
        let mut work = self.work.lock().await;
        work.is_closed = true;
        if work.has_elided { self.save(&mut work).await } else { Ok(()) }
    }
}
