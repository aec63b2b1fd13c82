//! `groundstate serve` with little memory, flooded on every route by every role.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use super::serve::Server;
use super::support::{groundstate, shell};

const ROLES: [&str; 5] = ["outputs", "read", "lock", "write", "admin"];
const STACK: &str = "/api/stacks/acme/shop/dev";
const BIG: &str = "/api/v1/states/shop/big/default";
/// What the process may address, in KiB: 2 GiB.
const ADDRESSES: u64 = 2 << 20;
/// How long the flood lasts.
const FLOOD: Duration = Duration::from_secs(8);
/// How soon `/healthz` answers, and a look at how busy the machine is with other things.
const SOON: Duration = Duration::from_millis(200);

/// A request that is sent again and again.
#[derive(Clone)]
struct Heavy {
    method: &'static str,
    path: String,
    headers: String,
    body: Arc<Vec<u8>>,
}

/// Sends a request and gives its status and the end of the answer; none if the connection ended.
fn send(address: &str, request: &Heavy) -> Option<(u16, Vec<u8>)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
    stream.set_write_timeout(Some(Duration::from_secs(60))).ok()?;
    let Heavy { method, path, headers, body } = request;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    // A refused body may not be read to its end; the answer is there all the same.
    drop(stream.write_all(body));
    let mut answer = Vec::new();
    drop(stream.read_to_end(&mut answer));
    let status = std::str::from_utf8(answer.get(9..12)?).ok()?.parse().ok()?;
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    Some((status, answer.split_off(end)))
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text).unwrap();
    packed.finish().unwrap()
}

/// A list of values that take many times their bytes, and pack well.
fn values(member: &str, count: usize) -> Vec<u8> {
    let mut text = format!("{{\"{member}\":[\"\"");
    for number in 0..count {
        text.push_str(&format!(",\"{}\"", number % 97));
    }
    text.push_str("]}");
    text.into_bytes()
}

/// A deployment of many small resources.
fn deployment(count: usize) -> Vec<u8> {
    let mut text = String::from(r#"{"version":3,"deployment":{"manifest":{"time":"2026-01-01T00:00:00Z","magic":"","version":""},"resources":["#);
    for number in 0..count {
        let comma = if number == 0 { "" } else { "," };
        text.push_str(&format!(r#"{comma}{{"urn":"urn:pulumi:dev::shop::t:a:B::n{number}","type":"t:a:B"}}"#));
    }
    text.push_str("]}}");
    text.into_bytes()
}

/// A state whose outputs are most of it.
fn state(values: usize) -> Vec<u8> {
    let list = format!("{}1", "1,".repeat(values));
    let types = format!("{}\"number\"", "\"number\",".repeat(values));
    format!(
        r#"{{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"l","outputs":{{"a":{{"value":[{list}],"type":["tuple",[{types}]]}}}},"resources":[],"check_results":null}}"#
    )
    .into_bytes()
}

struct Site {
    server: Server,
    tokens: Vec<String>,
}

impl Site {
    fn start(store: &Path) -> Self {
        let path = store.to_str().unwrap();
        let tokens = ROLES.map(|role| {
            let made = groundstate(&["token", "create", role, "--role", role, "--store", path]);
            assert_eq!(made.code, 0, "{}", made.stderr);
            made.stdout.trim().to_owned()
        });
        let line = format!("ulimit -v {ADDRESSES}; exec groundstate serve --listen 127.0.0.1:0 --store '{path}'");
        let mut command = shell(&line);
        for limit in ["REQUESTS_PER_SECOND", "REQUESTS_PER_SECOND_OF_PRINCIPAL", "CONNECTIONS_PER_ADDRESS"] {
            command.env(format!("GROUNDSTATE_LIMITS_{limit}"), "off");
        }
        Self { server: Server::started(command), tokens: tokens.into() }
    }

    fn request(&self, token: &str, method: &'static str, path: &str, body: Vec<u8>, packed: bool) -> Heavy {
        let mut headers = format!("Authorization: {token}\r\nContent-Type: application/json\r\n");
        if packed {
            headers.push_str("Content-Encoding: gzip\r\n");
        }
        Heavy { method, path: path.to_owned(), headers, body: Arc::new(body) }
    }

    fn admin(&self, method: &'static str, path: &str, body: &[u8]) -> (u16, Value) {
        let token = format!("token {}", self.tokens.last().unwrap());
        let (status, body) = send(self.server.address(), &self.request(&token, method, path, body.to_vec(), false)).unwrap();
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }

    /// A stack with an update that runs, and a state; gives the path of the update and the token of its lease.
    fn prepare(&self) -> (String, String) {
        assert_eq!(self.admin("POST", "/api/stacks/acme/shop", br#"{"stackName":"dev"}"#).0, 200);
        let bearer = format!("Bearer {}", self.tokens.last().unwrap());
        let written = self.request(&bearer, "POST", "/tf/shop/big", state(2_000_000), false);
        assert_eq!(send(self.server.address(), &written).unwrap().0, 200);
        let (status, created) = self.admin("POST", &format!("{STACK}/update"), b"{}");
        assert_eq!(status, 200, "{created}");
        let update = format!("{STACK}/update/{}", created["updateID"].as_str().unwrap());
        let (status, started) = self.admin("POST", &update, br#"{"journalVersion":1}"#);
        assert_eq!(status, 200, "{started}");
        (update, started["token"].as_str().unwrap().to_owned())
    }

    /// Every route that reads much or answers much.
    fn floods(&self, update: &str, lease: &str) -> Vec<Heavy> {
        let lists: [(&str, &str); 3] =
            [("batch-decrypt", "ciphertexts"), ("batch-encrypt", "plaintexts"), ("versions", "info")];
        let deployment = deployment(200_000);
        let created = [br#"{"stackName":"new","state":"#.as_slice(), &deployment, b"}"].concat();
        let mut floods = Vec::new();
        for token in &self.tokens {
            let authorization = format!("token {token}");
            for (tail, member) in lists {
                let body = gzip(&values(member, 4_000_000));
                floods.push(self.request(&authorization, "POST", &format!("{STACK}/{tail}"), body, true));
            }
            for (path, body) in [(format!("{STACK}/import"), &deployment), ("/api/stacks/acme/shop".to_owned(), &created)] {
                floods.push(self.request(&authorization, "POST", &path, gzip(body), true));
                floods.push(self.request(&authorization, "POST", &path, body.clone(), false));
            }
            let bearer = format!("Bearer {token}");
            floods.push(self.request(&bearer, "POST", "/tf/shop/network", state(1_000_000), false));
            for path in [
                format!("{BIG}/outputs"),
                format!("{BIG}/outputs/a"),
                format!("{BIG}/resources"),
                format!("{BIG}/graph.svg"),
                "/tf/shop/big".to_owned(),
                format!("{STACK}/outputs"),
                format!("{STACK}/resources"),
                format!("{STACK}/updates"),
                format!("{update}/events"),
                format!("{update}/journal"),
            ] {
                floods.push(self.request(&bearer, "GET", &path, Vec::new(), false));
            }
        }
        let lease = format!("update-token {lease}");
        for (method, tail, member) in [
            ("PATCH", "/journalentries", "entries"),
            ("PATCH", "/checkpoint", "deployment"),
            ("PATCH", "/checkpointverbatim", "untypedDeployment"),
            ("PATCH", "/checkpointdelta", "deploymentDelta"),
            ("POST", "/events/batch", "events"),
        ] {
            let body = gzip(&values(member, 4_000_000));
            floods.push(self.request(&lease, method, &format!("{update}{tail}"), body, true));
        }
        floods
    }
}

/// How long a round trip to the server takes, and one to a thread of this process that does nothing else.
fn round_trips(server: &str, other: &str) -> (Duration, Duration) {
    let trip = |address: &str| {
        let start = Instant::now();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
        start.elapsed()
    };
    (trip(server), trip(other))
}

/// A thread that answers at once: what it takes, the machine takes.
fn idle() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            drop(stream.read(&mut [0; 512]));
            drop(stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n"));
        }
    }));
    address
}

/// Connections that hold back the end of a body.
fn held_back(site: &Site) -> Vec<TcpStream> {
    let body = gzip(&deployment(400_000));
    let token = site.tokens.last().unwrap();
    let head = format!(
        "POST {STACK}/import HTTP/1.1\r\nHost: localhost\r\nAuthorization: token {token}\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let connection = |_| {
        let mut stream = TcpStream::connect(site.server.address()).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        drop(stream.write_all(&body[..body.len() - 100]));
        stream
    };
    (0..10).map(connection).collect()
}

#[test]
fn flood_of_every_route_by_every_role_leaves_the_server_well_and_quick() {
    let folder = tempfile::tempdir().unwrap();
    let site = Site::start(&folder.path().join("store"));
    let (update, lease) = site.prepare();
    let floods = site.floods(&update, &lease);
    let stopped = Arc::new(AtomicBool::new(false));
    let statuses = Arc::new(Mutex::new(Vec::new()));
    let held = held_back(&site);
    let next = Arc::new(Mutex::new(0_usize));
    let sender = |_| -> JoinHandle<()> {
        let (floods, address) = (floods.clone(), site.server.address().to_owned());
        let (stopped, statuses, next) = (Arc::clone(&stopped), Arc::clone(&statuses), Arc::clone(&next));
        thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                let at = {
                    let mut next = next.lock().unwrap();
                    *next += 1;
                    *next % floods.len()
                };
                let answered = send(&address, &floods[at]).map(|(status, _)| status);
                statuses.lock().unwrap().push((floods[at].path.clone(), answered));
            }
        })
    };
    let senders: Vec<_> = (0..24).map(sender).collect();
    let other = idle();
    let start = Instant::now();
    let mut slow = Vec::new();
    // Every route has its turn, however slow the machine is.
    while start.elapsed() < FLOOD || *next.lock().unwrap() < floods.len() * 2 {
        let (took, control) = round_trips(site.server.address(), &other);
        if took.saturating_sub(control) > SOON {
            slow.push(took);
        }
        thread::sleep(Duration::from_millis(20));
    }
    stopped.store(true, Ordering::Relaxed);
    senders.into_iter().for_each(|sender| sender.join().unwrap());
    drop(held);

    let statuses = statuses.lock().unwrap();
    let is_expected = |status: &Option<u16>| {
        matches!(status, Some(200 | 204 | 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 423 | 503))
    };
    let odd: Vec<_> = statuses.iter().filter(|(_, status)| !is_expected(status)).collect();
    assert!(odd.is_empty(), "{odd:?}");
    let refused = statuses.iter().filter(|(_, status)| matches!(status, Some(413 | 503))).count();
    assert!(refused > 0 && statuses.len() >= floods.len(), "{refused} of {}", statuses.len());
    assert!(slow.is_empty(), "{slow:?} of {}", statuses.len());
    // What was taken has come back.
    let body = values("plaintexts", 1000);
    assert_eq!(site.admin("POST", &format!("{STACK}/batch-encrypt"), &body).0, 200);
    let bearer = format!("Bearer {}", site.tokens.last().unwrap());
    let written = site.request(&bearer, "POST", "/tf/shop/small", state(1), false);
    assert_eq!(send(site.server.address(), &written).unwrap().0, 200);
}
