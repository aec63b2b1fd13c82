//! Stands in for the client of a service: values under keys, each with a revision that changes with every write.
//!
//! Put the real client in its place.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A client of the service. Clones talk to the same one.
#[derive(Clone, Default)]
pub struct Service(Arc<Mutex<Entries>>);

#[derive(Default)]
struct Entries {
    by_key: BTreeMap<String, Entry>,
    revisions: u64,
}

/// A value with its revision.
#[derive(Clone)]
pub struct Entry {
    /// Changes with every write, and never comes back.
    pub revision: u64,
    /// The bytes.
    pub value: Vec<u8>,
}

/// What has to hold for a change to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Anything.
    Always,
    /// There is nothing under the key.
    Absent,
    /// The value has this revision.
    Revision(u64),
}

/// Why the service did not do what it was asked for.
#[derive(Debug)]
pub enum ServiceError {
    /// The condition does not hold, so nothing has happened.
    Condition,
    /// There is no connection, so nothing has happened.
    Unreachable,
    /// The connection broke after the request was sent.
    NoAnswer,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Service")
    }
}

impl Service {
    /// The value under a key.
    pub async fn get(&self, key: &str) -> Result<Option<Entry>, ServiceError> {
        Ok(self.entries().by_key.get(key).cloned())
    }

    /// Stores a value if the condition holds, and gives its revision. Both are one step.
    pub async fn put(&self, key: &str, value: &[u8], condition: Condition) -> Result<u64, ServiceError> {
        let mut entries = self.entries();
        entries.check(key, condition)?;
        entries.revisions += 1;
        let entry = Entry { revision: entries.revisions, value: value.to_vec() };
        let revision = entry.revision;
        entries.by_key.insert(key.to_owned(), entry);
        Ok(revision)
    }

    /// Removes what is under a key if the condition holds. Both are one step.
    pub async fn remove(&self, key: &str, condition: Condition) -> Result<(), ServiceError> {
        let mut entries = self.entries();
        entries.check(key, condition)?;
        entries.by_key.remove(key);
        Ok(())
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn check(&self, key: &str, condition: Condition) -> Result<(), ServiceError> {
        let found = self.by_key.get(key).map(|entry| entry.revision);
        let holds = match condition {
            Condition::Always => true,
            Condition::Absent => found.is_none(),
            Condition::Revision(revision) => found == Some(revision),
        };
        if holds { Ok(()) } else { Err(ServiceError::Condition) }
    }
}

impl fmt::Display for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Condition => "the condition does not hold",
            Self::Unreachable => "there is no connection",
            Self::NoAnswer => "the connection broke before the answer",
        })
    }
}

impl std::error::Error for ServiceError {}
