//! What this process remembers of updates that run: a cache, rebuilt from the store at any time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::journal::Tail;
use crate::stack::Stack;

/// How many updates are remembered. Behind that all are forgotten; each costs some reads then.
const MOST: usize = 1024;

/// The updates that send something to this process, by their ids.
#[derive(Default)]
pub(crate) struct Live(Mutex<HashMap<String, Known>>);

#[derive(Default)]
struct Known {
    tail: Arc<tokio::sync::Mutex<Tail>>,
    /// The stack, whose name cannot change while the update has the lease.
    stack: Option<Stack>,
}

impl Live {
    /// The tail of the journal of an update.
    pub(crate) fn tail(&self, update: &str) -> Arc<tokio::sync::Mutex<Tail>> {
        self.with(update, |known| Arc::clone(&known.tail))
    }

    /// The stack of an update that had the lease when this process looked last.
    pub(crate) fn stack(&self, update: &str) -> Option<Stack> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(update)?.stack.clone()
    }

    pub(crate) fn keep(&self, update: &str, stack: &Stack) {
        self.with(update, |known| known.stack = Some(stack.clone()));
    }

    pub(crate) fn forget(&self, update: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(update);
    }

    fn with<T>(&self, update: &str, change: impl FnOnce(&mut Known) -> T) -> T {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST && !all.contains_key(update) {
            all.clear();
        }
        change(all.entry(update.to_owned()).or_default())
    }
}
