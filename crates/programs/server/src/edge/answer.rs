//! One request: who sent it, whether it is let in, how long it may take, and what is told of it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY,
    STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, Method, Version};
use http_body::Body as _;
use hyper::body::Incoming;
use tokio::time::{Instant, sleep};
use tower::ServiceExt;
use tracing::{Instrument, Span, debug_span, field};

use super::activity::Activity;
use super::body::{Arrival, Arriving, Pace, Sending};
use super::client::{REQUEST_ID, RequestId};
use super::connection::Connection;
use super::limits::EdgeLimits;
use super::metrics::{MEDIA_TYPE, Metrics};
use super::rate::Rate;
use super::server::Shared;
use crate::{Origin, Problem, ProblemType, pulumi};

/// What requests are counted under that reach no route.
const NO_ROUTE: &str = "none";

/// The template of the route that answered.
#[derive(Clone)]
struct Route(MatchedPath);

/// Remembers the route in the answer, for the log and the counters.
pub(super) async fn remember_route(request: Request, next: Next) -> Response {
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let mut response = next.run(request).await;
    if let Some(matched) = matched {
        response.extensions_mut().insert(Route(matched));
    }
    response
}

/// A request that has not been answered; counted as abandoned if it never is.
struct Unanswered(Option<Metrics>);

impl Drop for Unanswered {
    fn drop(&mut self) {
        if let Some(metrics) = self.0.take() {
            metrics.request_abandoned();
        }
    }
}

/// The time of a connection that a request takes.
struct Underway(Arc<Activity>);

impl Drop for Underway {
    fn drop(&mut self) {
        self.0.request_ends();
    }
}

/// Answers a request.
pub(super) async fn answer(
    shared: Arc<Shared>,
    connection: Arc<Connection>,
    activity: Arc<Activity>,
    request: http::Request<Incoming>,
) -> Result<Response<Sending<Body>>, Infallible> {
    let start = Instant::now();
    activity.request_begins();
    let underway = Underway(activity);
    shared.metrics.request_begins();
    let mut unanswered = Unanswered(Some(shared.metrics.clone()));

    let (head, body) = request.into_parts();
    let (method, version, path) = (head.method.clone(), head.version, head.uri.path().to_owned());
    let id = shared.clients.request_id(connection.peer.ip(), &head, &*shared.ids);
    let span = debug_span!(
        "request",
        id = id.as_ref().map_or("", RequestId::as_str),
        method = %method,
        route = field::Empty,
        principal = field::Empty,
        status = field::Empty,
        milliseconds = field::Empty,
    );
    let arrival = Arc::new(Arrival::default());
    let request = http::Request::from_parts(head, body);
    let mut response = respond(&shared, &connection, &arrival, id.clone(), request, &span).await;

    if arrival.was_too_slow() {
        response =
            Problem::new(ProblemType::RequestTimeout, "the body takes too long to arrive").into_response();
        if version < Version::HTTP_2 {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }
    // What layers around the service refuse is read by the same clients.
    response = pulumi::with_codes(&path, response);
    let route = response.extensions_mut().remove::<Route>();
    let route = route.as_ref().map_or(NO_ROUTE, |route| route.0.as_str());
    let took = start.elapsed();
    span.record("route", route);
    span.record("status", response.status().as_u16());
    span.record("milliseconds", u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    shared.metrics.request_ends(&method, route, response.status(), arrival.bytes(), took);
    unanswered.0 = None;

    guard_headers(&mut response, connection.is_tls(), id.as_ref());
    let metrics = shared.metrics.clone();
    Ok(response.map(|body| {
        Sending::new(body, move |bytes| {
            metrics.sent(bytes);
            drop(underway);
        })
    }))
}

async fn respond(
    shared: &Arc<Shared>,
    connection: &Connection,
    arrival: &Arc<Arrival>,
    id: Option<RequestId>,
    request: http::Request<Incoming>,
    span: &Span,
) -> Response {
    let (mut head, body) = request.into_parts();
    if let Some(response) = operations(shared, connection, &head.method, head.uri.path()).await {
        return response;
    }
    if let Some(why) = shared.clients.tricked(connection.local, &head) {
        return Problem::new(ProblemType::Misdirected, why).into_response();
    }
    let address = shared.clients.address(connection.peer.ip(), &head);
    let limits = shared.limits();
    if let Some(per_second) = limits.requests_per_second
        && !shared.clients.is_trusted(address)
    {
        let rate = Rate { per_second, burst: limits.burst };
        let client = crate::config::Network::of_client(address);
        if let Err(wait) = shared.addresses.take(client, rate, Instant::now()) {
            shared.metrics.limited("address");
            return too_many("the address sends too many requests", wait);
        }
    }
    head.extensions.insert(Origin::new(id.map(RequestId::into_text), address));
    if let Some(certificate) = &connection.certificate {
        head.extensions.insert(certificate.clone());
    }
    if body.is_end_stream() {
        arrival.end();
    }
    let pace = Pace { pause: limits.body_timeout, rate: limits.upload_rate };
    let body = Body::new(Arriving::new(body, Arc::clone(arrival), pace));
    worked(shared, arrival, &limits, http::Request::from_parts(head, body), span).await
}

/// Has a task of its own work on the request: a client that goes away does not cut it.
async fn worked(
    shared: &Arc<Shared>,
    arrival: &Arc<Arrival>,
    limits: &EdgeLimits,
    request: Request,
    span: &Span,
) -> Response {
    let (app, counted) = (shared.app.clone(), shared.tasks.begin());
    let work = async move {
        let response = app.oneshot(request).await;
        drop(counted);
        response
    };
    let mut task = tokio::spawn(work.instrument(span.clone()));
    let too_long = async {
        arrival.ended().await;
        sleep(limits.request_timeout).await;
    };
    tokio::select! {
        done = &mut task => match done {
            Ok(Ok(response)) => response,
            Ok(Err(never)) => match never {},
            Err(error) => {
                tracing::error!(parent: span, error = %error, "the work on a request ended by itself");
                Problem::new(ProblemType::Internal, "the work on the request ended by itself").into_response()
            }
        },
        () = too_long => {
            let seconds = limits.request_timeout.as_secs();
            tracing::warn!(parent: span, seconds, "the work on a request takes too long");
            let detail = "the store takes too long; a write may or may not have been stored, so read the state before retrying";
            Problem::new(ProblemType::Unavailable, detail).with_retry_after(5).into_response()
        }
    }
}

/// `/healthz`, `/readyz`, and on the listener of metrics `/metrics`: for machines that have no credentials.
async fn operations(
    shared: &Shared,
    connection: &Connection,
    method: &Method,
    path: &str,
) -> Option<Response> {
    let reads = *method == Method::GET || *method == Method::HEAD;
    match path {
        "/healthz" if reads => Some("ok\n".into_response()),
        "/readyz" if reads => Some(readiness(shared).await),
        "/metrics" if reads && connection.is_for_metrics => Some(metrics(&shared.metrics)),
        _ if connection.is_for_metrics => {
            let detail = "there are /metrics, /healthz and /readyz here";
            Some(Problem::new(ProblemType::NoSuchRoute, detail).into_response())
        }
        _ => None,
    }
}

async fn readiness(shared: &Shared) -> Response {
    let problem = |why: &str| Problem::new(ProblemType::Unavailable, why).with_retry_after(5).into_response();
    if shared.control.stage() > super::control::Stage::Running {
        return problem("the server is about to stop");
    }
    match shared.readiness.is_ready().await {
        true => "ready\n".into_response(),
        false => problem("the store does not answer"),
    }
}

/// All counters, as an answer.
pub(super) fn metrics(metrics: &Metrics) -> Response {
    ([(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE))], metrics.text()).into_response()
}

/// Says that there were too many requests, and when the next one is let in.
pub(super) fn too_many(why: &str, wait: Duration) -> Response {
    // Rounded up: a client that waits for as long as this is let in.
    let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).max(1);
    Problem::new(ProblemType::TooManyRequests, why).with_retry_after(seconds).into_response()
}

/// Headers of every answer. No browser is to show, keep or frame a state.
fn guard_headers(response: &mut Response, is_tls: bool, id: Option<&RequestId>) {
    let mut set = |name: HeaderName, value: &'static str| {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    };
    set(X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(CACHE_CONTROL, "no-store");
    set(CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'");
    set(REFERRER_POLICY, "no-referrer");
    if is_tls {
        set(STRICT_TRANSPORT_SECURITY, "max-age=31536000");
    }
    if let Some(id) = id.and_then(|id| HeaderValue::from_str(id.as_str()).ok()) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
}
