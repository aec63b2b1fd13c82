//! The manager of journals: each step is an entry or two, and steps that do not depend on each other are told at once.

mod seal;
mod writer;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use groundstate_pulumi_journal::{Base, RecordError, Recorded, Recorder, State, Step};
use groundstate_pulumi_snapshot::{SecretsProvider, Snippet};

use crate::error::Result;
use crate::gate::Gate;
use crate::manager::{Mutation, SnapshotManager};
use crate::options::Options;
use crate::sink::JournalSink;
use writer::Writer;

/// Appends entries to a journal instead of writing snapshots.
///
/// Entries of one moment are stored together: an entry that comes while a batch is being stored is part of the next one. Entries
/// that are not waited for are stored in front of the next that is. If a batch is lost, nothing that comes later is
/// stored, so that what is stored is always what the engine told up to some moment, but for steps that did not depend on
/// each other.
#[derive(Debug)]
pub struct JournalManager<S> {
    recorder: Mutex<Desk>,
    writer: Writer<S>,
    options: Options,
}

/// What entries are made of.
#[derive(Debug)]
struct Desk {
    recorder: Recorder,
    gate: Gate,
}

impl<S: JournalSink> JournalManager<S> {
    /// A manager of an engine that begins with a base, which is what the sink has too.
    pub fn new(base: &Base, sink: S, options: Options) -> Self {
        let desk = Desk { recorder: Recorder::new(base), gate: Gate::default() };
        Self { recorder: Mutex::new(desk), writer: Writer::new(sink, options.batch), options }
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        // Nothing inside of the lock panics.
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn record(
        &self,
        record: impl FnOnce(&mut Recorder) -> Result<Recorded, RecordError> + Send,
    ) -> Result<()> {
        let recorded = record(&mut self.desk().recorder)?;
        self.add(recorded).await
    }

    /// Stores an entry, unless it is one that need not be waited for; that is stored with the next one.
    async fn add(&self, mut recorded: Recorded) -> Result<()> {
        if let Some(encrypter) = &self.options.encrypter
            && let Err(error) = seal::seal(&mut recorded.entry, encrypter)
        {
            // Later entries may speak of this one, so they must not be stored without it.
            self.writer.lose(error.to_string());
            return Err(error.into());
        }
        self.writer.add(Arc::new(recorded.entry), recorded.elided).await
    }
}

#[async_trait]
impl<S: JournalSink> SnapshotManager for JournalManager<S> {
    async fn begin(&self, step: Step) -> Result<Mutation> {
        let (running, recorded) = {
            let mut desk = self.desk();
            desk.gate.enter(&step)?;
            let begun = desk.recorder.begin(step.clone());
            if begun.is_err() {
                desk.gate.leave(&step);
            }
            begun?
        };
        if let Some(recorded) = recorded
            && let Err(error) = self.add(recorded).await
        {
            self.desk().gate.leave(&step);
            return Err(error);
        }
        Ok(Mutation(running))
    }

    async fn end(&self, mutation: Mutation, success: bool) -> Result<()> {
        let Mutation(running) = mutation;
        let step = running.step().clone();
        let recorded = self.desk().recorder.end(running, success);
        let stored = match recorded {
            Ok(Some(recorded)) => self.add(recorded).await,
            Ok(None) => Ok(()),
            Err(error) => Err(error.into()),
        };
        // Steps that wait for this one may begin when its end is on its way, and not before.
        self.desk().gate.leave(&step);
        stored
    }

    async fn outputs(&self, old: Option<&State>, new: &State) -> Result<()> {
        self.record(|recorder| recorder.outputs(old, new)).await
    }

    async fn snippets(&self, snippets: Vec<Snippet>) -> Result<()> {
        self.record(|recorder| recorder.snippets(snippets)).await
    }

    async fn secrets_manager(&self, provider: SecretsProvider) -> Result<()> {
        self.record(|recorder| recorder.secrets_manager(provider)).await
    }

    async fn write(&self, base: &Base) -> Result<()> {
        self.record(|recorder| recorder.write(base)).await
    }

    async fn rebuilt(&self, base: &Base) -> Result<()> {
        self.record(|recorder| recorder.rebuilt(base)).await
    }

    async fn close(&self) -> Result<()> {
        self.writer.close().await
    }
}
