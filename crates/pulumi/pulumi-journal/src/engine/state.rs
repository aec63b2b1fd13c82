//! States as an engine holds them.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use groundstate_pulumi_snapshot::Resource;

/// A state of a resource, shared between an engine that changes it and those who record the changes.
///
/// Which state it is counts, not what it says: two states that say the same are two.
///
/// ```
/// use groundstate_pulumi_snapshot::Resource;
/// use groundstate_pulumi_journal::State;
///
/// let state = State::new(Resource::new("u", "t"));
/// let before = state.get();
/// state.change(|resource| resource.delete = true);
/// assert!(state.get().delete && !before.delete, "what was taken does not change");
/// assert_eq!(state, state.clone());
/// assert_ne!(state, State::new(Resource::new("u", "t")));
/// ```
#[derive(Clone)]
pub struct State(Arc<Mutex<Arc<Resource>>>);

impl State {
    /// A state of its own.
    pub fn new(resource: impl Into<Arc<Resource>>) -> Self {
        Self(Arc::new(Mutex::new(resource.into())))
    }

    /// What it is at this moment.
    pub fn get(&self) -> Arc<Resource> {
        Arc::clone(&self.lock())
    }

    /// Changes it. Earlier copies keep what it was.
    pub fn change(&self, change: impl FnOnce(&mut Resource)) {
        change(Arc::make_mut(&mut self.lock()));
    }

    /// What tells it from others, as long as it is held.
    pub fn id(&self) -> StateId {
        StateId(Arc::as_ptr(&self.0).addr())
    }

    fn lock(&self) -> MutexGuard<'_, Arc<Resource>> {
        // A thread that panicked has changed it or has not; both are valid states.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resource = self.get();
        write!(f, "State({}{})", resource.urn, if resource.delete { ", delete" } else { "" })
    }
}

impl PartialEq for State {
    /// Whether both are one state.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for State {}

/// What tells a state from others, as long as it is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(usize);
