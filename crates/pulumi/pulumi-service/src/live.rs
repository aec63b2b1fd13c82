//! What this process remembers of updates that run: a cache, rebuilt from the store at any time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use groundstate_common::Timestamp;

use crate::checkpoint::LastCheckpoint;
use crate::journal::Tail;
use crate::lease::LeaseToken;
use crate::record::Running;
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
    lease: Option<SeenLease>,
    checkpoint: Option<LastCheckpoint>,
}

/// A lease as this process saw it last. Another client may have ended it since.
#[derive(Clone)]
pub(crate) struct SeenLease {
    /// The SHA-256 of its token.
    token: String,
    expires: Option<Timestamp>,
    /// The update; none for a preview.
    pub(crate) running: Option<Running>,
}

impl SeenLease {
    pub(crate) fn of(running: &Running, expires: Option<Timestamp>) -> Self {
        Self { token: running.token.clone(), expires, running: Some(running.clone()) }
    }

    pub(crate) fn of_preview(token: &str, expires: Timestamp) -> Self {
        Self { token: token.to_owned(), expires: Some(expires), running: None }
    }

    fn is_in_force(&self, token: &LeaseToken, now: Timestamp) -> bool {
        token.is(&self.token) && self.expires.is_none_or(|expires| now < expires)
    }
}

impl Live {
    /// The tail of the journal of an update.
    pub(crate) fn tail(&self, update: &str) -> Arc<tokio::sync::Mutex<Tail>> {
        self.with(update, |known| Arc::clone(&known.tail))
    }

    /// The stack of an update that had the lease when this process looked last.
    pub(crate) fn stack(&self, update: &str) -> Option<Stack> {
        self.read(update, |known| known.stack.clone())
    }

    /// The lease of an update, if it had this token when this process looked last, and is not over since.
    pub(crate) fn lease(&self, update: &str, token: &LeaseToken, now: Timestamp) -> Option<SeenLease> {
        self.read(update, |known| known.lease.clone().filter(|lease| lease.is_in_force(token, now)))
    }

    /// The last checkpoint of an update that this process stored.
    pub(crate) fn checkpoint(&self, update: &str) -> Option<LastCheckpoint> {
        self.read(update, |known| known.checkpoint.clone())
    }

    pub(crate) fn keep(&self, update: &str, stack: &Stack) {
        self.with(update, |known| known.stack = Some(stack.clone()));
    }

    pub(crate) fn keep_lease(&self, update: &str, lease: SeenLease) {
        self.with(update, |known| known.lease = Some(lease));
    }

    pub(crate) fn keep_checkpoint(&self, update: &str, checkpoint: Option<LastCheckpoint>) {
        self.with(update, |known| known.checkpoint = checkpoint);
    }

    pub(crate) fn forget(&self, update: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(update);
    }

    fn read<T>(&self, update: &str, read: impl FnOnce(&Known) -> Option<T>) -> Option<T> {
        read(self.0.lock().unwrap_or_else(PoisonError::into_inner).get(update)?)
    }

    fn with<T>(&self, update: &str, change: impl FnOnce(&mut Known) -> T) -> T {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST && !all.contains_key(update) {
            all.clear();
        }
        change(all.entry(update.to_owned()).or_default())
    }
}
