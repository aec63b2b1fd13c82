//! Carries plans out on stored states: walks the operations, calls a provider for each, and stores what became of it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use async_trait::async_trait;
//! use groundstate_executor::statemgr::common::{FixedClock, SequenceIds, Timestamp};
//! use groundstate_executor::{Call, Executor, MemoryIntents, Plan, PlanNode, Provider};
//! use groundstate_executor::ordering::effects::{Operation, Reply};
//! use groundstate_executor::schedule::walk::{WalkGraph, WalkOptions};
//! use groundstate_executor::ordering::{ApplyKind, OpKind};
//! use groundstate_executor::statemgr::{AbandonedLocks, LockGuard, Manager, ManagerOptions, SharedMemory, Reader, Waiting};
//! use groundstate_executor::states::addr::{AbsResourceInstance, ProviderInstance};
//! use groundstate_executor::states::{ObjectSrc, RawJson};
//!
//! #[derive(Debug)]
//! struct Cloud;
//!
//! #[async_trait]
//! impl Provider for Cloud {
//!     async fn call(&self, _: Call<'_>) -> Reply {
//!         let value = RawJson::parse(r#"{"id":"i-1"}"#).expect("it is JSON");
//!         Reply::Succeeded(Some(ObjectSrc::new(0, value).into()))
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let provider = ProviderInstance::parse("provider[\"example.org/acme/x\"]", "example.org")?;
//! let web = AbsResourceInstance::parse("vm.web")?;
//! let create = Operation::new(web.clone(), OpKind::Apply(ApplyKind::Create), provider);
//! let plan = Plan::new(vec![PlanNode::Operation(create)], WalkGraph::builder(1).build()?)?;
//!
//! let (store, clock) = (SharedMemory::new("prod").open(), Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH)));
//! let manager = Arc::new(Manager::new(Arc::new(store), clock, Arc::new(SequenceIds::new()), ManagerOptions::default()));
//! let info = manager.lock_info("OperationTypeApply")?;
//! let abandoned = Arc::new(AbandonedLocks::new());
//! let guard = LockGuard::acquire(manager.clone(), info, Waiting::not_at_all(), abandoned).await?;
//!
//! let executor = Executor::new(manager.clone(), Arc::new(Cloud), Arc::new(MemoryIntents::new()));
//! assert!(executor.recover(&guard).await?.is_empty(), "no earlier run was interrupted");
//! let report = executor.run(&guard, &plan, &WalkOptions::default(), &mut |_| ()).await?;
//! guard.release().await?;
//!
//! assert!(report.is_success());
//! assert!(manager.state().is_some_and(|state| state.resource_instance(&web).is_some()));
//! # Ok(())
//! # }
//! ```
//!
//! # What it promises
//!
//! - Before a provider is called, a note of it is durable, and so is the old object's place where a new one is made first.
//!   Before any waiter starts, what became of the operation is.
//! - A crash at any point leaves a state that holds every object that is known to exist, once. [`Executor::recover`] says what
//!   is not known, and puts back what was only moved aside.
//! - Nothing starts after a state could not be stored.
//! - Failures skip what depends on them and nothing else; see [`groundstate_schedule::walk`].
//!
//! # Finding your way
//!
//! - [`Plan`] is what to do, [`Provider`] who does it, [`IntentLog`] where the notes are: [`StoredIntents`] keeps them in any
//!   store, best beside the state, and [`MemoryIntents`] only in this process.
//! - [`Executor`] brings them together with a manager, under a lock that the caller holds.
//! - [`drive`] walks any graph with futures, inside the task that awaits it.
//!
//! # What is deliberately absent
//!
//! - A runtime, and threads. Any executor of futures can run it.
//! - Locks: the caller takes one and releases it, and keeps it alive meanwhile.
//! - Plans: `groundstate-ordering` makes them.
//!
//! # Features
//!
//! - `tokio` (off by default): `drive_spawned` and `Executor::run_spawned` run operations in tasks of the runtime.

mod drive;
mod executor;
mod intents;
mod ledger;
mod plan;
mod provider;
mod recovery;
mod report;
#[cfg(feature = "tokio")]
mod spawned;
mod stored;

pub use drive::drive;
pub use executor::Executor;
pub use intents::{IntentLog, MemoryIntents};
pub use plan::{Plan, PlanError, PlanNode};
pub use provider::{Call, Provider};
pub use report::{RunError, RunReport};
#[cfg(feature = "tokio")]
pub use spawned::drive_spawned;
pub use stored::StoredIntents;

/// Graphs of operations.
pub use groundstate_ordering as ordering;
/// Order and walks.
pub use groundstate_schedule as schedule;
/// The contract of stores, and the manager.
pub use groundstate_statemgr as statemgr;
/// The models of states.
pub use groundstate_states as states;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
