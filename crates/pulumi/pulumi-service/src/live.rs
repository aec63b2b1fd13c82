//! What this process remembers of journals that are written: a cache, rebuilt from the store at any time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::journal::Tail;

/// How many journals are remembered. Behind that all are forgotten; each costs one read of its entries then.
const MOST: usize = 1024;

/// The tails of the journals of updates that send entries to this process.
#[derive(Default)]
pub(crate) struct Live(Mutex<HashMap<String, Arc<tokio::sync::Mutex<Tail>>>>);

impl Live {
    pub(crate) fn tail(&self, update: &str) -> Arc<tokio::sync::Mutex<Tail>> {
        let mut tails = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if tails.len() >= MOST && !tails.contains_key(update) {
            tails.clear();
        }
        Arc::clone(tails.entry(update.to_owned()).or_default())
    }

    pub(crate) fn forget(&self, update: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(update);
    }
}
