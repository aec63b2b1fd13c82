//! The thread of a server: accepting connections until the server is dropped.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use super::Service;
use super::connection::{Connection, drive};
use crate::fault::Faults;
use crate::log::Log;

/// A server that was started.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) log: Arc<Log>,
    pub(crate) faults: Arc<Faults>,
    pub(crate) stop: oneshot::Sender<()>,
}

pub(super) fn run(port: u16, service: Arc<dyn Service>, tls: Option<TlsAcceptor>) -> Running {
    let (log, faults) = (Arc::new(Log::default()), Arc::new(Faults::default()));
    let connection = Connection { service, log: Arc::clone(&log), faults: Arc::clone(&faults) };
    let (address, stop) = serve(port, move |stream| {
        let connection = connection.clone();
        let tls = tls.clone();
        async move { accept(stream, tls, connection).await }
    });
    Running { address, log, faults, stop }
}

/// Listens on a port of the loopback, on a thread of its own, and hands each connection to the function.
///
/// # Panics
///
/// When the port is taken, or when the machine has no thread to spare: a test cannot go on then.
pub(crate) fn serve<F, T>(port: u16, handle: F) -> (SocketAddr, oneshot::Sender<()>)
where
    F: Fn(TcpStream) -> T + Send + 'static,
    T: Future<Output = ()> + Send + 'static,
{
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("the port is free");
    listener.set_nonblocking(true).expect("a socket that was just made can be switched");
    let address = listener.local_addr().expect("a socket that is bound has an address");
    let (stop, stopped) = oneshot::channel::<()>();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("the machine has room for a runtime");
    std::thread::Builder::new()
        .name(format!("testkit {}", address.port()))
        .spawn(move || {
            runtime.block_on(async move {
                tokio::select! {
                    () = accept_all(listener, handle) => {}
                    _ = stopped => {}
                }
            });
            runtime.shutdown_background();
        })
        .expect("the machine has room for a thread");
    (address, stop)
}

async fn accept_all<F, T>(listener: std::net::TcpListener, handle: F)
where
    F: Fn(TcpStream) -> T,
    T: Future<Output = ()> + Send + 'static,
{
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            // Small answers wait for nothing.
            drop(stream.set_nodelay(true));
            drop(tokio::spawn(handle(stream)));
        }
    }
}

async fn accept(stream: TcpStream, tls: Option<TlsAcceptor>, connection: Connection) {
    match tls {
        None => drive(stream, connection).await,
        Some(tls) => {
            // A client that does not trust the certificate says so itself.
            if let Ok(stream) = tls.accept(stream).await {
                drive(stream, connection).await;
            }
        }
    }
}
