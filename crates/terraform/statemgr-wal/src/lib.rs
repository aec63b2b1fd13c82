//! A state manager that journals each change of a run beside the state: a crash loses none, and none costs a rewrite.
//!
//! ```
//! use std::sync::Arc;
//!
//! use groundstate_statemgr_wal::common::{FixedClock, SequenceIds, Timestamp};
//! use groundstate_statemgr_wal::wal::MemoryJournal;
//! use groundstate_statemgr_wal::statemgr::{
//!     Locker, ManagerOptions, SharedMemory, Persister, Reader, Refresher, StateStore, Writer, write_and_persist,
//! };
//! use groundstate_statemgr_wal::JournaledManager;
//! use groundstate_statemgr_wal::states::{OutputValue, State, Type, Value, addr::ModuleInstance};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (place, journal) = (SharedMemory::new("prod"), MemoryJournal::new("prod"));
//! let open = || {
//!     let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
//!     let (store, ids) = (Arc::new(place.open()), Arc::new(SequenceIds::new()));
//!     JournaledManager::new(store, Arc::new(journal.clone()), clock, ids, ManagerOptions::default())
//! };
//!
//! let manager = open();
//! let lock = manager.lock(&manager.lock_info("apply")?).await?.expect("memory has locks");
//! manager.refresh_state().await?;
//! write_and_persist(&manager, &State::new()).await?;
//! let mut change = |state: &mut Option<State>| {
//!     let output = OutputValue::new(Value::string("i-1"), Type::String);
//!     state.get_or_insert_default().set_output_value(&ModuleInstance::root(), "id", output);
//! };
//! manager.mutate_state(&mut change)?;
//! manager.persist_state().await?;
//! drop(manager); // A crash: the ordinary object has serial 1, and no output.
//!
//! let next = open();
//! next.force_unlock(&lock.id).await?;
//! let lock = next.lock(&next.lock_info("apply")?).await?.expect("it was freed");
//! next.refresh_state().await?;
//! assert_eq!(next.last_recovery().map(|recovery| recovery.changes), Some(1));
//! assert!(next.state().is_some_and(|state| state.outputs().contains_key("id")));
//! next.unlock(&lock.id).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Finding your way
//!
//! - [`JournaledManager`] is a [`Full`](groundstate_statemgr::Full) over any [`StateStore`](groundstate_statemgr::StateStore) and
//!   any [`JournalStore`](groundstate_wal::JournalStore); the best place for the journal is beside the state
//!   ([`journal_folder`]).
//! - [`JournaledManager::pending`], [`recovered`](JournaledManager::recovered) and [`discard`](JournaledManager::discard) are for
//!   journals that were left; a [`Recovery`] says what a refresh has done about one.
//!
//! The format of the journal, and what is done about it when, stands in the project's `docs/design/0006`.
//!
//! # What is deliberately absent
//!
//! - Merging with what another program has stored in between: that is reported, and both are kept.
//! - Places, clocks, runtimes: they are arguments.
//!
//! # Features
//!
//! - `os`: `common` has the clock and the randomness of the system.

mod change;
mod digest;
mod entry;
mod failure;
mod manager;
mod noted;
mod persist;
mod recovery;

pub use manager::{JournalOptions, JournaledManager, journal_folder};
pub use recovery::{Pending, Recovery};

/// Clocks, ids and what waits.
pub use groundstate_common as common;
/// The contract of stores, and the manager.
pub use groundstate_statemgr as statemgr;
/// The models of states.
pub use groundstate_states as states;
/// The contract of journals.
pub use groundstate_wal as wal;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
