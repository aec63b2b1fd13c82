//! How often one principal may ask.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use tokio::time::Instant;

use super::answer::too_many;
use super::limits::LiveLimits;
use super::metrics::Metrics;
use super::rate::{Buckets, Rate};
use crate::auth::{Principal, PrincipalKind};

#[derive(Clone)]
struct Limiter {
    limits: LiveLimits,
    metrics: Metrics,
    principals: Arc<Buckets<String>>,
}

/// The router behind the limit of requests of each principal. Clients of this machine that need no credentials are many programs under
/// one name, and are not counted.
pub(super) fn limit(router: Router, limits: LiveLimits, metrics: Metrics) -> Router {
    router.layer(from_fn_with_state(Limiter { limits, metrics, principals: Arc::new(Buckets::new()) }, check))
}

async fn check(State(limiter): State<Limiter>, request: Request, next: Next) -> Response {
    let limits = limiter.limits.get();
    let principal =
        request.extensions().get::<Principal>().filter(|known| known.kind() != PrincipalKind::Local);
    if let (Some(principal), Some(per_second)) = (principal, limits.requests_per_second_of_principal) {
        let rate = Rate { per_second, burst: limits.burst };
        if let Err(wait) = limiter.principals.take(principal.name().to_owned(), rate, Instant::now()) {
            limiter.metrics.limited("principal");
            return too_many("the principal sends too many requests", wait);
        }
    }
    next.run(request).await
}
