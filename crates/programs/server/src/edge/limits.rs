//! What connections may cost.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// Bounds of connections and of how requests arrive. A test compares the defaults with those of the options.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EdgeLimits {
    /// The longest head of a request in bytes.
    pub header_bytes: usize,
    /// The most headers of a request.
    pub headers: usize,
    /// How long the head of a request, and the handshake of TLS, may take.
    pub header_timeout: Duration,
    /// How long a connection may be without a request.
    pub idle_timeout: Duration,
    /// How long a body that is being sent may pause.
    pub body_timeout: Duration,
    /// How many bytes a second a body has to come with on the average.
    pub upload_rate: Option<u64>,
    /// How long a client may read nothing while an answer waits for it.
    pub write_timeout: Duration,
    /// How long the work on a request may take once its body is there.
    pub request_timeout: Duration,
    /// The most connections at a time.
    pub connections: usize,
    /// The most connections of one address.
    pub connections_per_address: Option<u64>,
    /// How many requests a second one address may make in the long run.
    pub requests_per_second: Option<u64>,
    /// How many requests a second one principal may make in the long run.
    pub requests_per_second_of_principal: Option<u64>,
    /// How many requests may be made at once after a time without any.
    pub burst: u64,
    /// How long requests may go on when the server is told to stop.
    pub shutdown_timeout: Duration,
}

impl Default for EdgeLimits {
    /// Limits for some hundred clients behind one address.
    fn default() -> Self {
        Self {
            header_bytes: 32 << 10,
            headers: 100,
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            body_timeout: Duration::from_secs(30),
            upload_rate: Some(4 << 10),
            write_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(60),
            connections: 1024,
            connections_per_address: Some(128),
            requests_per_second: Some(100),
            requests_per_second_of_principal: Some(100),
            burst: 400,
            shutdown_timeout: Duration::from_secs(30),
        }
    }
}

/// The limits of a server, which a reload replaces. Clones are the same ones.
#[derive(Clone, Debug)]
pub(super) struct LiveLimits(Arc<RwLock<Arc<EdgeLimits>>>);

impl LiveLimits {
    pub(super) fn new(limits: &EdgeLimits) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(limits.clone()))))
    }

    /// The limits that count now.
    pub(super) fn get(&self) -> Arc<EdgeLimits> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn set(&self, limits: &EdgeLimits) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(limits.clone());
    }
}
