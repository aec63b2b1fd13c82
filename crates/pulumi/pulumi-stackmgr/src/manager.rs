//! The contract of managers.

use std::fmt;

use async_trait::async_trait;
use groundstate_pulumi_journal::{Base, Running, State, Step};
use groundstate_pulumi_snapshot::{SecretsProvider, Snippet};

use crate::error::Result;

/// Keeps what is stored of a stack up to date while an engine works on it.
///
/// The engine tells it of each step twice: before it does anything, and when it is done. Between the two it changes the
/// [`State`]s of the step. The contract:
///
/// - *Before:* [`begin`](Self::begin) returns when it is stored that the step is under way, so that a crash leaves a trace.
/// - *After:* [`end`](Self::end) returns when its outcome is stored, but for steps that change nothing worth a write.
/// - *Order:* a step that depends on another one begins after that one has ended; one that does not wait is refused. It
///   depends on what its new state refers to.
/// - *Freedom:* steps that do not depend on each other may be told of at the same time, in any order.
/// - *Valid:* whatever was stored when everything stops, it gives a snapshot in which each resource comes after all it needs.
/// - *Elision:* what was not written at once is written with the next thing that is, and at the latest by
///   [`close`](Self::close).
#[async_trait]
pub trait SnapshotManager: fmt::Debug + Send + Sync {
    /// A step begins. When this returns, the engine may do what the step is about.
    async fn begin(&self, step: Step) -> Result<Mutation>;

    /// A step ended. A failure in part is a success here, as for the engine.
    async fn end(&self, mutation: Mutation, success: bool) -> Result<()>;

    /// The state `new`, which a step recorded that began with `old`, has the outputs it registered.
    async fn outputs(&self, old: Option<&State>, new: &State) -> Result<()>;

    /// These are all snippets from now on.
    async fn snippets(&self, snippets: Vec<Snippet>) -> Result<()>;

    /// Secrets are encrypted by this manager.
    async fn secrets_manager(&self, provider: SecretsProvider) -> Result<()>;

    /// The engine begins with another base. There must not have been a step.
    async fn write(&self, base: &Base) -> Result<()>;

    /// After a refresh, the engine goes on with a base that it made of what it found.
    async fn rebuilt(&self, base: &Base) -> Result<()>;

    /// The engine is done. What has not been written is; nothing can be told any more.
    async fn close(&self) -> Result<()>;
}

/// A step that has begun. Without its end, its operation stays pending.
#[derive(Debug)]
#[must_use = "a step that has begun stays pending until it ends"]
pub struct Mutation(pub(crate) Running);

impl Mutation {
    /// The step.
    pub fn step(&self) -> &Step {
        self.0.step()
    }
}
