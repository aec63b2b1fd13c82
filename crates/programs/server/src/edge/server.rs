//! The server: its listeners, what all connections share, and its end.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use groundstate_blobs::BlobStore;
use groundstate_common::IdSource;
use http::Response;
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::answer::remember_route;
use super::body::Sending;
use super::client::Clients;
use super::connection::{Connection, serve};
use super::control::{Control, Counter, Stage};
use super::health::Readiness;
use super::limits::{EdgeLimits, LiveLimits};
use super::listener::{ListenError, listen};
use super::metrics::Metrics;
use super::rate::Buckets;
use super::tls::{TlsError, TlsSlot, load};
use crate::budget::default_memory;
use crate::config::{Config, Network};

/// How long the accept loop rests when the system has no room for a connection.
const REST: Duration = Duration::from_millis(100);

/// What connections answer with.
pub(super) type Answered = Response<Sending<Body>>;

/// What a [`Server`] is made of.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerParts {
    /// What answers requests. Every request is worked on by a task of its own, which goes on when the client goes away.
    pub app: Router,
    /// The store, for `/readyz`.
    pub store: Arc<dyn BlobStore>,
    /// Where the ids of requests come from.
    pub ids: Arc<dyn IdSource>,
    /// What is counted.
    pub metrics: Metrics,
    /// How many bytes of memory requests have together, of which the windows of HTTP/2 get a part.
    pub memory: u64,
    /// The limits that others share; otherwise those of the configuration.
    pub(super) limits: Option<LiveLimits>,
}

impl ServerParts {
    /// All of them.
    pub fn new(app: Router, store: Arc<dyn BlobStore>, ids: Arc<dyn IdSource>, metrics: Metrics) -> Self {
        Self { app, store, ids, metrics, memory: default_memory(), limits: None }
    }
}

/// Why a server does not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// An address cannot be listened on.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The files of TLS cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// What all connections share.
pub(super) struct Shared {
    pub(super) app: Router,
    limits: LiveLimits,
    /// How many bytes of memory requests have together.
    pub(super) memory: u64,
    pub(super) tls: TlsSlot,
    pub(super) clients: Clients,
    pub(super) ids: Arc<dyn IdSource>,
    pub(super) metrics: Metrics,
    pub(super) readiness: Readiness,
    /// What addresses have left of their requests.
    pub(super) addresses: Buckets<IpAddr>,
    pub(super) control: Control,
    connections: Counter,
    /// The requests that are worked on, their clients being there or not.
    pub(super) tasks: Counter,
    of_address: Mutex<HashMap<IpAddr, u64>>,
}

impl Shared {
    /// The limits that count now.
    pub(super) fn limits(&self) -> Arc<EdgeLimits> {
        self.limits.get()
    }
}

/// One connection of an address, until it is dropped.
struct AddressSlot {
    shared: Arc<Shared>,
    address: IpAddr,
}

impl AddressSlot {
    /// None where the address has all that it may have.
    fn take(shared: &Arc<Shared>, peer: IpAddr) -> Option<Self> {
        let address = Network::of_client(peer);
        let limit = shared.limits().connections_per_address.filter(|_| !shared.clients.is_trusted(peer));
        let mut counts = shared.of_address.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(address).or_default();
        if limit.is_some_and(|limit| *count >= limit) {
            return None;
        }
        *count += 1;
        Some(Self { shared: Arc::clone(shared), address })
    }
}

impl Drop for AddressSlot {
    fn drop(&mut self) {
        let mut counts = self.shared.of_address.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// Every request that had begun was answered.
    Finished,
    /// Connections were closed before their requests were answered; what had begun to be written is stored.
    Cut,
    /// It was told twice to stop, or a write did not come to its end; so many requests were being worked on.
    Abandoned(usize),
}

/// A server that listens.
pub struct Server {
    shared: Arc<Shared>,
    listeners: Vec<(TcpListener, SocketAddr)>,
    metrics: Option<(TcpListener, SocketAddr)>,
}

impl Server {
    /// Reads the certificates and listens on every address. Connections are accepted by [`run`](Self::run).
    ///
    /// # Errors
    ///
    /// When an address or a file cannot be used.
    pub fn bind(config: &Config, parts: ServerParts) -> Result<Self, StartError> {
        let tls = config.tls.as_ref().map(load).transpose()?;
        let open = |address: SocketAddr| {
            let listener = listen(address)?;
            // A port of 0 is one that the system chooses.
            let local = listener.local_addr().map_err(|source| ListenError { address, source })?;
            Ok((listener, local))
        };
        let listeners =
            config.listen.iter().map(|address| open(*address)).collect::<Result<_, ListenError>>()?;
        let metrics = config.metrics.as_ref().map(|metrics| open(metrics.address)).transpose()?;
        let shared = Shared {
            app: parts.app.layer(axum::middleware::from_fn(remember_route)),
            limits: parts.limits.unwrap_or_else(|| LiveLimits::new(&config.limits)),
            memory: parts.memory,
            tls: TlsSlot::new(tls),
            clients: Clients::of(config),
            ids: parts.ids,
            metrics: parts.metrics,
            readiness: Readiness::new(parts.store),
            addresses: Buckets::new(),
            control: Control::new(),
            connections: Counter::default(),
            tasks: Counter::default(),
            of_address: Mutex::default(),
        };
        Ok(Self { shared: Arc::new(shared), listeners, metrics })
    }

    /// The addresses that it listens on.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners.iter().map(|(_, address)| *address).collect()
    }

    /// The address of metrics, if they have one.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().map(|(_, address)| *address)
    }

    /// What tells the server to stop.
    pub fn control(&self) -> Control {
        self.shared.control.clone()
    }

    /// What gives the server another configuration while it runs.
    pub fn reloader(&self) -> Reloader {
        Reloader { shared: Arc::clone(&self.shared) }
    }

    /// Accepts connections until the server is told to stop, and ends then as its limits say.
    pub async fn run(self) -> Ended {
        let mut loops = JoinSet::new();
        for (listener, local) in self.listeners {
            loops.spawn(accept(Arc::clone(&self.shared), listener, local, false));
        }
        if let Some((listener, local)) = self.metrics {
            loops.spawn(accept(Arc::clone(&self.shared), listener, local, true));
        }
        // Each ends when the server is told to stop, and closes its listener.
        while loops.join_next().await.is_some() {}
        end(&self.shared).await
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("addresses", &self.addresses()).finish_non_exhaustive()
    }
}

/// Gives a server another configuration while it runs. Clones do so for the same one.
#[derive(Clone)]
pub struct Reloader {
    shared: Arc<Shared>,
}

impl Reloader {
    /// Reads the certificates again and takes over the limits. Connections that are there keep what they began with; if anything fails,
    /// everything stays as it is.
    ///
    /// # Errors
    ///
    /// When a file of TLS cannot be used.
    pub fn reload(&self, config: &Config) -> Result<(), TlsError> {
        let loaded = config.tls.as_ref().map(load).transpose();
        self.shared.metrics.reloaded(loaded.is_ok());
        // A server does not begin or end to speak TLS while it runs.
        if let (Some(tls), Some(_)) = (loaded?, self.shared.tls.get()) {
            self.shared.tls.set(tls);
        }
        self.shared.limits.set(&config.limits);
        Ok(())
    }
}

impl fmt::Debug for Reloader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reloader")
    }
}

/// Accepts connections until the server is told to stop.
async fn accept(shared: Arc<Shared>, listener: TcpListener, local: SocketAddr, is_for_metrics: bool) {
    loop {
        let next = async {
            // Connections for metrics come in when no others do.
            if !is_for_metrics {
                shared.connections.below(shared.limits().connections).await;
            }
            listener.accept().await
        };
        let accepted = tokio::select! {
            accepted = next => accepted,
            () = shared.control.reached(Stage::Draining) => return,
        };
        match accepted {
            Ok((stream, peer)) => begin(&shared, stream, Connection::new(peer, local, is_for_metrics)),
            Err(error) if is_of_client(&error) => {}
            Err(error) => {
                tracing::warn!(error = %error, "no connection can be accepted");
                sleep(REST).await;
            }
        }
    }
}

/// Whether the client went away before it was accepted.
fn is_of_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

fn begin(shared: &Arc<Shared>, stream: TcpStream, connection: Connection) {
    let Some(slot) = AddressSlot::take(shared, connection.peer.ip()) else {
        // An answer would cost what is to be saved; clients try again when a connection is closed.
        shared.metrics.refused("address_limit");
        return;
    };
    let counted = shared.connections.begin();
    shared.metrics.connections(shared.connections.number());
    let shared = Arc::clone(shared);
    drop(tokio::spawn(async move {
        serve(Arc::clone(&shared), stream, connection).await;
        drop((slot, counted));
        shared.metrics.connections(shared.connections.number());
    }));
}

/// Waits for the requests that have begun, then for the writes.
async fn end(shared: &Shared) -> Ended {
    let limit = shared.limits().shutdown_timeout;
    let all = async {
        shared.connections.below(1).await;
        shared.tasks.below(1).await;
    };
    let forced = || Ended::Abandoned(shared.tasks.number());
    // Connections that were told to end at once do not count as answered.
    tokio::select! {
        biased;
        () = shared.control.reached(Stage::Ending) => return forced(),
        finished = timeout(limit, all) => if finished.is_ok() {
            return Ended::Finished;
        },
    }
    shared.control.close();
    tokio::select! {
        biased;
        () = shared.control.reached(Stage::Ending) => forced(),
        finished = timeout(limit, shared.tasks.below(1)) => match finished {
            Ok(()) => Ended::Cut,
            Err(_) => forced(),
        },
    }
}
