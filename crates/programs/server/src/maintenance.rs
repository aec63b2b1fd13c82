//! Removing old versions and what crashes left, on one of many nodes at a time.

use std::fmt;
use std::time::Duration;

use groundstate_audit::{Event, Outcome};
use groundstate_common::{IdSource, IdSourceError, Sleeper, Timestamp, jittered};
use groundstate_pulumi_service::{PruneOptions, PruneReport};
use groundstate_versioned::{
    Document, Error, LockOutcome, Name, NewLock, Retention, SweepOptions, SweepReport,
};
use serde::{Deserialize, Serialize};
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

/// How far the clock may be from the times of the store before nothing is removed because of its age.
const APART: Duration = Duration::from_secs(24 * 60 * 60);

/// Description in the lock of a sweep.
#[derive(Serialize, Deserialize)]
struct Sweeping {
    /// Since when the sweeps followed each other without a jump of the clock.
    steady_since: Timestamp,
}

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
        if !self.take(&self.app.documents().document(&name), SETTLE, "").await? {
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
        let steady_since = self.steady_since(&lease).await?;
        let sweeping = serde_json::to_string(&Sweeping { steady_since }).unwrap_or_default();
        if !self.take(&lease, self.options.interval, &sweeping).await? {
            return Ok(None);
        }
        let doubt = self.doubt(&lease, steady_since).await?;
        let mut options = SweepOptions::default().grace(self.options.grace);
        match &doubt {
            Some(doubt) => {
                warn!("{doubt}, so old versions are not removed");
                self.note("history.keep", doubt);
            }
            None => options = options.retention(self.options.retention),
        }
        let report = self.app.documents().sweep(&options).await?;
        self.say(&report);
        // Behind the versions, whose updates are needed no more with them.
        if doubt.is_none() {
            self.prune().await;
        }
        Ok(Some(report))
    }

    /// Since when sweeps followed each other without a jump of the clock: until now, if the last one is far away.
    async fn steady_since(&self, lease: &Document) -> Result<Timestamp, Error> {
        let head = lease.head().await?;
        let now = head.time();
        let Some(last) = head.recorded_lock() else { return Ok(Timestamp::MIN) };
        let sweeping: Option<Sweeping> = serde_json::from_slice(&last.document).ok();
        let allowed = APART.saturating_add(self.options.interval);
        let is_near = last.taken.seconds().abs_diff(now.seconds()) <= allowed.as_secs();
        Ok(if is_near { sweeping.map_or(Timestamp::MIN, |sweeping| sweeping.steady_since) } else { now })
    }

    /// Why the clock is not believed, with the lock just taken.
    async fn doubt(&self, lease: &Document, steady_since: Timestamp) -> Result<Option<String>, Error> {
        let now = self.app.context().clock.now();
        if let Some(stored) = lease.replaced().await?
            && stored.seconds().abs_diff(now.seconds()) > APART.as_secs()
        {
            return Ok(Some(format!(
                "the clock of this machine says {now}, and the store says {stored}, more than a day apart"
            )));
        }
        let is_steady = now.duration_since(steady_since).is_some_and(|steady| steady >= APART);
        Ok((!is_steady).then(|| {
            format!(
                "the clock of this machine says {now}, more than a day from the sweep before {steady_since}, \
                 and has not gone on steadily for a day since"
            )
        }))
    }

    fn note(&self, action: &'static str, reason: &str) {
        if let Some(audit) = self.app.audit() {
            audit
                .note(Event::new("system", action, "all states", Outcome::Refused).reason(reason.to_owned()));
        }
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
    async fn take(
        &self,
        lease: &Document,
        interval: Duration,
        document: &str,
    ) -> Result<bool, MaintenanceError> {
        let id = self.ids.uuid()?;
        let lock = NewLock::new(id).lease(Some(interval)).document(document.to_owned()).by("maintenance");
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
