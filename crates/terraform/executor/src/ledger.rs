//! The open notes of a run, written together where several are begun or ended at once.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use groundstate_ordering::effects::Intent;
use groundstate_statemgr::Result;

use crate::intents::IntentLog;

/// Keeps an [`IntentLog`] up to date with what runs.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    open: Mutex<Open>,
    log_access: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Open {
    intents: BTreeMap<usize, Intent>,
    /// Counts the changes, and says up to which of them the log is written.
    changes: u64,
    written: u64,
}

impl Ledger {
    /// Notes that a node is about to be begun. The note is durable when this returns.
    pub(crate) async fn open(&self, log: &dyn IntentLog, node: usize, intent: Intent) -> Result<()> {
        let change = self.change(|intents| {
            intents.insert(node, intent);
        });
        self.write(log, change).await
    }

    /// Strikes the note of a node out, durably.
    pub(crate) async fn close(&self, log: &dyn IntentLog, node: usize) -> Result<()> {
        let change = self.change(|intents| {
            intents.remove(&node);
        });
        self.write(log, change).await
    }

    /// The notes that are open, by node.
    pub(crate) fn intents(&self) -> Vec<Intent> {
        self.lock().intents.values().cloned().collect()
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<usize, Intent>)) -> u64 {
        let mut open = self.lock();
        change(&mut open.intents);
        open.changes += 1;
        open.changes
    }

    async fn write(&self, log: &dyn IntentLog, change: u64) -> Result<()> {
        let _access = self.log_access.lock().await;
        let (intents, changes) = {
            let open = self.lock();
            // Another write that came between included this change.
            if open.written >= change {
                return Ok(());
            }
            (open.intents.values().cloned().collect::<Vec<_>>(), open.changes)
        };
        log.replace(&intents).await?;
        self.lock().written = changes;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
