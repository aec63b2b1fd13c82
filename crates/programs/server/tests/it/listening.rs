//! A server that listens, on a runtime of its own.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use axum::{Extension, Router};
use groundstate_server::auth::{Grant, Principal, PrincipalKind, Role};
use groundstate_server::router;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::support::Server;

/// A server at an address of this machine. It ends with this value.
#[derive(Debug)]
pub(crate) struct Listening {
    address: SocketAddr,
    end: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Listening {
    /// Every request is one of a principal with this role on everything.
    pub(crate) fn start(server: &Server, role: Role) -> Self {
        let name = format!("{role:?}").to_lowercase();
        let principal = Principal::new(&name, PrincipalKind::Local, vec![Grant::everything(role)]);
        Self::serve(router(server.app.clone()).layer(Extension(principal)))
    }

    /// A service that has its layers already.
    pub(crate) fn serve(service: Router) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (end, ended) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = Runtime::new().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    served = axum::serve(listener, service) => served.unwrap(),
                    _ = ended => {}
                }
            });
            // What still runs is cut off, as when a process ends.
            runtime.shutdown_timeout(Duration::ZERO);
        });
        Self { address, end: Some(end), thread: Some(thread) }
    }

    /// `http://HOST:PORT`.
    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends bytes as they are, and gives all that comes back until the connection ends.
    pub(crate) fn raw(&self, request: &[u8]) -> String {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}
