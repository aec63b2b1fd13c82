//! Brings plan, provider, manager and notes together.

use std::fmt;
use std::sync::Arc;

use groundstate_common::with_causes;
use groundstate_ordering::effects::{
    BeginError, Conclusion, Intent, Mutation, Operation, Reply, apply, begin, conclude, metadata_writes,
};
use groundstate_ordering::{ApplyKind, OpKind};
use groundstate_schedule::walk::{Context, Event, Outcome, StopToken, WalkOptions, WalkReport, panic_text};
use groundstate_statemgr::{Error, Full, LockGuard, Storage, catch_panic};
use groundstate_states::State;

use crate::drive::drive;
use crate::intents::IntentLog;
use crate::ledger::Ledger;
use crate::plan::{Plan, PlanNode};
use crate::provider::{Call, Provider, prior};
use crate::report::{RunError, RunReport};

/// Carries plans out on the state of a manager.
///
/// The caller refreshes the manager, holds the lock and keeps it alive; see
/// [`LockGuard::hold_during`](groundstate_statemgr::LockGuard::hold_during).
#[derive(Clone)]
pub struct Executor {
    pub(crate) manager: Arc<dyn Storage>,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) intents: Arc<dyn IntentLog>,
    /// The place of the state, for messages.
    pub(crate) target: Arc<str>,
}

/// What the operations of one run share.
#[derive(Debug)]
pub(crate) struct Run {
    executor: Executor,
    ledger: Ledger,
    stop: StopToken,
    context: Context,
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Executor");
        shown.field("target", &self.target).field("provider", &self.provider).field("intents", &self.intents);
        shown.finish_non_exhaustive()
    }
}

impl Executor {
    /// An executor that stores states by this manager and notes in this log.
    #[must_use]
    pub fn new(manager: Arc<dyn Full>, provider: Arc<dyn Provider>, intents: Arc<dyn IntentLog>) -> Self {
        let target = manager.to_string().into();
        Self { manager, provider, intents, target }
    }

    /// Carries a plan out, inside the task that awaits this, until every node has settled.
    ///
    /// Each step is stored before the next one builds on it. If that fails once, nothing more starts. Dropping the future
    /// is a crash: what ran is unknown, and noted.
    ///
    /// # Errors
    /// When nothing was started: see [`RunError`]. Failures of operations are in the report.
    pub async fn run(
        &self,
        guard: &LockGuard,
        plan: &Plan,
        options: &WalkOptions,
        observe: &mut (dyn FnMut(Event) + Send),
    ) -> Result<RunReport, RunError> {
        let run = self.prepare(guard, plan, options).await?;
        let execute = |node| run.execute(node, &plan.nodes()[node]);
        let walk = drive(plan.graph(), options, execute, observe).await;
        Ok(run.report(walk).await)
    }

    /// As [`run`](Self::run), but on tasks of the tokio runtime that this is awaited on.
    ///
    /// # Errors
    /// When nothing was started: see [`RunError`]. Failures of operations are in the report.
    #[cfg(feature = "tokio")]
    pub async fn run_spawned(
        &self,
        guard: &LockGuard,
        plan: &Arc<Plan>,
        options: &WalkOptions,
        observe: impl FnMut(Event) + Send + 'static,
    ) -> Result<RunReport, RunError> {
        let run = Arc::new(self.prepare(guard, plan, options).await?);
        let (shared, plan) = (Arc::clone(&run), Arc::clone(plan));
        let graph = Arc::clone(plan.graph());
        let execute = move |node: usize| {
            let (run, plan) = (Arc::clone(&shared), Arc::clone(&plan));
            async move { run.execute(node, &plan.nodes()[node]).await }
        };
        let walk = crate::spawned::drive_spawned(&graph, options, execute, observe).await;
        Ok(run.report(walk).await)
    }

    /// Makes sure that no earlier run is left over, and stores the state that the plan begins with, together with what
    /// instances without an operation record.
    async fn prepare(&self, _: &LockGuard, plan: &Plan, options: &WalkOptions) -> Result<Run, RunError> {
        let failed = |context| move |source| RunError::Store { context, source };
        let open = self.intents.read().await.map_err(failed("the notes of earlier runs cannot be read"))?;
        if !open.is_empty() {
            return Err(RunError::Interrupted(open.len()));
        }
        let mut write = |state: &mut Option<State>| {
            let Some(state) = state else { return };
            for (operation, mutation) in metadata_writes(state, plan.metadata()) {
                // Cannot fail, since the mutation was made for this very state.
                let applied = apply(state, &operation, &[mutation]);
                debug_assert!(applied.is_ok());
            }
        };
        self.manager.mutate_state(&mut write).map_err(failed("the state cannot be changed"))?;
        // Also what a refresh has changed: after a crash, notes are judged by what is stored.
        self.manager.persist_state().await.map_err(failed("the state cannot be stored"))?;
        let (stop, context) = (options.stop.clone(), Context::new(options.stop.clone()));
        Ok(Run { executor: self.clone(), ledger: Ledger::default(), stop, context })
    }
}

impl Run {
    async fn execute(&self, node: usize, what: &PlanNode) -> Outcome {
        let done = match what {
            PlanNode::Operation(operation) => return self.operate(node, operation).await,
            PlanNode::Configure(provider) => self.executor.provider.configure(provider).await,
            PlanNode::Close(provider) => self.executor.provider.close(provider).await,
            PlanNode::Barrier => Ok(()),
        };
        done.map_or_else(Outcome::Failed, |()| Outcome::Succeeded)
    }

    async fn operate(&self, node: usize, operation: &Operation) -> Outcome {
        if let Err(message) = self.begin(node, operation).await {
            return Outcome::Failed(message);
        }
        let (reply, known) = self.call(operation).await;
        match self.end(node, operation, reply, known).await {
            Ok(outcome) => outcome,
            Err(error) => {
                // What was done is in memory and not in the store, so nothing may be built on it.
                self.stop.request();
                let done = format!("{}: the outcome cannot be stored", operation.addr);
                Outcome::Failed(format!("{done}: {}", with_causes(&error)))
            }
        }
    }

    /// Makes the intent durable, and the old object's new place.
    async fn begin(&self, node: usize, operation: &Operation) -> Result<(), String> {
        let executor = &self.executor;
        let unsaved = |error: &Error| {
            let message = format!("{}: the intent cannot be stored, so nothing was done", operation.addr);
            format!("{message}: {}", with_causes(error))
        };
        let state = executor.manager.state().unwrap_or_default();
        let start = begin(operation, state.resource_instance(&operation.addr));
        let start = start.map_err(|error: BeginError| error.to_string())?;
        if is_noted(operation) {
            let intent = Intent::of(operation);
            if let Err(error) = self.ledger.open(&*executor.intents, node, intent).await {
                self.stop.request();
                self.strike(node).await;
                return Err(unsaved(&error));
            }
        }
        if start.is_empty() {
            return Ok(());
        }
        let stored = match self.mutate(operation, &start) {
            Ok(()) => executor.manager.persist_state().await,
            Err(message) => {
                self.strike(node).await;
                return Err(message);
            }
        };
        let Err(error) = stored else { return Ok(()) };
        self.stop.request();
        // Nothing was called yet, so the old object goes back to its place; should the store have it deposed after all, the
        // next write corrects that.
        let back: Vec<Mutation> = operation.deposes_to.map(Mutation::Restore).into_iter().collect();
        self.mutate(operation, &back)?;
        self.strike(node).await;
        Err(unsaved(&error))
    }

    /// Asks the provider, and says whether it is known what became of the object.
    async fn call(&self, operation: &Operation) -> (Reply, bool) {
        if !operation.calls_provider() {
            return (Reply::Succeeded(None), true);
        }
        let state = self.executor.manager.state().unwrap_or_default();
        let prior = prior(operation, state.resource_instance(&operation.addr));
        let call = Call { operation, prior, state: &state, context: &self.context };
        match catch_panic(self.executor.provider.call(call)).await {
            Ok(reply) => (reply, true),
            Err(payload) => (Reply::Failed { object: None, message: panic_text(&*payload) }, false),
        }
    }

    /// Makes the outcome durable, and strikes the intent out if it is known what became of the object.
    async fn end(
        &self,
        node: usize,
        operation: &Operation,
        reply: Reply,
        known: bool,
    ) -> Result<Outcome, Error> {
        let executor = &self.executor;
        let mut reply = Some(reply);
        let mut end = None;
        executor.manager.mutate_state(&mut |state| {
            let (Some(reply), state) = (reply.take(), state.get_or_insert_default()) else { return };
            let Conclusion { mutations, outcome, .. } =
                conclude(operation, state.resource_instance(&operation.addr), reply);
            end = Some((!mutations.is_empty(), apply(state, operation, &mutations), outcome));
        })?;
        let (changed, applied, outcome) = match end {
            Some((changed, applied, outcome)) => (changed, applied, outcome),
            // A manager that does not call back has not stored anything either.
            None => (false, Ok(()), Outcome::Failed("the manager did not change the state".to_owned())),
        };
        if changed {
            executor.manager.persist_state().await?;
        }
        if known && is_noted(operation) {
            self.ledger.close(&*executor.intents, node).await?;
        }
        // Another program must have changed the instance meanwhile, past the plan.
        Ok(applied.map_or_else(|error| Outcome::Failed(error.to_string()), |()| outcome))
    }

    fn mutate(&self, operation: &Operation, mutations: &[Mutation]) -> Result<(), String> {
        let mut result = Ok(());
        let mut change = |state: &mut Option<State>| {
            let applied = apply(state.get_or_insert_default(), operation, mutations);
            result = applied.map_err(|error| error.to_string());
        };
        self.executor.manager.mutate_state(&mut change).map_err(|error| with_causes(&error).to_string())?;
        result
    }

    /// Strikes out the note of an operation that was not begun after all. If that fails, the next recovery reports what
    /// did not happen, which is harmless.
    async fn strike(&self, node: usize) {
        if self.ledger.close(&*self.executor.intents, node).await.is_err() {
            self.stop.request();
        }
    }

    async fn report(&self, walk: WalkReport) -> RunReport {
        let unsaved = self.executor.manager.persist_state().await.err();
        RunReport { walk, unsaved, open: self.ledger.intents() }
    }
}

/// Whether an operation leaves a trace that a crash can hide: reads and checks do not.
fn is_noted(operation: &Operation) -> bool {
    !matches!(operation.kind, OpKind::Apply(ApplyKind::Check | ApplyKind::Read))
}
