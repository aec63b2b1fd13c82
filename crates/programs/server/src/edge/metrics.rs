//! What is counted: requests, connections, bytes, lock conflicts, operations on the store. No label has the name of a state or a client.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// The media type of [`Metrics::text`].
pub(super) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Upper bounds of durations in seconds.
const SECONDS: [f64; 13] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0];

type Label = (&'static str, Cow<'static, str>);

/// The counters of a server. Clones count together.
#[derive(Clone)]
pub struct Metrics(Arc<Counts>);

struct Counts {
    registry: Registry,
    requests: Family<[Label; 3], Counter>,
    durations: Family<[Label; 2], Histogram, fn() -> Histogram>,
    in_flight: Gauge,
    received: Counter,
    sent: Counter,
    lock_conflicts: Counter,
    limited: Family<[Label; 1], Counter>,
    connections: Gauge,
    refused: Family<[Label; 1], Counter>,
    store: Family<[Label; 2], Histogram, fn() -> Histogram>,
    reloads: Family<[Label; 1], Counter>,
}

fn histogram() -> Histogram {
    Histogram::new(SECONDS)
}

/// The method, where it is one that the server has; other clients can write anything.
fn method_class(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "LOCK" => "LOCK",
        "UNLOCK" => "UNLOCK",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

fn status_class(status: StatusCode) -> &'static str {
    match status.as_u16() / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    }
}

impl Metrics {
    /// Counters at zero.
    #[expect(clippy::new_without_default, reason = "two sets of counters are never the same")]
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("groundstate");
        let counts = Counts {
            requests: Family::default(),
            durations: Family::new_with_constructor(histogram),
            in_flight: Gauge::default(),
            received: Counter::default(),
            sent: Counter::default(),
            lock_conflicts: Counter::default(),
            limited: Family::default(),
            connections: Gauge::default(),
            refused: Family::default(),
            store: Family::new_with_constructor(histogram),
            reloads: Family::default(),
            registry: Registry::default(),
        };
        let r = &mut registry;
        r.register("http_requests", "Requests by method, route and class of status", counts.requests.clone());
        r.register(
            "http_request_duration_seconds",
            "Time from the head of a request to its answer",
            counts.durations.clone(),
        );
        r.register("http_requests_in_flight", "Requests that are being worked on", counts.in_flight.clone());
        r.register("http_received_bytes", "Bytes of bodies of requests", counts.received.clone());
        r.register("http_sent_bytes", "Bytes of bodies of answers", counts.sent.clone());
        r.register(
            "lock_conflicts",
            "Requests for a lock that another holder has",
            counts.lock_conflicts.clone(),
        );
        r.register(
            "http_requests_limited",
            "Requests refused because there were too many, by what was counted",
            counts.limited.clone(),
        );
        r.register("connections", "Connections that are open", counts.connections.clone());
        r.register(
            "connections_refused",
            "Connections closed without an answer to a request, by reason",
            counts.refused.clone(),
        );
        r.register(
            "store_operation_duration_seconds",
            "Time of operations on the store, by operation and outcome",
            counts.store.clone(),
        );
        r.register("reloads", "Reloads of the configuration by outcome", counts.reloads.clone());
        Self(Arc::new(Counts { registry, ..counts }))
    }

    /// All counters, in the format that Prometheus reads.
    pub fn text(&self) -> String {
        let mut text = String::new();
        match encode(&mut text, &self.0.registry) {
            Ok(()) => text,
            // Writing into a string does not fail; half of the counters would be taken for all of them.
            Err(_) => String::new(),
        }
    }

    pub(super) fn request_begins(&self) {
        self.0.in_flight.inc();
    }

    /// Counts a request that was answered. `route` is a template, never a path.
    pub(super) fn request_ends(
        &self,
        method: &Method,
        route: &str,
        status: StatusCode,
        received: u64,
        took: Duration,
    ) {
        let counts = &self.0;
        let (class, route) = (method_class(method), Cow::Owned(route.to_owned()));
        counts.in_flight.dec();
        counts.received.inc_by(received);
        let labels = [
            ("method", class.into()),
            ("route", Cow::clone(&route)),
            ("status", status_class(status).into()),
        ];
        counts.requests.get_or_create(&labels).inc();
        counts
            .durations
            .get_or_create(&[("method", class.into()), ("route", route)])
            .observe(took.as_secs_f64());
        if class == "LOCK" && matches!(status, StatusCode::LOCKED | StatusCode::CONFLICT) {
            counts.lock_conflicts.inc();
        }
    }

    /// Counts a request whose client went away before the answer.
    pub(super) fn request_abandoned(&self) {
        self.0.in_flight.dec();
    }

    pub(super) fn sent(&self, bytes: u64) {
        self.0.sent.inc_by(bytes);
    }

    pub(super) fn limited(&self, by: &'static str) {
        self.0.limited.get_or_create(&[("by", by.into())]).inc();
    }

    pub(super) fn connections(&self, number: usize) {
        self.0.connections.set(i64::try_from(number).unwrap_or(i64::MAX));
    }

    pub(super) fn refused(&self, reason: &'static str) {
        self.0.refused.get_or_create(&[("reason", reason.into())]).inc();
    }

    pub(super) fn store(&self, operation: &'static str, is_ok: bool, took: Duration) {
        let outcome = if is_ok { "ok" } else { "error" };
        let labels = [("operation", operation.into()), ("outcome", outcome.into())];
        self.0.store.get_or_create(&labels).observe(took.as_secs_f64());
    }

    pub(super) fn reloaded(&self, is_ok: bool) {
        let outcome = if is_ok { "ok" } else { "error" };
        self.0.reloads.get_or_create(&[("outcome", outcome.into())]).inc();
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::{Method, StatusCode};

    use super::Metrics;

    #[test]
    fn requests_are_counted_by_class_and_made_up_methods_together() {
        let metrics = Metrics::new();
        for (method, status) in [("LOCK", 200), ("LOCK", 423), ("X1", 405), ("X2", 405)] {
            metrics.request_begins();
            let (method, status) =
                (Method::from_bytes(method.as_bytes()).unwrap(), StatusCode::from_u16(status).unwrap());
            metrics.request_ends(&method, "/state/{*path}", status, 10, Duration::from_millis(3));
        }
        metrics.store("put", false, Duration::from_millis(3));
        metrics.limited("address");
        let text = metrics.text();
        for line in [
            r#"groundstate_http_requests_total{method="LOCK",route="/state/{*path}",status="2xx"} 1"#,
            r#"groundstate_http_requests_total{method="other",route="/state/{*path}",status="4xx"} 2"#,
            r#"groundstate_http_request_duration_seconds_bucket{le="0.005",method="LOCK",route="/state/{*path}"} 2"#,
            r#"groundstate_http_requests_limited_total{by="address"} 1"#,
            r#"groundstate_store_operation_duration_seconds_count{operation="put",outcome="error"} 1"#,
            "groundstate_lock_conflicts_total 1",
            "groundstate_http_requests_in_flight 0",
            "groundstate_http_received_bytes_total 40",
            "# EOF",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
    }
}
