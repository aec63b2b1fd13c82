//! Server processes on one store, behind a proxy.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundstate_testkit::{RoundRobin, S3Locks, TestBackend, server_of_peer};
use tempfile::TempDir;

use crate::bench::{Failure, Outcome};

/// How long a server may take to listen.
const PATIENCE: Duration = Duration::from_secs(60);

/// What servers keep states in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Directory,
    Postgres,
    S3,
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "directory" => Ok(Self::Directory),
            "postgres" => Ok(Self::Postgres),
            "s3" => Ok(Self::S3),
            _ => Err("write directory, postgres or s3".to_owned()),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Directory => "directory",
            Self::Postgres => "PostgreSQL",
            Self::S3 => "S3",
        })
    }
}

/// A store with nothing in it; it is removed with this value.
#[derive(Debug)]
pub(crate) enum Place {
    Directory(TempDir),
    Server(Kind, Box<TestBackend>),
}

impl Place {
    /// None where its server does not take part, which is said.
    pub(crate) fn fresh(kind: Kind) -> Outcome<Option<Self>> {
        match kind {
            Kind::Directory => {
                let made = tempfile::tempdir();
                let failed = |source| Failure::Write { path: std::env::temp_dir(), source };
                Ok(Some(Self::Directory(made.map_err(failed)?)))
            }
            Kind::Postgres => Ok(TestBackend::pg().map(|place| Self::Server(kind, Box::new(place)))),
            Kind::S3 => Ok(server_of_peer("moto", "GROUNDSTATE_S3_ENDPOINT")
                .map(|_| Self::Server(kind, Box::new(TestBackend::s3(S3Locks::File))))),
        }
    }

    fn setting(&self, pointer: &str) -> String {
        match self {
            Self::Directory(_) => String::new(),
            Self::Server(_, place) => {
                let settings = serde_json::Value::Object(place.settings().clone());
                settings.pointer(pointer).and_then(|value| value.as_str()).unwrap_or_default().to_owned()
            }
        }
    }

    /// As `groundstate serve --store` takes it.
    fn store(&self) -> String {
        match self {
            Self::Directory(folder) => folder.path().display().to_string(),
            Self::Server(Kind::Postgres, _) => self.setting("/conn_str"),
            Self::Server(..) => {
                let (bucket, endpoint) = (self.setting("/bucket"), self.setting("/endpoints/s3"));
                format!("s3://{bucket}?region=us-east-1&endpoint={endpoint}&use_path_style=true")
            }
        }
    }
}

/// A server that is measured.
#[derive(Clone, Debug)]
pub(crate) enum Program {
    /// Ours, under a name for the table.
    Own(&'static str, PathBuf),
    /// The `terraform-backend` of nimbolus.
    Peer(PathBuf),
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(name, _) => f.write_str(name),
            Self::Peer(_) => f.write_str("terraform-backend"),
        }
    }
}

impl Program {
    /// Whether the peer can be started: without a key it says so and ends.
    pub(crate) fn is_there(&self) -> bool {
        match self {
            Self::Own(..) => true,
            Self::Peer(program) => {
                let mut command = Command::new(program);
                command.env("LISTEN_ADDR", "127.0.0.1:0").env("METRICS_LISTEN_ADDR", "127.0.0.1:0");
                command.env_remove("KMS_KEY").env_remove("KMS_KEY_FILE");
                command.output().is_ok()
            }
        }
    }

    /// Whether the program runs like this: the peer's locks in a process are those of one node.
    pub(crate) fn takes(&self, kind: Kind, nodes: usize) -> bool {
        match self {
            Self::Own(..) => true,
            Self::Peer(_) => kind == Kind::Postgres || (kind == Kind::Directory && nodes == 1),
        }
    }

    /// A command that serves on the port, of which 0 is any.
    fn command(&self, place: &Place, port: u16, metrics: u16) -> Command {
        match self {
            Self::Own(_, program) => {
                let mut command = Command::new(program);
                command.args([
                    "serve",
                    "--init",
                    "--store",
                    &place.store(),
                    "--listen",
                    &format!("127.0.0.1:{port}"),
                ]);
                for setting in [
                    "limits.requests_per_second=off",
                    "limits.requests_per_second_of_principal=off",
                    "limits.connections_per_address=4096",
                ] {
                    command.args(["--set", setting]);
                }
                command.env("AWS_ACCESS_KEY_ID", "a").env("AWS_SECRET_ACCESS_KEY", "b");
                command
            }
            Self::Peer(program) => {
                let mut command = Command::new(program);
                command.env("LISTEN_ADDR", format!("127.0.0.1:{port}"));
                command.env("METRICS_LISTEN_ADDR", format!("127.0.0.1:{metrics}"));
                command.env("KMS_KEY", STANDARD.encode([7; 32])).env("LOG_LEVEL", "error");
                if let Place::Directory(folder) = place {
                    command.env("STORAGE_BACKEND", "fs").env("STORAGE_FS_DIR", folder.path());
                } else {
                    command.env("STORAGE_BACKEND", "postgres").env("LOCK_BACKEND", "postgres");
                    command.env("POSTGRES_CONNECTION", place.setting("/conn_str"));
                }
                command
            }
        }
    }
}

/// Processes that serve one store. They are killed with this value.
#[derive(Debug)]
pub(crate) struct Nodes {
    program: Program,
    nodes: Vec<Node>,
    /// Of the proxy, as `HOST:PORT`.
    address: String,
}

#[derive(Debug)]
struct Node {
    child: Child,
    address: String,
}

impl Drop for Node {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Nodes {
    pub(crate) fn start(program: &Program, place: &Place, count: usize) -> Outcome<Self> {
        Self::start_with(program, place, count, &[])
    }

    /// The same with settings of our own program, as `--set` takes them.
    pub(crate) fn start_with(
        program: &Program,
        place: &Place,
        count: usize,
        settings: &[&str],
    ) -> Outcome<Self> {
        let nodes = (0..count).map(|_| Node::start(program, place, settings)).collect::<Outcome<Vec<_>>>()?;
        let addresses: Vec<&str> = nodes.iter().map(|node| node.address.as_str()).collect();
        let address = RoundRobin::start(&addresses).address();
        Ok(Self { program: program.clone(), nodes, address })
    }

    pub(crate) fn name(&self) -> String {
        self.program.to_string()
    }

    /// Of the proxy.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The most memory that the first of them had so far, in bytes, where the system tells.
    pub(crate) fn peak(&self) -> Option<u64> {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.nodes.first()?.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kib: u64 = line.trim().split(' ').next()?.parse().ok()?;
        Some(kib << 10)
    }

    /// The path of a client's state.
    pub(crate) fn path(&self, client: usize) -> String {
        match self.program {
            Program::Own(..) => format!("/tf/bench/state-{client}"),
            Program::Peer(_) => format!("/state/bench/state-{client}"),
        }
    }

    /// What a client sends besides: the peer takes no request without a password.
    pub(crate) fn headers(&self) -> &'static [&'static str] {
        match self.program {
            Program::Own(..) => &[],
            // basic:bench
            Program::Peer(_) => &["Authorization: Basic YmFzaWM6YmVuY2g="],
        }
    }
}

impl Node {
    fn start(program: &Program, place: &Place, settings: &[&str]) -> Outcome<Self> {
        match program {
            Program::Own(..) => Self::start_own(program, place, settings),
            Program::Peer(_) => Self::start_peer(program, place),
        }
    }

    fn start_own(program: &Program, place: &Place, settings: &[&str]) -> Outcome<Self> {
        let mut command = program.command(place, 0, 0);
        command.args(settings.iter().flat_map(|setting| ["--set", setting]));
        let started = |source| Failure::Start { program: program.to_string(), source };
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn();
        let mut node = Self { child: child.map_err(started)?, address: String::new() };
        let mut line = String::new();
        if let Some(stdout) = node.child.stdout.take() {
            let mut stdout = BufReader::new(stdout);
            stdout.read_line(&mut line).map_err(started)?;
            // It must not be closed while the server prints.
            thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
        }
        let url = line.strip_prefix("listening on http://").and_then(|rest| rest.split([',', '\n']).next());
        let none = || Failure::Missing(format!("{program} does not say where it listens: {line}"));
        node.address = url.ok_or_else(none)?.trim_end_matches('/').to_owned();
        Ok(node)
    }

    fn start_peer(program: &Program, place: &Place) -> Outcome<Self> {
        let started = |source| Failure::Start { program: program.to_string(), source };
        let free = || TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let (address, metrics) = (free().map_err(started)?, free().map_err(started)?);
        let mut command = program.command(place, address.port(), metrics.port());
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit()).spawn();
        let node = Self { child: child.map_err(started)?, address: address.to_string() };
        let start = Instant::now();
        while TcpStream::connect(&node.address).is_err() {
            if start.elapsed() > PATIENCE {
                return Err(Failure::Missing(format!("{program} does not listen on {}", node.address)));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(node)
    }
}
