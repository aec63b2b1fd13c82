//! A proxy that hands each connection to the next of several servers.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a server may take to accept a connection, before the next one is asked.
const PATIENCE: Duration = Duration::from_secs(5);

/// Hands each connection to the next server in turn, and to the one after it if that one does not listen.
///
/// It runs until the process ends.
#[derive(Clone, Debug)]
pub struct RoundRobin {
    address: SocketAddr,
    servers: Arc<Mutex<Vec<SocketAddr>>>,
}

impl RoundRobin {
    /// Starts one in front of these servers, each as `HOST:PORT`.
    ///
    /// # Panics
    ///
    /// If no port is free, or a server has no such address.
    pub fn start(servers: &[&str]) -> Self {
        let servers = servers.iter().map(|server| parse(server)).collect();
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let address = listener.local_addr().expect("it listens");
        let proxy = Self { address, servers: Arc::new(Mutex::new(servers)) };
        let (accepting, turn) = (proxy.clone(), Arc::new(AtomicUsize::new(0)));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (proxy, turn) = (accepting.clone(), turn.fetch_add(1, Ordering::Relaxed));
                thread::spawn(move || proxy.serve(client, turn));
            }
        });
        proxy
    }

    /// Where it listens, as `HOST:PORT`.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Puts another server in the place of one, for connections that are still to come.
    ///
    /// # Panics
    ///
    /// If there is no such place, or the server has no address.
    pub fn replace(&self, place: usize, server: &str) {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        *servers.get_mut(place).expect("the proxy has this place") = parse(server);
    }

    fn serve(&self, client: TcpStream, turn: usize) {
        let servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let in_turn = (0..servers.len()).map(|step| servers[(turn + step) % servers.len()]);
        let Some(server) =
            in_turn.into_iter().find_map(|server| TcpStream::connect_timeout(&server, PATIENCE).ok())
        else {
            // Dropping the client's connection is the answer.
            return;
        };
        let (Ok(from_client), Ok(to_server)) = (client.try_clone(), server.try_clone()) else { return };
        let up = thread::spawn(move || pass(from_client, to_server));
        pass(server, client);
        drop(up.join());
    }
}

/// Passes on what one side sends, and its end.
fn pass(mut from: TcpStream, mut to: TcpStream) {
    // The end of a large body would wait until its beginning is acknowledged, which takes 40 ms. Without this it is only slower.
    drop(to.set_nodelay(true));
    if io::copy(&mut from, &mut to).is_err() {
        // One side is gone: the other one must not wait.
        drop(from.shutdown(Shutdown::Both));
        drop(to.shutdown(Shutdown::Both));
    } else {
        drop(to.shutdown(Shutdown::Write));
    }
}

fn parse(server: &str) -> SocketAddr {
    server.parse().expect("a server is an address and a port")
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::RoundRobin;

    /// A server that answers each connection with its name.
    fn named(name: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            for mut client in listener.incoming().flatten() {
                client.write_all(name.as_bytes()).unwrap();
            }
        });
        address
    }

    #[test]
    fn connections_go_to_servers_in_turn_and_not_to_those_that_are_gone() {
        let (a, b) = (named("a"), named("b"));
        let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let proxy = RoundRobin::start(&[&a, &gone, &b]);
        let asked = || {
            let mut name = String::new();
            TcpStream::connect(proxy.address()).unwrap().read_to_string(&mut name).unwrap();
            name
        };
        assert_eq!([asked(), asked(), asked(), asked()], ["a", "b", "b", "a"]);
        proxy.replace(1, &a);
        assert_eq!([asked(), asked(), asked()], ["a", "b", "a"]);
    }
}
