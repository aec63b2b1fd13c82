//! Several servers on one store, behind a proxy that takes them in turn, while they are killed and started again.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use groundstate_audit::{Location, verify};
use groundstate_blobs::BlobStore;
use groundstate_blobs_fs::FileBlobs;
use groundstate_blobs_postgres::{TableBlobs, TableSettings};
use groundstate_testkit::{Asked, RoundRobin, TestBackend, ask};

use super::serve::{PATIENCE, Server, document};
use super::support::command;

const NODES: usize = 3;
const CLIENTS: usize = 6;
/// Clients of one number share a state, so each state has several.
const STATES: usize = 2;
/// How long the clients work.
const TIME: Duration = Duration::from_secs(8);
const SEED: u64 = 20_261_124;

/// Numbers that depend on nothing but the seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// What is known of a state besides what the servers say.
#[derive(Default)]
struct Known {
    /// The serial of the last write that was acknowledged.
    acknowledged: AtomicU64,
    /// How many clients have the lock.
    holders: AtomicUsize,
}

/// What all clients share.
struct Estate {
    proxy: RoundRobin,
    states: [Known; STATES],
    is_over: AtomicBool,
    /// How often a request got no answer.
    unanswered: AtomicUsize,
    broken: AtomicUsize,
}

fn lock_of(id: &str) -> String {
    format!(
        r#"{{"ID":"{id}","Operation":"OperationTypeApply","Info":"","Who":"ana@build","Version":"1.11.4","Created":"2026-01-01T00:00:00Z","Path":""}}"#
    )
}

impl Estate {
    fn ask_once(&self, method: &str, path: &str, body: &str) -> Option<Asked> {
        let headers: &[&str] =
            if path.starts_with("/api") { &["Content-Type: application/json"] } else { &[] };
        let asked = ask(&self.proxy.address(), method, path, headers, body.as_bytes()).ok();
        // A server that ends says so, like one that is gone.
        asked.filter(|asked| asked.status != 503)
    }

    /// Asks until there is an answer, as Terraform does it. Tells whether a request before may have been carried out.
    fn ask(&self, method: &str, path: &str, body: &str) -> (Asked, bool) {
        let start = Instant::now();
        let mut is_repeated = false;
        loop {
            if let Some(asked) = self.ask_once(method, path, body) {
                return (asked, is_repeated);
            }
            assert!(start.elapsed() < PATIENCE, "{method} {path} gets no answer");
            self.unanswered.fetch_add(1, Ordering::Relaxed);
            is_repeated = true;
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn expect(&self, method: &str, path: &str, body: &str, statuses: &[u16]) -> Asked {
        let (asked, _) = self.ask(method, path, body);
        let text = String::from_utf8_lossy(&asked.body);
        assert!(statuses.contains(&asked.status), "{method} {path}: {} {text}", asked.status);
        asked
    }

    /// Locks, reads, writes and unlocks. A client that dies leaves its lock, which is broken for it then.
    fn cycle(&self, state: usize, id: &str, dies: bool) {
        let (known, path) = (&self.states[state], format!("/tf/shop/state-{state}"));
        let lock = lock_of(id);
        while self.expect("LOCK", &path, &lock, &[200, 423]).status == 423 {
            thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(known.holders.fetch_add(1, Ordering::SeqCst), 0, "two clients have the lock of {path}");
        let acknowledged = known.acknowledged.load(Ordering::SeqCst);
        let read = self.expect("GET", &path, "", if acknowledged == 0 { &[404] } else { &[200] });
        if acknowledged > 0 {
            assert_eq!(read.body, document(acknowledged, 1000).as_bytes(), "an acknowledged write is lost");
        }
        let under_lock = format!("{path}?ID={id}");
        self.expect("POST", &under_lock, &document(acknowledged + 1, 1000), &[200]);
        known.acknowledged.store(acknowledged + 1, Ordering::SeqCst);
        known.holders.fetch_sub(1, Ordering::SeqCst);
        if dies {
            let request = format!(r#"{{"id":"{id}","reason":"its holder is gone"}}"#);
            let at = format!("/api/v1/states/shop/state-{state}/default/lock/break");
            let (asked, is_repeated) = self.ask("POST", &at, &request);
            assert!(asked.status == 204 || is_repeated, "{}", String::from_utf8_lossy(&asked.body));
            self.broken.fetch_add(1, Ordering::Relaxed);
            let late = self.expect("POST", &under_lock, &document(u64::MAX >> 12, 0), &[409, 423]);
            assert!(!late.body.is_empty());
        } else {
            let (asked, is_repeated) = self.ask("UNLOCK", &path, &lock);
            assert!(asked.status == 200 || is_repeated, "{}", String::from_utf8_lossy(&asked.body));
        }
    }

    fn client(&self, client: usize) {
        let mut numbers = Numbers(SEED + client as u64);
        for cycle in 0.. {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            let id = format!("{client:08}-0000-4000-8000-{cycle:012}");
            self.cycle(client % STATES, &id, numbers.below(5) == 0);
        }
    }

    /// Every version has its successor's number and serial, and its own content.
    fn check_history(&self, state: usize) {
        let last = self.states[state].acknowledged.load(Ordering::SeqCst);
        let at = format!("/api/v1/states/shop/state-{state}/default/versions");
        let (mut number, mut before) = (last, String::new());
        while number > 0 {
            let page = self.expect("GET", &format!("{at}?limit=50{before}"), "", &[200]);
            let page: serde_json::Value = serde_json::from_slice(&page.body).unwrap();
            assert_eq!(page["missing"].as_array().map_or(0, Vec::len), 0, "{page}");
            for version in page["versions"].as_array().unwrap() {
                assert_eq!(version["number"], number, "{page}");
                let content = self.expect("GET", &format!("{at}/{number}/content"), "", &[200]);
                assert_eq!(content.body, document(number, 1000).as_bytes(), "version {number}");
                number -= 1;
            }
            before = format!("&before={}", number + 1);
        }
    }
}

fn node(store: &str) -> Server {
    let mut serve: Command = command(&["serve", "--init", "--store", store]);
    serve.args(["--set", "limits.requests_per_second=off"]);
    serve.args(["--set", "limits.requests_per_second_of_principal=off"]);
    Server::of(serve)
}

/// Kills nodes at random and starts them again, until the time is over. Gives how many.
fn kill_nodes(nodes: &mut [Server], store: &str, proxy: &RoundRobin) -> usize {
    let (mut numbers, mut kills) = (Numbers(SEED), 0);
    let start = Instant::now();
    while start.elapsed() < TIME {
        thread::sleep(Duration::from_millis(50 + numbers.below(400)));
        let place = usize::try_from(numbers.below(NODES as u64)).unwrap();
        nodes[place].child.kill().unwrap();
        nodes[place].child.wait().unwrap();
        thread::sleep(Duration::from_millis(numbers.below(200)));
        nodes[place] = node(store);
        proxy.replace(place, nodes[place].address());
        kills += 1;
    }
    kills
}

fn survive(store: &str, open: impl FnOnce() -> Arc<dyn BlobStore>) {
    let mut nodes: Vec<Server> = (0..NODES).map(|_| node(store)).collect();
    let addresses: Vec<&str> = nodes.iter().map(Server::address).collect();
    let estate = Estate {
        proxy: RoundRobin::start(&addresses),
        states: Default::default(),
        is_over: AtomicBool::new(false),
        unanswered: AtomicUsize::new(0),
        broken: AtomicUsize::new(0),
    };
    let failures = Mutex::new(0);
    let kills = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let estate = &estate;
                scope.spawn(move || estate.client(client))
            })
            .collect();
        let kills = kill_nodes(&mut nodes, store, &estate.proxy);
        estate.is_over.store(true, Ordering::SeqCst);
        for client in clients {
            *failures.lock().unwrap() += usize::from(client.join().is_err());
        }
        kills
    });
    assert_eq!(failures.into_inner().unwrap(), 0, "a client saw what must not be");
    (0..STATES).for_each(|state| estate.check_history(state));
    let writes: u64 = estate.states.iter().map(|known| known.acknowledged.load(Ordering::SeqCst)).sum();
    let [unanswered, broken] =
        [&estate.unanswered, &estate.broken].map(|count| count.load(Ordering::Relaxed));
    eprintln!(
        "{kills} kills, {unanswered} requests without an answer, {writes} writes, {broken} locks broken"
    );
    assert!(kills > 0 && writes > 0, "{kills} {writes}");

    for server in nodes {
        server.signal("TERM");
        let run = server.ended();
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
    let location = Location::new(open(), groundstate_server::AUDIT_PREFIX).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let report = runtime.block_on(verify(&location, None)).unwrap();
    assert!(report.is_intact(), "{report:?}");
    // Each write, each start of a server, and more.
    assert!(report.checkpoint.count >= writes + kills as u64, "{report:?}");
}

#[test]
fn three_nodes_on_a_directory_lose_nothing_when_they_are_killed() {
    let dir = tempfile::tempdir().unwrap();
    let store: &Path = dir.path();
    survive(store.to_str().unwrap(), || Arc::new(FileBlobs::open(store).unwrap()));
}

#[test]
fn three_nodes_on_postgres_lose_nothing_when_they_are_killed() {
    let Some(place) = TestBackend::pg() else { return };
    let url = place.settings()["conn_str"].as_str().unwrap();
    survive(url, || {
        let settings = TableSettings::parse(url, &|_: &str| None).unwrap();
        Arc::new(TableBlobs::open(&settings).unwrap())
    });
}
