//! Why a state is not read or changed.

use groundstate_backends::BackendsError;
use groundstate_statefile::ReadError;

/// Why a state is not read or changed. No text has the value of an option or an output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What was named is no state that can be opened here.
    #[error(transparent)]
    Location(#[from] BackendsError),
    /// The store refused, or another process holds the lock: [`groundstate_statemgr::Error::kind`] tells.
    #[error(transparent)]
    Store(#[from] groundstate_statemgr::Error),
    /// Nothing is stored there.
    #[error("{place} has no state yet, apply the configuration first or name another workspace")]
    NoState {
        /// The store.
        place: String,
    },
    /// What is stored is not a state.
    #[error("{place} holds no state that can be read")]
    Read {
        /// The store.
        place: String,
        /// What is wrong, with line and column.
        source: ReadError,
    },
    /// There is no output of this name.
    #[error("there is no output {name:?}, the state has {known}")]
    NoOutput {
        /// The output that was asked for.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// An output is not of the type that was asked for.
    #[error("the output {name:?} is of type {found}, which is not what was asked for")]
    OutputType {
        /// The output that was asked for.
        name: String,
        /// The type it has.
        found: String,
    },
    /// The change is stored, and its lock was lost before the end.
    #[error("the change is stored, but its lock was not kept to the end: {0}")]
    LockLost(#[source] groundstate_statemgr::Error),
    /// The change is stored, and its lock could not be released.
    #[error("the change is stored, but its lock could not be released: {0}")]
    Release(#[source] groundstate_statemgr::ReleaseError),
    /// The runtime of the blocking variant cannot start.
    #[error("the runtime cannot start")]
    Runtime(#[source] std::io::Error),
}
