//! Listening on an address.

use std::io;
use std::net::SocketAddr;

use thiserror::Error;
use tokio::net::{TcpListener, TcpSocket};

/// How many connections the system keeps before they are accepted.
const BACKLOG: u32 = 1024;

/// An address cannot be listened on.
#[derive(Debug, Error)]
#[error("cannot listen on {address}: {}", reason(source))]
pub struct ListenError {
    /// The address.
    pub address: SocketAddr,
    /// What the system said of the address.
    pub source: io::Error,
}

fn reason(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => "another process listens there",
        io::ErrorKind::AddrNotAvailable => "this machine does not have the address",
        io::ErrorKind::PermissionDenied => "the process may not; ports below 1024 are for root",
        _ => "the system refuses",
    }
}

/// Listens on an address. Connections are accepted once the listener is given to a server.
///
/// # Errors
///
/// When another process listens there, and whatever else the system says.
pub fn listen(address: SocketAddr) -> Result<TcpListener, ListenError> {
    bind(address).map_err(|source| ListenError { address, source })
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // On Unix this lets a server start again while old connections end; on Windows it would let two servers share the port.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
