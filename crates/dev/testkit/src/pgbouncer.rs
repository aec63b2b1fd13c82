//! PgBouncer between clients and a PostgreSQL server.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::is_required;

/// Where packages put the program, beside the path.
const PROGRAMS: [&str; 3] = ["pgbouncer", "/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"];
/// How long it may take until it answers.
const STARTING: Duration = Duration::from_secs(30);

/// PgBouncer in transaction mode: each transaction may run in another session of the server. It ends when this is dropped.
#[derive(Debug)]
pub struct PgBouncer {
    process: Child,
    url: String,
    _folder: TempDir,
}

impl PgBouncer {
    /// Starts it before the server of a URL `postgres://USER@HOST:PORT/DATABASE`, with so many sessions. If the program is not on this machine,
    /// it says that the test does not run.
    ///
    /// # Panics
    ///
    /// If it is required and not there, and if it does not start.
    #[expect(clippy::print_stderr, reason = "who runs the tests has to know what was not compared")]
    pub fn start(server: &str, sessions: usize) -> Option<Self> {
        let found =
            PROGRAMS.into_iter().find(|program| Command::new(program).arg("--version").output().is_ok());
        assert!(found.is_some() || !is_required("pgbouncer"), "pgbouncer has to be on the PATH");
        let Some(program) = found else {
            eprintln!("not run with pgbouncer: it is not on the PATH");
            return None;
        };
        let (user, address) = parts(server);
        let (host, port) = address.split_once(':').unwrap_or((address, "5432"));
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let own = free_port();
        let settings = format!(
            "[databases]\n* = host={host} port={port} user={user}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {own}\n\
             unix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = {sessions}\nmax_client_conn = 400\n"
        );
        let file = folder.path().join("pgbouncer.ini");
        std::fs::write(&file, settings).expect("the settings can be written");
        let mut command = Command::new(program);
        if let Some(account) = account() {
            command.args(["-u", &account]);
        }
        command.arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().expect("pgbouncer can be started");
        let url = server.replacen(address, &format!("127.0.0.1:{own}"), 1);
        let mut this = Self { process, url, _folder: folder };
        this.wait_for(own);
        Some(this)
    }

    /// The URL of the server, by way of it.
    pub fn url(&self) -> &str {
        &self.url
    }

    fn wait_for(&mut self, port: u16) {
        let start = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            let ended = self.process.try_wait().expect("the process can be asked for");
            assert!(ended.is_none() && start.elapsed() < STARTING, "pgbouncer does not start: {ended:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// The user and the address of a URL.
fn parts(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    authority.split_once('@').unwrap_or(("postgres", authority))
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    listener.local_addr().expect("a listener has an address").port()
}

/// The account that it runs as, since it refuses to run as root.
fn account() -> Option<String> {
    let id = Command::new("id").arg("-u").output().ok()?;
    let passwd = std::fs::read_to_string("/etc/passwd").ok()?;
    let is_there = |name: &&str| passwd.lines().any(|line| line.split(':').next() == Some(name));
    let names = ["postgres", "daemon"];
    (id.stdout.trim_ascii() == b"0").then(|| names.into_iter().find(is_there).map(str::to_owned)).flatten()
}
