//! How a run ended.

use groundstate_ordering::effects::Intent;
use groundstate_schedule::walk::WalkReport;
use groundstate_statemgr::Error;

/// How a run ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct RunReport {
    /// What became of each node of the plan.
    pub walk: WalkReport,
    /// Why the state of the manager is not stored. It holds what was done, so save it elsewhere.
    pub unsaved: Option<Error>,
    /// Operations of unknown outcome. They are noted, and [`recover`](crate::Executor::recover) of the
    /// next run judges them.
    pub open: Vec<Intent>,
}

impl RunReport {
    /// Whether all was done and is stored.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.walk.is_success() && self.unsaved.is_none() && self.open.is_empty()
    }
}

/// A run that did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// An earlier run was interrupted.
    #[error(
        "{0} operations of an earlier run were interrupted, look at what recovery says about them and acknowledge it first"
    )]
    Interrupted(usize),
    /// State or notes could not be read or written.
    #[error("nothing was started: {context}")]
    Store {
        /// What was being done.
        context: &'static str,
        /// Why it failed.
        source: Error,
    },
}
