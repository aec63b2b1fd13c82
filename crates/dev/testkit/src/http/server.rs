//! A server on a thread of its own, with its log and its faults.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::sync::oneshot;

use super::Service;
use super::listen::{Running, run};
use crate::certificate::{Authority, Certificate};
use crate::fault::{Fault, Faults};
use crate::log::{Log, Mark, Recorded, Traffic};

/// What all servers of this crate have in common: an address, the log of requests, and faults.
///
/// It runs on a thread of its own, so that a test may block while a program talks to it, and ends when it is dropped.
pub struct Server {
    scheme: &'static str,
    address: SocketAddr,
    log: Arc<Log>,
    faults: Arc<Faults>,
    _stop: oneshot::Sender<()>,
}

impl Server {
    pub(crate) fn from_running(running: Running, scheme: &'static str) -> Self {
        let Running { address, log, faults, stop } = running;
        Self { scheme, address, log, faults, _stop: stop }
    }

    /// Starts a server with this service on a free port of the loopback.
    pub(crate) fn start(service: Arc<dyn Service>) -> Self {
        Self::start_on(0, service)
    }

    /// Starts a server on this port of the loopback, or on a free one for 0.
    pub(crate) fn start_on(port: u16, service: Arc<dyn Service>) -> Self {
        Self::from_running(run(port, service, None), "http")
    }

    /// Starts a server on a free port that speaks TLS with this certificate.
    pub(crate) fn start_tls(certificate: &Certificate, service: Arc<dyn Service>) -> Self {
        Self::from_running(run(0, service, Some(certificate.acceptor())), "https")
    }

    /// The same for clients that show a certificate of the authority.
    pub(crate) fn start_mutual_tls(
        certificate: &Certificate,
        clients: &Authority,
        service: Arc<dyn Service>,
    ) -> Self {
        Self::from_running(run(0, service, Some(certificate.acceptor_for(clients))), "https")
    }

    /// Where the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of the server, without a slash at its end.
    pub fn endpoint(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// Plans a fault.
    pub fn fault(&self, fault: Fault) {
        self.faults.plan(fault);
    }

    /// Forgets all faults that were planned.
    pub fn clear_faults(&self) {
        self.faults.clear();
    }

    /// Starts the random numbers of faults with a probability anew, from this seed.
    pub fn seed(&self, seed: u64) {
        self.faults.seed(seed);
    }

    /// All requests so far, in the order in which they arrived.
    pub fn requests(&self) -> Vec<Recorded> {
        self.log.all()
    }

    /// The number of requests with this method whose path fits the pattern, as in [`Fault::on`].
    pub fn count(&self, method: &str, pattern: &str) -> usize {
        self.log.count(method, pattern)
    }

    /// Keeps no bodies of requests from now on, only their sizes: for programs that send more than there is room for.
    pub fn keep_sizes_only(&self) {
        self.log.keep_sizes_only();
    }

    /// Forgets the requests so far.
    pub fn clear_requests(&self) {
        self.log.clear();
    }

    /// This moment in the log, for [`traffic_since`](Self::traffic_since).
    pub fn mark(&self) -> Mark {
        self.log.mark()
    }

    /// How many requests and bytes there were since the moment.
    pub fn traffic_since(&self, mark: Mark) -> Traffic {
        self.log.traffic_since(mark)
    }

    /// How many requests and bytes there were in all.
    pub fn traffic(&self) -> Traffic {
        self.log.traffic_since(Mark::default())
    }

    /// The requests since the moment.
    pub fn requests_since(&self, mark: Mark) -> Vec<Recorded> {
        self.log.since(mark)
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({})", self.endpoint())
    }
}
