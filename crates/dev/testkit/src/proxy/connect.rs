//! A proxy for tunnels, all of which lead to one place.

use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use crate::http::serve;

/// A longer head of a request is not one of a tunnel.
const LONGEST: usize = 16 << 10;

/// A proxy that sends every tunnel to one address, wherever it was to lead.
///
/// Clients that know only a service's own address reach a server of a test this way: as their `HTTPS_PROXY`, with a
/// certificate of an [`Authority`](crate::Authority) that they are told to trust.
///
/// ```
/// use groundstate_testkit::{Authority, AzureServer, ConnectProxy};
///
/// let authority = Authority::new();
/// let azure = AzureServer::start_tls(&authority.certificate(&["*.blob.core.windows.net"]));
/// let proxy = ConnectProxy::to(azure.address());
/// // HTTPS_PROXY is `proxy.endpoint()`, and SSL_CERT_FILE names a file with `authority.pem()`.
/// assert_eq!(proxy.tunnels(), [""; 0]);
/// ```
pub struct ConnectProxy {
    address: SocketAddr,
    tunnels: Arc<Mutex<Vec<String>>>,
    _stop: oneshot::Sender<()>,
}

impl ConnectProxy {
    /// Starts a proxy whose tunnels lead to this address.
    pub fn to(target: SocketAddr) -> Self {
        let tunnels = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&tunnels);
        let (address, stop) = serve(0, move |stream| {
            let seen = Arc::clone(&seen);
            async move {
                // An end of the tunnel that closes is the end of it.
                drop(tunnel(stream, target, &seen).await);
            }
        });
        Self { address, tunnels, _stop: stop }
    }

    /// The URL of the proxy.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where each tunnel was to lead, host and port.
    pub fn tunnels(&self) -> Vec<String> {
        self.tunnels.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for ConnectProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConnectProxy({})", self.endpoint())
    }
}

async fn tunnel(mut client: TcpStream, target: SocketAddr, seen: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let head = read_head(&mut client).await?;
    let mut words = head.split_whitespace();
    let (Some("CONNECT"), Some(place)) = (words.next(), words.next()) else {
        return client.write_all(b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n").await;
    };
    seen.lock().unwrap_or_else(PoisonError::into_inner).push(place.to_owned());
    let mut server = TcpStream::connect(target).await?;
    client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
    copy_bidirectional(&mut client, &mut server).await.map(|_| ())
}

/// Reads up to the empty line. Clients send nothing after it before they are answered.
async fn read_head(client: &mut TcpStream) -> std::io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < LONGEST {
        let mut block = [0; 1024];
        let count = client.read(&mut block).await?;
        if count == 0 {
            break;
        }
        head.extend_from_slice(&block[..count]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}
