//! One connection: the handshake, the protocol, and its end.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use hyper::rt::{Read, Write};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::ServerConfig;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::activity::{Activity, Expired};
use super::answer::answer;
use super::control::Stage;
use super::limits::EdgeLimits;
use super::server::Shared;
use super::stream::Guarded;
use super::tls::HTTP_2;
use crate::auth::ClientCertificate;

/// How many requests of HTTP/2 a connection has at a time.
const STREAMS: u32 = 32;

/// How many bytes of bodies a client of HTTP/2 sends at most before it waits, for one request and for all of a connection.
const WINDOW: u32 = 2 << 20;
/// The window that HTTP/2 gives every connection.
const LEAST_WINDOW: u32 = (64 << 10) - 1;
/// Part of the memory of requests that the windows of all connections have together.
const SHARE: u64 = 4;
/// How many bytes of a request of HTTP/1 are read ahead, and of an answer to either protocol kept until the client takes them.
const BUFFER: usize = 64 << 10;

/// How many bytes each of so many connections sends before it waits, where requests have so much memory.
fn window(memory: u64, connections: usize) -> u32 {
    let each = memory / SHARE / (connections.max(1) as u64);
    u32::try_from(each).unwrap_or(WINDOW).clamp(LEAST_WINDOW, WINDOW)
}

/// What requests are told of their connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) peer: SocketAddr,
    pub(super) local: SocketAddr,
    /// Whether it is of the listener of metrics.
    pub(super) is_for_metrics: bool,
    pub(super) certificate: Option<ClientCertificate>,
    tls: Option<Protocol>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Http1,
    Http2,
}

impl Connection {
    pub(super) fn new(peer: SocketAddr, local: SocketAddr, is_for_metrics: bool) -> Self {
        Self { peer, local, is_for_metrics, certificate: None, tls: None }
    }

    pub(super) fn is_tls(&self) -> bool {
        self.tls.is_some()
    }
}

/// Serves a connection to its end.
pub(super) async fn serve(shared: Arc<Shared>, stream: TcpStream, mut connection: Connection) {
    let limits = shared.limits();
    // Small answers wait for nothing; a client that is gone already says so later.
    drop(stream.set_nodelay(true));
    let tls = if connection.is_for_metrics { None } else { shared.tls.get() };
    match tls {
        None => {
            let activity = Arc::new(Activity::new(true));
            let stream = Guarded::new(stream, Arc::clone(&activity), limits.write_timeout);
            http_1(&shared, TokioIo::new(stream), connection, activity, &limits).await;
        }
        Some(config) => {
            // Its bytes are those of TLS until the handshake is over.
            let activity = Arc::new(Activity::new(false));
            let stream = Guarded::new(stream, Arc::clone(&activity), limits.write_timeout);
            let Some(stream) = handshake(&shared, stream, config, &mut connection, &limits).await else {
                return;
            };
            let is_http_2 = connection.tls == Some(Protocol::Http2);
            activity.handshake_is_over(!is_http_2);
            let stream = TokioIo::new(stream);
            match is_http_2 {
                true => http_2(&shared, stream, connection, activity, &limits).await,
                false => http_1(&shared, stream, connection, activity, &limits).await,
            }
        }
    }
}

type Tls = tokio_rustls::server::TlsStream<Guarded<TcpStream>>;

/// Speaks TLS, which a client that has no certificate, or does not trust ours, ends.
async fn handshake(
    shared: &Shared,
    stream: Guarded<TcpStream>,
    config: Arc<ServerConfig>,
    connection: &mut Connection,
    limits: &EdgeLimits,
) -> Option<Tls> {
    let accepted = tokio::select! {
        accepted = timeout(limits.header_timeout, TlsAcceptor::from(config).accept(stream)) => accepted,
        () = shared.control.reached(Stage::Draining) => return None,
    };
    let stream = match accepted {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            tracing::debug!(peer = %connection.peer, error = %error, "TLS was not agreed on");
            shared.metrics.refused("tls");
            return None;
        }
        Err(_) => {
            shared.metrics.refused("tls_timeout");
            return None;
        }
    };
    let session = stream.get_ref().1;
    let is_http_2 = session.alpn_protocol() == Some(HTTP_2);
    connection.tls = Some(if is_http_2 { Protocol::Http2 } else { Protocol::Http1 });
    let own = session.peer_certificates().and_then(|chain| chain.first());
    connection.certificate = own.map(|certificate| ClientCertificate::new(certificate));
    Some(stream)
}

async fn http_1(
    shared: &Arc<Shared>,
    stream: impl Read + Write + Unpin + Send + 'static,
    connection: Connection,
    activity: Arc<Activity>,
    limits: &EdgeLimits,
) {
    let service = service(shared, connection, &activity);
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        // The time of heads and of pauses between requests is kept by `Activity`.
        .header_read_timeout(None)
        .max_headers(limits.headers)
        .max_header_size(limits.header_bytes)
        .max_buf_size(limits.header_bytes.max(BUFFER))
        // A client that has sent everything may still read.
        .half_close(true);
    let served = builder.serve_connection(stream, service_fn(service));
    drive(shared, served, http1::Connection::graceful_shutdown, &activity, limits).await;
}

async fn http_2(
    shared: &Arc<Shared>,
    stream: impl Read + Write + Unpin + Send + 'static,
    connection: Connection,
    activity: Arc<Activity>,
    limits: &EdgeLimits,
) {
    let service = service(shared, connection, &activity);
    let window = window(shared.memory, limits.connections);
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .initial_stream_window_size(window)
        .initial_connection_window_size(window)
        .max_send_buf_size(BUFFER)
        .keep_alive_interval(limits.idle_timeout)
        .keep_alive_timeout(limits.write_timeout)
        .max_header_list_size(u32::try_from(limits.header_bytes).unwrap_or(u32::MAX));
    let served = builder.serve_connection(stream, service_fn(service));
    drive(shared, served, http2::Connection::graceful_shutdown, &activity, limits).await;
}

type Answer = Pin<Box<dyn Future<Output = Result<super::server::Answered, std::convert::Infallible>> + Send>>;

fn service(
    shared: &Arc<Shared>,
    connection: Connection,
    activity: &Arc<Activity>,
) -> impl Fn(http::Request<hyper::body::Incoming>) -> Answer + use<> {
    let (shared, connection, activity) = (Arc::clone(shared), Arc::new(connection), Arc::clone(activity));
    move |request| {
        let (shared, connection, activity) =
            (Arc::clone(&shared), Arc::clone(&connection), Arc::clone(&activity));
        Box::pin(answer(shared, connection, activity, request))
    }
}

/// Runs a connection until it ends by itself, does nothing for too long, or the server stops.
async fn drive<C>(
    shared: &Shared,
    connection: C,
    finish: fn(Pin<&mut C>),
    activity: &Activity,
    limits: &EdgeLimits,
) where
    C: Future<Output = hyper::Result<()>>,
{
    let mut connection = std::pin::pin!(connection);
    let mut is_finishing = false;
    loop {
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(error = %error, "a connection ended");
                }
                return;
            }
            () = shared.control.reached(Stage::Draining), if !is_finishing => {
                is_finishing = true;
                finish(connection.as_mut());
            }
            () = shared.control.reached(Stage::Closing) => return,
            why = activity.expires(limits.header_timeout, limits.idle_timeout) => match why {
                Expired::Head => {
                    shared.metrics.refused("head_timeout");
                    return;
                }
                // It was told to end, and does not.
                Expired::Idle if is_finishing => return,
                Expired::Idle => {
                    is_finishing = true;
                    finish(connection.as_mut());
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LEAST_WINDOW, WINDOW, window};

    #[test]
    fn windows_of_all_connections_have_a_quarter_of_the_memory_or_the_least_that_the_protocol_has() {
        for (memory, connections) in [(2_u64 << 30, 1024), (2 << 30, 1), (512 << 20, 128), (4 << 30, 100_000)]
        {
            let each = window(memory, connections);
            let all = u64::from(each) * connections as u64;
            assert!(all <= memory / 4 || each == LEAST_WINDOW, "{memory} {connections}: {each}");
            assert!((LEAST_WINDOW..=WINDOW).contains(&each));
        }
        assert_eq!(window(2 << 30, 1024), 512 << 10);
        assert_eq!(window(16 << 20, 1024), LEAST_WINDOW);
        assert_eq!(window(u64::MAX, 0), WINDOW);
    }
}
