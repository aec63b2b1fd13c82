//! Starts a service, remembers it in a file, finds it again and stops it.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::account::Account;
use super::definition::{Health, Service};
use super::install::{find, install};
use super::process::Process;
use crate::outcome::{Failure, Outcome, status};
use crate::workspace;

/// How long a service may take until it answers; two busy cores are slow.
const STARTING: Duration = Duration::from_secs(60);
/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(5);
/// A free port may be taken by another program before the service has it.
const ATTEMPTS: u32 = 3;

/// A service that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Running {
    pub(super) process: Process,
    pub(super) port: u16,
    /// The folder with what it stores.
    home: PathBuf,
}

impl Running {
    /// The service as an earlier call has started it, alive or not.
    pub(super) fn find(service: &Service, root: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(root.join(&service.name).join("running")).ok()?;
        let mut lines = text.lines();
        let process = Process::from_text(lines.next()?)?;
        let port = lines.next()?.parse().ok()?;
        Some(Self { process, port, home: PathBuf::from(lines.next()?) })
    }

    fn remember(&self, service: &Service, root: &Path) -> Outcome {
        let path = root.join(&service.name).join("running");
        let text = format!("{}\n{}\n{}\n", self.process.to_text(), self.port, self.home.display());
        write(&path, &text)
    }

    /// Installs what is needed and starts the service on a free port.
    pub(super) fn start(service: &Service, root: &Path) -> Outcome<Self> {
        let folder = root.join(&service.name);
        make(&folder)?;
        let installed = install(service, root)?;
        let account = Account::of(service.unprivileged)?;
        let home = account.home(root, &service.name)?;
        let services = workspace::root().join("xtask/services");
        let mut places =
            vec![("dir", home.display().to_string()), ("services", services.display().to_string())];
        places.extend(installed.map(|(name, path)| (name, path.display().to_string())));
        if let Some((creates, run)) = &service.prepare
            && !Path::new(&fill(creates, &places)).exists()
        {
            let mut command = command(service, run, &places, &account)?;
            let log = create(&folder.join("prepare.log"))?;
            let errors = log.try_clone().map_err(|error| Failure::Missing(error.to_string()))?;
            status(command.stdout(log).stderr(errors))?;
        }
        let mut attempt = 1;
        loop {
            match Self::launch(service, root, &places, &account, &home) {
                Err(_) if attempt < ATTEMPTS => attempt += 1,
                outcome => return outcome,
            }
        }
    }

    fn launch(
        service: &Service,
        root: &Path,
        places: &[(&str, String)],
        account: &Account,
        home: &Path,
    ) -> Outcome<Self> {
        let port = free_port()?;
        let places = [places, &[("port", port.to_string())]].concat();
        let log = root.join(&service.name).join("log");
        let mut command = command(service, &service.run, &places, account)?;
        let process = Process::spawn(command.current_dir(home), &log)?;
        let running = Self { process, port, home: home.to_owned() };
        // Before anything else can go wrong: `down` has to find it.
        running.remember(service, root)?;
        let start = Instant::now();
        while start.elapsed() < STARTING && running.process.is_alive() {
            if running.is_healthy(service) {
                return Ok(running);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let why = if running.process.is_alive() { "does not answer" } else { "has ended at once" };
        running.process.stop("KILL")?;
        let text = std::fs::read(&log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let last: Vec<&str> = text.lines().rev().take(20).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        Err(Failure::Check(format!("{} {why}; its last words:\n{}", service.name, last.join("\n"))))
    }

    /// Whether it lives and answers.
    pub(super) fn is_healthy(&self, service: &Service) -> bool {
        self.process.is_alive()
            && match &service.health {
                Health::Connect => connect(self.port).is_some(),
                Health::Http(path) => answers(self.port, path).is_some(),
                Health::Command(run) => {
                    let port = [("port", self.port.to_string())];
                    command(service, run, &port, &Account::same()).is_ok_and(|mut command| {
                        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
                        quiet.status().is_ok_and(|status| status.success())
                    })
                }
            }
    }

    /// The variables by which tests find it.
    pub(super) fn exports(&self, service: &Service) -> Vec<(String, String)> {
        let places = [("dir", self.home.display().to_string()), ("port", self.port.to_string())];
        service.exports.iter().map(|(name, value)| (name.clone(), fill(value, &places))).collect()
    }

    /// Stops it and forgets it with what it stored.
    pub(super) fn stop(self, service: &Service, root: &Path) -> Outcome {
        self.process.stop(&service.stop)?;
        for path in [self.home, root.join(&service.name).join("running")] {
            let removed =
                if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
            match removed {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Failure::Check(format!("cannot remove {}: {error}", path.display())));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// A command of a service's file, its program found and its placeholders filled.
fn command(
    service: &Service,
    run: &[String],
    places: &[(&str, String)],
    account: &Account,
) -> Outcome<Command> {
    let mut words = run.iter().map(|word| fill(word, places));
    let program = words.next().unwrap_or_default();
    let program = if program.contains('/') {
        PathBuf::from(program)
    } else {
        find(&program, service).ok_or_else(|| Failure::Missing(format!("there is no `{program}` here")))?
    };
    let mut command = Command::new(program);
    command.args(words).envs(service.environment.iter().map(|(name, value)| (name, fill(value, places))));
    account.put_on(&mut command);
    Ok(command)
}

/// Replaces `{name}` by what stands for it.
fn fill(text: &str, places: &[(&str, String)]) -> String {
    places.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

fn free_port() -> Outcome<u16> {
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    address.map(|address| address.port()).map_err(|error| Failure::Missing(format!("no free port: {error}")))
}

fn connect(port: u16) -> Option<TcpStream> {
    TcpStream::connect_timeout(&(Ipv4Addr::LOCALHOST, port).into(), ANSWER).ok()
}

/// The status of the answer to a request, if it is one of HTTP.
fn answers(port: u16, path: &str) -> Option<u16> {
    let mut stream = connect(port)?;
    stream.set_read_timeout(Some(ANSWER)).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n").ok()?;
    let mut start = [0; 12];
    stream.read_exact(&mut start).ok()?;
    let start = std::str::from_utf8(&start).ok()?;
    start.strip_prefix("HTTP/1.")?.get(2..)?.parse().ok()
}

/// Makes a folder and those above it.
pub(super) fn make(folder: &Path) -> Outcome {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::Missing(format!("cannot make {}: {error}", folder.display())))
}

/// Writes a file.
pub(super) fn write(path: &Path, text: &str) -> Outcome {
    std::fs::write(path, text)
        .map_err(|error| Failure::Missing(format!("cannot write {}: {error}", path.display())))
}

fn create(path: &Path) -> Outcome<std::fs::File> {
    std::fs::File::create(path)
        .map_err(|error| Failure::Missing(format!("cannot write {}: {error}", path.display())))
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::{Running, answers, fill};
    use crate::services::definition::{Health, Service, all};

    fn service(name: &str, run: &[&str]) -> Service {
        let mut service = all().unwrap().remove(0);
        service.name = name.to_owned();
        service.needs.clear();
        service.environment.clear();
        service.install = None;
        service.prepare =
            Some(("{dir}/made".to_owned(), ["touch", "{dir}/made"].map(str::to_owned).to_vec()));
        service.unprivileged = false;
        service.run = run.iter().map(ToString::to_string).collect();
        service.health = Health::Command(vec!["true".to_owned()]);
        service.exports = [("AT".to_owned(), "{dir}:{port}".to_owned())].into();
        service
    }

    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("groundstate-xtask-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_service_is_found_again_and_leaves_nothing_when_it_is_stopped() {
        let root = folder("services");
        let service = service("sleeper", &["sleep", "600"]);
        let running = Running::start(&service, &root).unwrap();
        assert!(root.join("sleeper/home/made").exists());
        let again = Running::find(&service, &root).unwrap();
        assert_eq!(again, running);
        assert!(again.is_healthy(&service));
        let at = format!("{}:{}", root.join("sleeper/home").display(), running.port);
        assert_eq!(again.exports(&service), [("AT".to_owned(), at)]);
        again.stop(&service, &root).unwrap();
        assert!(!running.is_healthy(&service) && Running::find(&service, &root).is_none());
        assert!(!root.join("sleeper/home").exists());
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_service_that_ends_at_once_is_quoted() {
        let root = folder("failing");
        let service = service("failing", &["sh", "-c", "echo the port is taken >&2; exit 3"]);
        let mut service = service;
        service.health = Health::Connect;
        let error = Running::start(&service, &root).unwrap_err().to_string();
        assert!(
            error.contains("failing has ended at once") && error.ends_with("the port is taken"),
            "{error}"
        );
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn placeholders_are_filled_and_others_left() {
        assert_eq!(fill("{a}/{b}{a}", &[("a", "1".to_owned())]), "1/{b}1");
    }

    #[test]
    fn only_an_answer_in_http_counts() {
        use std::io::{Read, Write};
        for (answer, expected) in [("HTTP/1.1 503 Busy\r\n\r\n", Some(503)), ("SSH-2.0-x 200\r\n", None)] {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            let server = std::thread::spawn(move || {
                let mut stream = listener.accept().unwrap().0;
                let mut request = [0; 512];
                let _read = stream.read(&mut request).unwrap();
                stream.write_all(answer.as_bytes()).unwrap();
            });
            assert_eq!(answers(port, "/"), expected, "{answer}");
            server.join().unwrap();
        }
    }
}
