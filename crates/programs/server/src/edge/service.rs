//! The service of a configuration: the app behind authentication, with its audit log and its limits.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use groundstate_audit::{AuditLog, Event, Location, Outcome};
use groundstate_blobs::{BlobStore, Context, RetryPolicy};
use groundstate_common::Clock;
use groundstate_pulumi_service::StackBucket;
use thiserror::Error;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::answer::metrics as metrics_answer;
use super::limits::LiveLimits;
use super::metrics::Metrics;
use super::principals::limit;
use super::server::ServerParts;
use crate::app::with_codes;
use crate::auth::{Authenticator, Principal, Role, TokenError, Tokens, require};
use crate::config::Config;
use crate::secrets_key::{SecretsKeyError, check_secrets_key, secrets_key};
use crate::{AUDIT_PREFIX, App, Maintenance, Parts, Problem, ProblemType, PulumiBucket, router};

/// How long the last entries of the audit log are waited for.
const LAST_ENTRIES: Duration = Duration::from_secs(5);

/// Why a configuration has no service.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// The audit log cannot be opened.
    #[error("cannot open the audit log")]
    Audit(#[source] groundstate_audit::Error),
    /// The store cannot keep states.
    #[error("cannot open the states")]
    States(#[source] groundstate_versioned::Error),
    /// There is no key for the secrets of stacks.
    #[error("cannot encrypt secrets of Pulumi stacks")]
    SecretsKey(#[from] SecretsKeyError),
    /// A bucket whose stacks are to be served cannot be.
    #[error("cannot serve the stacks of {url} as those of {organization}")]
    Bucket {
        /// Whose stacks they would be.
        organization: String,
        /// The bucket, without secrets.
        url: String,
        /// What the store said.
        source: groundstate_blobs::Error,
    },
    /// Clients cannot be asked who they are.
    #[error("cannot find out who clients are")]
    Authentication(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The service of a configuration. Entries of the audit log are recorded while it is there, and old versions removed once it has
/// started.
#[derive(Clone)]
pub struct Service {
    router: Router,
    authenticator: Authenticator,
    audit: AuditLog,
    maintenance: AbortHandle,
    /// A server that is refused its start removes nothing.
    started: Arc<Notify>,
    limits: LiveLimits,
    metrics: Metrics,
    store: Arc<dyn BlobStore>,
    context: Context,
    app: App,
}

impl Service {
    /// Opens the service on a store, which retries; `node` names this process in the audit log. Called in a runtime of tokio, which
    /// records entries of the audit log beside everything else.
    ///
    /// # Errors
    ///
    /// When the store lacks what a server needs, or no client for HTTPS can be made.
    pub fn open(
        config: &Config,
        store: Arc<dyn BlobStore>,
        context: &Context,
        metrics: &Metrics,
        node: &str,
    ) -> Result<Self, ServiceError> {
        let location = Location::new(Arc::clone(&store), AUDIT_PREFIX).map_err(ServiceError::Audit)?;
        let (audit, recorder) =
            AuditLog::open(location, node, context.clone()).map_err(ServiceError::Audit)?;
        drop(tokio::spawn(recorder.run()));
        let mut parts = Parts::new(Arc::clone(&store));
        parts.context = context.clone();
        parts.audit = Some(audit.clone());
        // The store does that already.
        parts.retries = RetryPolicy::default().attempts(1);
        parts.policies = config.policies.clone();
        parts.limits = config.requests.clone();
        parts.secrets_key = secrets_key(config, context)?;
        parts.buckets = buckets(config, node, context)?;
        let app = App::open(parts).map_err(ServiceError::States)?;
        let maintenance = Maintenance::new(app.clone(), config.maintenance);
        let started = Arc::new(Notify::new());
        let start = Arc::clone(&started);
        let maintenance = tokio::spawn(async move {
            start.notified().await;
            tokio::join!(maintenance.run(), maintenance.settle());
        })
        .abort_handle();
        let mut routes = router(app.clone());
        if config.metrics.is_none() {
            let metrics = metrics.clone();
            let show = async move |principal: Extension<Principal>| metrics_for(&principal, &metrics);
            routes = routes.route("/metrics", get(show));
        }
        let limits = LiveLimits::new(&config.limits);
        let routes = limit(routes, limits.clone(), metrics.clone());
        let clock: Arc<dyn Clock> = Arc::clone(&context.clock);
        let authenticator =
            Authenticator::new(Tokens::new(Arc::clone(&store), context.clone()), &config.auth, clock)
                .map_err(|error| ServiceError::Authentication(error.into()))?;
        let router = with_codes(require(routes, authenticator.clone(), Some(audit.clone())));
        let (metrics, context) = (metrics.clone(), context.clone());
        Ok(Self { router, authenticator, audit, maintenance, started, limits, metrics, store, context, app })
    }

    /// Whether there is any way by which a client can say who it is.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn asks_clients(&self) -> Result<bool, ServiceError> {
        let failed = |error: TokenError| ServiceError::Authentication(error.into());
        self.authenticator.is_in_use().await.map_err(failed)
    }

    /// Compares the key for secrets of stacks with those that the store names. Gives what the operator has to know.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails, or if the key is in a file and another one has encrypted what is stored.
    pub async fn check_secrets_key(&self, config: &Config) -> Result<Vec<String>, ServiceError> {
        Ok(check_secrets_key(config, self.app.stacks()).await?)
    }

    /// What a [`Server`](super::Server) is made of.
    pub fn parts(&self) -> ServerParts {
        let (store, ids) = (Arc::clone(&self.store), Arc::clone(&self.context.ids));
        let mut parts = ServerParts::new(self.router.clone(), store, ids, self.metrics.clone());
        parts.limits = Some(self.limits.clone());
        parts.memory = self.app.budget().total();
        parts
    }

    /// Records that the server has started. Old versions are removed from then on.
    ///
    /// # Errors
    ///
    /// When the audit log does not take the entry: a server whose audit log does not work changes nothing.
    pub async fn record_start(&self) -> Result<(), ServiceError> {
        let event = Event::new("server", "server.start", "server", Outcome::Done);
        self.audit.record(event).await.map_err(ServiceError::Audit)?;
        self.started.notify_one();
        Ok(())
    }

    /// Records that the server ends, and waits for the entries before that one; not for long, if the store does not answer.
    pub async fn record_end(&self) {
        self.maintenance.abort();
        let event = Event::new("server", "server.stop", "server", Outcome::Done);
        match timeout(LAST_ENTRIES, self.audit.record(event)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(error = %error, "the last entries of the audit log may be missing")
            }
            Err(_) => {
                tracing::warn!("the last entries of the audit log may be missing: the store does not answer")
            }
        }
    }
}

/// A bucket, and the owner whose stacks it has.
type OwnedBucket = (String, Arc<dyn StackBucket>);

/// The buckets of a configuration. Their credentials are those of the environment.
fn buckets(config: &Config, node: &str, context: &Context) -> Result<Vec<OwnedBucket>, ServiceError> {
    let variable = |name: &str| std::env::var(name).ok();
    let mut buckets: Vec<OwnedBucket> = Vec::new();
    for settings in &config.buckets {
        let organization = settings.organization.clone();
        let bucket = match PulumiBucket::open(&settings.url, node, context, &variable) {
            Ok(bucket) => bucket,
            Err(source) => {
                let url = settings.url.to_string();
                return Err(ServiceError::Bucket { organization, url, source });
            }
        };
        for note in bucket.notes() {
            tracing::warn!(bucket = %bucket, "{note}");
        }
        buckets.push((organization, Arc::new(bucket)));
    }
    Ok(buckets)
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("store", &self.store.to_string()).finish_non_exhaustive()
    }
}

/// Counters tell how much everyone does, so they are for those who may do everything.
fn metrics_for(principal: &Principal, metrics: &Metrics) -> Response {
    if principal.may_everywhere(Role::Admin) {
        return metrics_answer(metrics);
    }
    let detail = "metrics are for principals with the role admin on everything; or set `metrics.listen`";
    Problem::new(ProblemType::Forbidden, detail).into_response()
}
