//! Removing old versions and what crashes left, on one of many nodes at a time.

use std::fmt;
use std::time::Duration;

use groundstate_audit::{Event, Outcome};
use groundstate_common::{IdSource, IdSourceError, Sleeper, jittered};
use groundstate_pulumi_service::{PruneOptions, PruneReport};
use groundstate_versioned::{
    Document, Error, LockOutcome, Name, NewLock, Retention, SweepOptions, SweepReport,
};
use thiserror::Error as ThisError;
use tracing::{info, warn};

use crate::app::App;

/// The document whose lock says which node sweeps.
const LEASE: &str = "maintenance/sweep";
/// How many times in an interval a node looks whether it is its turn.
const LOOKS: u32 = 4;
/// The document whose lock says which node ends updates whose clients have gone.
const SETTLING: &str = "maintenance/settle";
/// How often it does so. A request for such a stack does not wait for that.
const SETTLE: Duration = Duration::from_secs(120);

/// When to sweep, and what is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MaintenanceOptions {
    /// How often the states are swept, by all nodes together.
    pub interval: Duration,
    /// Which versions are kept.
    pub retention: Retention,
    /// Of which updates of Pulumi stacks events and journals are kept.
    pub updates: Retention,
    /// For how long what is not finished is left alone.
    pub grace: Duration,
}

impl Default for MaintenanceOptions {
    /// Every hour; every version and every update is kept, and what is not finished for a day.
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(60 * 60),
            retention: Retention::Everything,
            updates: Retention::Everything,
            grace: SweepOptions::default().grace,
        }
    }
}

/// Why a node did not do the work of maintenance.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum MaintenanceError {
    /// Without random numbers two nodes would take the same lock.
    #[error("whose turn it is cannot be found out: there are no random numbers")]
    Random(#[from] IdSourceError),
    /// The store fails.
    #[error("the store did not do it")]
    Store(#[from] Error),
    /// The updates of Pulumi stacks cannot be ended.
    #[error("the updates cannot be ended")]
    Stacks(#[from] groundstate_pulumi_service::Error),
}

/// Sweeps the states of an app. Every node runs it; in each interval one of them does the work.
///
/// A lock in the store with the interval as its lease says that it is done. It is never released, so the next sweep begins when it
/// ends, and a node that dies holds up nothing longer than that. Sweeps that overlap do no harm.
pub struct Maintenance {
    app: App,
    options: MaintenanceOptions,
    sleeper: std::sync::Arc<dyn Sleeper>,
    ids: std::sync::Arc<dyn IdSource>,
}

impl Maintenance {
    /// The maintenance of an app.
    pub fn new(app: App, options: MaintenanceOptions) -> Self {
        let context = app.context();
        let (sleeper, ids) = (std::sync::Arc::clone(&context.sleeper), std::sync::Arc::clone(&context.ids));
        Self { app, options, sleeper, ids }
    }

    /// Sweeps now and then, until it is dropped.
    pub async fn run(&self) {
        loop {
            if let Err(error) = self.take_turn().await {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                warn!(error = %error, cause, "old versions cannot be removed, trying again later");
            }
            // Nodes that start together do not look together for ever.
            let share = self.ids.number().unwrap_or(u32::MAX);
            let wait = self.options.interval / LOOKS;
            self.sleeper.sleep(jittered(wait, share)).await;
        }
    }

    /// Ends updates of Pulumi stacks whose leases are over, until it is dropped.
    pub async fn settle(&self) {
        loop {
            let share = self.ids.number().unwrap_or(u32::MAX);
            self.sleeper.sleep(jittered(SETTLE, share)).await;
            if let Err(error) = self.take_settling_turn().await {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                warn!(error = %error, cause, "updates whose clients have gone cannot be ended, trying again later");
            }
        }
    }

    /// Ends updates whose leases have expired, if it is this node's turn, and says how many. `None` if another node did it in this
    /// interval.
    ///
    /// # Errors
    ///
    /// Those of the store, and if there are no random numbers.
    pub async fn take_settling_turn(&self) -> Result<Option<usize>, MaintenanceError> {
        let name = Name::parse(SETTLING).expect("it is made of letters and a slash");
        if !self.take(&self.app.documents().document(&name), SETTLE).await? {
            return Ok(None);
        }
        Ok(Some(self.app.stacks().settle_all().await?))
    }

    /// Sweeps if it is this node's turn, and says what was removed. `None` if another node has swept in this interval.
    ///
    /// # Errors
    ///
    /// Those of the store, and if there are no random numbers. States that cannot be swept are in the report.
    pub async fn take_turn(&self) -> Result<Option<SweepReport>, MaintenanceError> {
        let name = Name::parse(LEASE).expect("it is made of letters and a slash");
        let lease = self.app.documents().document(&name);
        if !self.take(&lease, self.options.interval).await? {
            return Ok(None);
        }
        let options = SweepOptions::default().retention(self.options.retention).grace(self.options.grace);
        let report = self.app.documents().sweep(&options).await?;
        self.say(&report);
        // Behind the versions, whose updates are needed no more with them.
        self.prune().await;
        Ok(Some(report))
    }

    /// Removes what old updates of Pulumi stacks left.
    async fn prune(&self) {
        let options = PruneOptions::default().retention(self.options.updates).grace(self.options.grace);
        let report = match self.app.stacks().prune(&options).await {
            Ok(report) => report,
            Err(error) => {
                warn!(error = %error, "what old updates left cannot be removed, trying again later");
                return;
            }
        };
        for (stack, error) in &report.failed {
            warn!(stack, error = %error, "what old updates of a stack left cannot be removed");
        }
        let PruneReport { stacks, updates, blobs, bytes, .. } = report;
        info!(stacks, updates, blobs, bytes, "pruned");
        if let Some(audit) = self.app.audit().filter(|_| updates > 0) {
            let reason = format!("events and journals of {updates} updates of {stacks} stacks");
            audit.note(Event::new("system", "updates.prune", "all stacks", Outcome::Done).reason(reason));
        }
    }

    /// Takes the lock for this interval; not if it is taken.
    async fn take(&self, lease: &Document, interval: Duration) -> Result<bool, MaintenanceError> {
        let id = self.ids.uuid()?;
        let lock = NewLock::new(id).lease(Some(interval)).by("maintenance");
        Ok(matches!(lease.lock(&lock).await?, LockOutcome::Locked(_)))
    }

    fn say(&self, report: &SweepReport) {
        for (name, error) in &report.failed {
            warn!(document = %name, error = %error, "a state cannot be swept");
        }
        let swept = report.swept;
        info!(
            documents = report.documents,
            versions = swept.versions,
            records = swept.records,
            parts = swept.parts,
            bytes = swept.bytes,
            "swept"
        );
        if let Some(audit) = self.app.audit().filter(|_| swept.versions > 0) {
            let reason = format!("{} versions of {} documents", swept.versions, report.documents);
            audit.note(Event::new("system", "history.sweep", "all states", Outcome::Done).reason(reason));
        }
    }
}

impl fmt::Debug for Maintenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Maintenance")
            .field("app", &self.app)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
