//! `groundstate serve` with little memory, flooded on every route by every role.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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
/// Address space of the process in KiB: 2 GiB. The server gives a third of it to requests. The rest is for its code, the stacks of its threads
/// and the arenas of the allocator, which reserve more than they use. Any one of the requests below took more before there were budgets.
const ADDRESSES: u64 = 2 << 20;
/// Shortest duration of the flood.
const FLOOD: Duration = Duration::from_secs(8);
/// Time in which `/healthz` answers, beyond what the machine takes for a round trip that needs no server.
const SOON: Duration = Duration::from_millis(200);
/// A server that takes longer for one answer is blocked, and not only scheduled late on a machine with other work.
const BLOCKED: Duration = Duration::from_secs(2);

/// A request that is sent again and again.
#[derive(Clone)]
struct Heavy {
    method: &'static str,
    path: String,
    headers: String,
    body: Arc<Vec<u8>>,
}

impl Heavy {
    fn new(authorization: &str, method: &'static str, path: &str, body: &Body) -> Self {
        let mut headers = format!("Authorization: {authorization}\r\nContent-Type: application/json\r\n");
        let body = match body {
            Body::Plain(body) => body,
            Body::Packed(body) => {
                headers.push_str("Content-Encoding: gzip\r\n");
                body
            }
        };
        Self { method, path: path.to_owned(), headers, body: Arc::clone(body) }
    }
}

/// A body, which many requests share.
enum Body {
    Plain(Arc<Vec<u8>>),
    Packed(Arc<Vec<u8>>),
}

impl Body {
    fn plain(text: impl Into<Vec<u8>>) -> Self {
        Self::Plain(Arc::new(text.into()))
    }

    fn packed(text: &[u8]) -> Self {
        Self::Packed(Arc::new(gzip(text)))
    }
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
    // A refused body may not be read to its end. The answer comes in any case.
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

/// A list of short values, in base64 as they are, that take many times their bytes and pack well.
fn values(member: &str, count: usize) -> Vec<u8> {
    let mut text = format!("{{\"{member}\":[\"\"");
    for number in 0..count {
        text.push_str(&format!(",\"{:04}\"", number % 97));
    }
    text.push_str("]}");
    text.into_bytes()
}

/// A deployment of many small resources.
fn deployment(count: usize) -> Vec<u8> {
    let mut text = String::from(
        r#"{"version":3,"deployment":{"manifest":{"time":"2026-01-01T00:00:00Z","magic":"","version":""},"resources":["#,
    );
    for number in 0..count {
        let comma = if number == 0 { "" } else { "," };
        text.push_str(&format!(
            r#"{comma}{{"urn":"urn:pulumi:dev::shop::t:a:B::n{number}","type":"t:a:B"}}"#
        ));
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

/// Entries of a journal that make resources.
fn journal(count: usize, from: usize) -> String {
    let entry = |number: usize| {
        let (number, urn) = (from + number, format!("urn:pulumi:dev::shop::t:a:B::n{}", from + number));
        let begun = format!(
            r#"{{"version":1,"kind":0,"sequenceID":{},"operationID":{number},"removeOld":null,"removeNew":null,"operation":{{"resource":{{"urn":"{urn}","type":"t:a:B"}},"type":"creating"}}}}"#,
            2 * number + 1
        );
        format!(
            r#"{begun},{{"version":1,"kind":1,"sequenceID":{},"operationID":{number},"removeOld":null,"removeNew":null,"state":{{"urn":"{urn}","type":"t:a:B"}}}}"#,
            2 * number + 2
        )
    };
    let entries: Vec<String> = (0..count).map(entry).collect();
    format!(r#"{{"entries":[{}]}}"#, entries.join(","))
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
        let line =
            format!("ulimit -v {ADDRESSES}; exec groundstate serve --listen 127.0.0.1:0 --store '{path}'");
        let mut command = shell(&line);
        for limit in ["REQUESTS_PER_SECOND", "REQUESTS_PER_SECOND_OF_PRINCIPAL", "CONNECTIONS_PER_ADDRESS"] {
            command.env(format!("GROUNDSTATE_LIMITS_{limit}"), "off");
        }
        Self { server: Server::started(command), tokens: tokens.into() }
    }

    fn token(&self) -> &str {
        self.tokens.last().unwrap()
    }

    /// Sends a request of a Pulumi client that may do everything.
    fn admin(&self, method: &'static str, path: &str, body: &str) -> Value {
        self.done(&Heavy::new(&format!("token {}", self.token()), method, path, &Body::plain(body)))
    }

    /// Sends a request that has to succeed.
    fn done(&self, request: &Heavy) -> Value {
        let (status, body) = send(self.server.address(), request).unwrap();
        assert!(matches!(status, 200 | 204), "{}: {status} {}", request.path, String::from_utf8_lossy(&body));
        serde_json::from_slice(&body).unwrap_or_default()
    }

    fn write(&self, path: &str, state: Vec<u8>) {
        self.done(&Heavy::new(&format!("Bearer {}", self.token()), "POST", path, &Body::plain(state)));
    }

    /// Makes a state, and a stack with an update that runs and has a journal. Gives the path of the update and the token of its lease.
    fn prepare(&self) -> (String, String) {
        self.admin("POST", "/api/stacks/acme/shop", r#"{"stackName":"dev"}"#);
        self.write("/tf/shop/big", state(1_000_000));
        let created = self.admin("POST", &format!("{STACK}/update"), "{}");
        let update = format!("{STACK}/update/{}", created["updateID"].as_str().unwrap());
        let started = self.admin("POST", &update, r#"{"journalVersion":1}"#);
        let lease = format!("update-token {}", started["token"].as_str().unwrap());
        let path = format!("{update}/journalentries");
        self.done(&Heavy::new(&lease, "PATCH", &path, &Body::plain(journal(2_000, 0))));
        (update, lease)
    }

    /// Every route that reads much or answers much.
    fn floods(&self, update: &str, lease: &str) -> Vec<Heavy> {
        const MANY: usize = 4_000_000;
        let resources = deployment(100_000);
        let created = [br#"{"stackName":"new","state":"#.as_slice(), &resources, b"}"].concat();
        let network = Body::plain(state(500_000));
        let posts = [
            ("/batch-decrypt", Body::packed(&values("ciphertexts", MANY))),
            ("/batch-encrypt", Body::packed(&values("plaintexts", MANY))),
            ("/versions", Body::packed(&values("info", MANY))),
            ("/import", Body::packed(&resources)),
            ("/import", Body::plain(resources)),
            // Spaces, of which gzip makes a thousandth.
            ("/import", Body::packed(&vec![b' '; 64 << 20])),
        ];
        let creations = [Body::packed(&created), Body::plain(created)];
        let gets = [
            format!("{BIG}/outputs"),
            format!("{BIG}/outputs/a"),
            format!("{BIG}/resources"),
            format!("{BIG}/graph.svg"),
            format!("{BIG}/versions/1"),
            "/tf/shop/big".to_owned(),
            format!("{STACK}/export"),
            format!("{STACK}/outputs"),
            format!("{STACK}/resources"),
            format!("{STACK}/updates"),
            format!("{update}/events"),
            format!("{update}/journal"),
        ];
        let nothing = Body::plain("");
        let mut floods = Vec::new();
        for token in &self.tokens {
            let authorization = format!("token {token}");
            for (tail, body) in &posts {
                floods.push(Heavy::new(&authorization, "POST", &format!("{STACK}{tail}"), body));
            }
            for body in &creations {
                floods.push(Heavy::new(&authorization, "POST", "/api/stacks/acme/shop", body));
            }
            let bearer = format!("Bearer {token}");
            floods.push(Heavy::new(&bearer, "POST", "/tf/shop/network", &network));
            floods.extend(gets.iter().map(|path| Heavy::new(&bearer, "GET", path, &nothing)));
        }
        for (method, tail, body) in [
            ("PATCH", "/journalentries", Body::packed(&values("entries", MANY))),
            ("PATCH", "/journalentries", Body::packed(journal(20_000, 100_000).as_bytes())),
            ("PATCH", "/checkpoint", Body::packed(&values("deployment", MANY))),
            ("PATCH", "/checkpointverbatim", Body::packed(&values("untypedDeployment", MANY))),
            ("PATCH", "/checkpointdelta", Body::packed(&values("deploymentDelta", MANY))),
            ("POST", "/events/batch", Body::packed(&values("events", MANY))),
        ] {
            floods.push(Heavy::new(lease, method, &format!("{update}{tail}"), &body));
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
    let body = gzip(&deployment(200_000));
    let token = site.token();
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

/// The slowest of a part of these, and the slowest of all.
fn slowest(times: &mut [Duration], of: usize) -> (Duration, Duration) {
    times.sort_unstable();
    (times[times.len() * of / 100], times[times.len() - 1])
}

#[test]
fn flood_of_every_route_by_every_role_leaves_the_server_alive_and_quick() {
    let folder = tempfile::tempdir().unwrap();
    let site = Site::start(&folder.path().join("store"));
    let (update, lease) = site.prepare();
    let floods = site.floods(&update, &lease);
    let stopped = Arc::new(AtomicBool::new(false));
    let statuses = Arc::new(Mutex::new(Vec::new()));
    let next = Arc::new(AtomicUsize::new(0));
    let held = held_back(&site);
    let sender = |_| -> JoinHandle<()> {
        let (floods, address) = (floods.clone(), site.server.address().to_owned());
        let (stopped, statuses, next) = (Arc::clone(&stopped), Arc::clone(&statuses), Arc::clone(&next));
        thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                let at = next.fetch_add(1, Ordering::Relaxed) % floods.len();
                let answered = send(&address, &floods[at]).map(|(status, _)| status);
                statuses.lock().unwrap().push((at, answered));
            }
        })
    };
    let senders: Vec<_> = (0..24).map(sender).collect();
    let other = idle();
    let start = Instant::now();
    let (mut late, mut count) = (Vec::new(), 0);
    // Every request has its turn, however slow the machine is.
    while start.elapsed() < FLOOD || next.load(Ordering::Relaxed) < floods.len() {
        let (took, control) = round_trips(site.server.address(), &other);
        late.push(took.saturating_sub(control));
        count += 1;
        thread::sleep(Duration::from_millis(20));
    }
    stopped.store(true, Ordering::Relaxed);
    senders.into_iter().for_each(|sender| sender.join().unwrap());
    drop(held);

    let statuses = statuses.lock().unwrap();
    let is_expected = |status: Option<u16>| {
        matches!(status, Some(200 | 204 | 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 423 | 503))
    };
    let odd = statuses.iter().filter(|(_, status)| !is_expected(*status));
    let odd: Vec<_> = odd.map(|(at, status)| (floods[*at].method, &floods[*at].path, status)).collect();
    assert!(odd.is_empty(), "{odd:?}");
    let refused = statuses.iter().filter(|(_, status)| matches!(status, Some(413 | 503))).count();
    let carried_out = statuses.iter().filter(|(_, status)| matches!(status, Some(200 | 204))).count();
    assert!(refused > 0 && carried_out > 0 && statuses.len() >= floods.len(), "{refused} {carried_out}");
    let (most, longest) = slowest(&mut late, 95);
    assert!(most < SOON && longest < BLOCKED, "{most:?} and {longest:?} of {count}");
    // The memory has come back.
    site.admin(
        "POST",
        &format!("{STACK}/batch-encrypt"),
        &String::from_utf8(values("plaintexts", 1000)).unwrap(),
    );
    site.write("/tf/shop/small", state(1));
}
