//! `groundstate serve`, as users run it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use super::support::{Run, command, groundstate};

/// Longer than anything takes on a machine that is busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A server in a process of its own; it is killed when it is dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    /// Its URL.
    pub(crate) url: String,
    /// What it printed before it listened, and the block behind it.
    pub(crate) said: String,
    stdout: BufReader<ChildStdout>,
    stderr: ChildStderr,
}

impl Server {
    /// Starts a server on a port that is free, with its store in this directory.
    pub(crate) fn start(store: &Path, arguments: &[&str]) -> Self {
        Self::of(command(&[&["serve", "--init", "--store", store.to_str().unwrap()], arguments].concat()))
    }

    /// Starts a server by this command line.
    pub(crate) fn of(mut command: Command) -> Self {
        if !command.get_args().any(|argument| argument == "--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        Self::started(command)
    }

    /// Starts a server by a command that says where it listens.
    pub(crate) fn started(mut command: Command) -> Self {
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let stderr = child.stderr.take().unwrap();
        let mut said = String::new();
        // The Pulumi command is the last line.
        while !said.lines().last().is_some_and(|line| line.starts_with("PULUMI_ACCESS_TOKEN=")) {
            if stdout.read_line(&mut said).unwrap() == 0 {
                let mut why = String::new();
                let mut stderr = stderr;
                stderr.read_to_string(&mut why).unwrap();
                panic!("the server has ended: {said}{why}");
            }
        }
        let line = said.lines().next().unwrap();
        let url = line.strip_prefix("listening on ").unwrap().split(", ").next().unwrap().to_owned();
        Self { child, url, said, stdout, stderr }
    }

    pub(crate) fn address(&self) -> &str {
        self.url.split_once("://").unwrap().1
    }

    /// Sends a signal.
    #[cfg(unix)]
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
    }

    /// Waits for its end, and gives what it has said since it listened.
    pub(crate) fn ended(mut self) -> Run {
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.stdout.read_to_string(&mut stdout).unwrap();
        self.stderr.read_to_string(&mut stderr).unwrap();
        let status = self.child.wait().unwrap();
        let signal = || std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| -signal);
        let code = status.code().or_else(signal).unwrap();
        Run { code, stdout, stderr }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// Sends a request on a connection of its own.
pub(crate) fn request(server: &Server, method: &str, path: &str, body: &str) -> Answer {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        server.address(),
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    answer(stream)
}

/// Reads an answer until the server closes the connection.
pub(crate) fn answer(mut stream: TcpStream) -> Answer {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

/// Waits until something is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

const STATE: &str = "/tf/shop/network";

/// A state with this serial, and a filler of so many bytes.
pub(crate) fn document(serial: u64, filler: usize) -> String {
    let filler = "x".repeat(filler);
    format!(
        r#"{{"version":4,"terraform_version":"1.11.4","serial":{serial},"lineage":"11111111-2222-3333-4444-555555555555","outputs":{{"filler":{{"value":"{filler}","type":"string"}}}},"resources":[],"check_results":null}}"#
    )
}

#[test]
fn a_server_says_where_it_is_and_what_to_paste() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let said = server.said.replace(&server.url, "URL").replace(dir.path().to_str().unwrap(), "DIR");
    insta::assert_snapshot!(said);
    assert_eq!(request(&server, "GET", "/healthz", "").status, 200);
    assert_eq!(request(&server, "GET", "/readyz", "").status, 200);
    assert_eq!(request(&server, "POST", STATE, &document(1, 0)).status, 200);
    let read = request(&server, "GET", STATE, "");
    assert_eq!((read.status, read.body), (200, document(1, 0)));
}

#[test]
fn a_configuration_is_checked_and_shown_without_touching_anything() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("server.toml");
    fs::write(&file, "store = \"states\"\nlisten = [\"127.0.0.1:5000\"]\n[limits]\nstate = \"64MiB\"\n")
        .unwrap();
    let run =
        groundstate(&["serve", "--config", file.to_str().unwrap(), "--check", "--set", "limits.burst=5"]);
    let shown = run.clean().replace(dir.path().to_str().unwrap(), "DIR");
    assert!(shown.starts_with("store = \"DIR/states\" # DIR/server.toml:1:9\n"), "{shown}");
    assert!(shown.contains("\nstate = \"64MiB\" # DIR/server.toml:4:9\n"), "{shown}");
    assert!(shown.contains("\nburst = 5 # --set\n"), "{shown}");
    assert!(!dir.path().join("states").exists());
    // What is shown is a configuration that says the same.
    fs::write(&file, shown.replace("DIR", dir.path().to_str().unwrap())).unwrap();
    let again = groundstate(&["serve", "--config", file.to_str().unwrap(), "--check"]).clean();
    let values = |text: &str| {
        text.lines().map(|line| line.split(" # ").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(values(&again.replace(dir.path().to_str().unwrap(), "DIR")), values(&shown));
}

#[test]
fn what_is_wrong_is_said_before_anything_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("states");
    let refused = |arguments: &[&str]| {
        let store = store.to_str().unwrap();
        let said = groundstate(&[&["serve", "--store", store], arguments].concat()).failed(2);
        said.replace(dir.path().to_str().unwrap(), "DIR")
    };
    insta::assert_snapshot!(
        [
            refused(&["--listen", "0.0.0.0:4778"]),
            refused(&["--listen", "localhost"]),
            refused(&["--tls-certificate", "a.pem"]),
            refused(&["--set", "limits.stat=1MiB"]),
            refused(&["--config", "does-not-exist.toml"]),
            refused(&["--metrics-listen", "0.0.0.0:9478"]),
        ]
        .join("\n")
    );
    assert!(!store.exists());
}

#[test]
fn an_open_address_without_authentication_is_refused_with_the_command_that_mends_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().to_str().unwrap();
    let arguments = ["serve", "--init", "--store", store, "--listen", "0.0.0.0:0", "--insecure-plain-http"];
    insta::assert_snapshot!(groundstate(&arguments).failed(2).replace(store, "DIR"));
    let mut open = command(&[&arguments[..], &["--insecure-no-authentication"]].concat());
    open.env_remove("GROUNDSTATE_LISTEN");
    let server = Server::of(open);
    assert!(server.said.contains("accepting every client"), "{}", server.said);
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (dir, address) = (tempfile::tempdir().unwrap(), taken.local_addr().unwrap().to_string());
    let run =
        groundstate(&["serve", "--init", "--store", dir.path().to_str().unwrap(), "--listen", &address]);
    let said = run.failed(12);
    assert!(
        said.contains(&format!("error: cannot listen on {address}: another process listens there")),
        "{said}"
    );
    assert!(said.contains("--listen ADDRESS"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_directory_that_cannot_be_written_to_is_named() {
    for (store, code) in [("/proc/groundstate", 3), ("/proc", 12)] {
        let said =
            groundstate(&["serve", "--init", "--store", store, "--listen", "127.0.0.1:0"]).failed(code);
        assert!(said.contains("/proc") && said.contains("--store DIRECTORY"), "{said}");
    }
}

#[test]
fn memory_is_loud_about_its_end() {
    let server = Server::of(command(&["serve", "--store", "memory:"]));
    assert_eq!(request(&server, "POST", STATE, &document(1, 0)).status, 200);
    server.signal("TERM");
    let run = server.ended();
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("nothing survives the end of this server"), "{}", run.stderr);
}

#[test]
fn an_upload_that_has_begun_is_finished_after_sigterm() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let body = document(1, 100_000);
    let mut upload = begin_upload(&server, STATE, &body);
    server.signal("TERM");
    until("the server stops listening", || TcpStream::connect(server.address()).is_err());
    upload.write_all(&body.as_bytes()[50_000..]).unwrap();
    assert_eq!(answer(upload).status, 200);
    assert_eq!(server.ended().code, 0);
    let server = Server::start(dir.path(), &[]);
    assert_eq!(request(&server, "GET", STATE, "").body, body);
}

/// Sends the head, waits until the server asks for the body, and sends the first 50,000 bytes of it.
fn begin_upload(server: &Server, path: &str, body: &str) -> TcpStream {
    const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
    let mut upload = TcpStream::connect(server.address()).unwrap();
    upload.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n",
        body.len()
    );
    upload.write_all(head.as_bytes()).unwrap();
    let mut interim = [0; CONTINUE.len()];
    upload.read_exact(&mut interim).unwrap();
    assert_eq!(interim, CONTINUE);
    upload.write_all(&body.as_bytes()[..50_000]).unwrap();
    upload
}

#[test]
fn an_upload_that_does_not_end_is_refused_as_a_whole_and_the_next_server_has_the_old_state() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &["--set", "limits.shutdown_timeout=1s"]);
    assert_eq!(request(&server, "POST", STATE, &document(1, 0)).status, 200);
    let upload = begin_upload(&server, STATE, &document(2, 100_000));
    server.signal("TERM");
    let run = server.ended();
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("closed connections before their requests were answered"), "{}", run.stderr);
    drop(upload);
    let server = Server::start(dir.path(), &[]);
    assert_eq!(request(&server, "GET", STATE, "").body, document(1, 0));
}

#[test]
fn a_second_signal_ends_the_server_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let upload = begin_upload(&server, STATE, &document(1, 100_000));
    server.signal("INT");
    until("the server stops listening", || TcpStream::connect(server.address()).is_err());
    server.signal("TERM");
    let run = server.ended();
    assert_eq!(run.code, 128 + 15, "{}", run.stderr);
    assert!(run.stderr.contains("told to end at once"), "{}", run.stderr);
    drop(upload);
    let server = Server::start(dir.path(), &[]);
    assert_eq!(request(&server, "GET", STATE, "").status, 404);
}

#[test]
fn a_server_that_is_killed_during_an_upload_has_lost_nothing_and_keeps_its_locks() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[]);
    let lock = r#"{"ID":"11111111-0000-0000-0000-000000000000","Operation":"OperationTypeApply","Info":"","Who":"ana@build","Version":"1.11.4","Created":"2026-01-01T00:00:00Z","Path":""}"#;
    assert_eq!(request(&server, "LOCK", STATE, lock).status, 200);
    let under_lock = format!("{STATE}?ID=11111111-0000-0000-0000-000000000000");
    assert_eq!(request(&server, "POST", &under_lock, &document(1, 0)).status, 200);
    // Killed at different moments of an upload, the last ones around its end.
    let mut newest = 1;
    for (round, pause) in [0, 2, 5, 10, 20].into_iter().enumerate() {
        let serial = round as u64 + 2;
        let (address, path, body) =
            (server.address().to_owned(), under_lock.clone(), document(serial, 2 << 20));
        let upload = std::thread::spawn(move || {
            let mut stream = TcpStream::connect(address).ok()?;
            let length = body.len();
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).ok()?;
            stream.write_all(body.as_bytes()).ok()?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).ok()?;
            answer.starts_with("HTTP/1.1 200").then_some(())
        });
        std::thread::sleep(Duration::from_millis(pause));
        server.child.kill().unwrap();
        drop(server);
        let was_answered = upload.join().unwrap().is_some();
        server = Server::start(dir.path(), &[]);
        let read = request(&server, "GET", STATE, "").body;
        let is_new = read == document(serial, 2 << 20);
        let is_old = read == document(newest, if newest == 1 { 0 } else { 2 << 20 });
        assert!(is_new || (is_old && !was_answered), "round {round}: {was_answered} {}", read.len());
        newest = if is_new { serial } else { newest };
        let held = request(&server, "LOCK", STATE, &lock.replace("11111111", "22222222"));
        assert_eq!((held.status, held.body.as_str()), (423, lock));
    }
    assert_eq!(request(&server, "UNLOCK", STATE, lock).status, 200);
}

#[test]
fn a_server_that_is_killed_while_a_body_is_sent_keeps_the_old_state_and_the_lock() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::start(dir.path(), &[]);
    assert_eq!(request(&server, "POST", STATE, &document(1, 0)).status, 200);
    let lock = r#"{"ID":"11111111-0000-0000-0000-000000000000","Who":"ana@build"}"#;
    assert_eq!(request(&server, "LOCK", STATE, lock).status, 200);
    let under_lock = format!("{STATE}?ID=11111111-0000-0000-0000-000000000000");
    let upload = begin_upload(&server, &under_lock, &document(2, 100_000));
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    drop(upload);
    let server = Server::start(dir.path(), &[]);
    assert_eq!(request(&server, "GET", STATE, "").body, document(1, 0));
    let held = request(&server, "LOCK", STATE, &lock.replace("11111111", "22222222"));
    assert_eq!((held.status, held.body.as_str()), (423, lock));
    assert_eq!(request(&server, "POST", &under_lock, &document(2, 100_000)).status, 200);
    assert_eq!(request(&server, "UNLOCK", STATE, lock).status, 200);
}

#[test]
fn sighup_reads_the_configuration_again_and_says_what_needs_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("server.toml");
    let write = |text: &str| fs::write(&file, format!("store = \"states\"\n{text}")).unwrap();
    write("limits.requests_per_second = 1\nlimits.burst = 1\n");
    let server = Server::of(command(&["serve", "--init", "--config", file.to_str().unwrap()]));
    let statuses = || (0..5).map(|_| request(&server, "GET", STATE, "").status).collect::<Vec<_>>();
    assert!(statuses().contains(&429));
    write("limits.requests_per_second = \"off\"\npolicy.require_lock = true\n");
    server.signal("HUP");
    until("the limit is gone", || statuses() == [404; 5]);
    write("limits.requests_per_second = \"of\"\n");
    server.signal("HUP");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(statuses(), [404; 5]);
    server.signal("TERM");
    let run = server.ended();
    assert_eq!(run.code, 0, "{}", run.stderr);
    for line in [
        "note: the configuration was read again",
        "warning: the new value of `policy.require_lock` counts once the server starts again",
        "warning: the configuration was not read again, and the server goes on as before",
    ] {
        assert!(run.stderr.contains(line), "{line}\n{}", run.stderr);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_service_manager_is_told_when_the_server_is_ready_and_when_it_stops() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notify");
    let socket = std::os::unix::net::UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let heard = || {
        let mut text = [0; 64];
        let length = socket.recv(&mut text).unwrap();
        String::from_utf8(text[..length].to_vec()).unwrap()
    };
    let mut command = command(&["serve", "--store", "memory:"]);
    command.env("NOTIFY_SOCKET", &path);
    let server = Server::of(command);
    assert_eq!(heard(), "READY=1");
    server.signal("TERM");
    assert_eq!(heard(), "STOPPING=1");
    assert_eq!(server.ended().code, 0);
}

#[test]
fn the_log_names_requests_by_route_and_has_no_query_no_body_and_no_credentials() {
    let dir = tempfile::tempdir().unwrap();
    for format in ["text", "json"] {
        let server = Server::start(&dir.path().join(format), &["--log-format", format]);
        assert_eq!(
            request(&server, "POST", &format!("{STATE}?ID=hush-id"), &document(1, 0).replace("shop", "hush"))
                .status,
            409
        );
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(b"GET /tf/shop/network?hush=hush HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic aHVzaDpodXNo\r\nConnection: close\r\n\r\n").unwrap();
        let answered = answer(stream);
        assert_eq!(answered.status, 401, "{answered:?}");
        server.signal("TERM");
        let run = server.ended();
        let lines: Vec<&str> = run.stderr.lines().filter(|line| line.contains("/tf/{*state}")).collect();
        assert!(lines.len() >= 2, "{}", run.stderr);
        assert!(!run.stderr.contains("hush") && !run.stderr.contains("aHVzaD"), "{}", run.stderr);
        if format == "json" {
            for line in lines {
                let value: serde_json::Value = serde_json::from_str(line).unwrap();
                assert_eq!(value["span"]["name"], "request", "{line}");
                assert!(value["span"]["status"].is_u64() && value["span"]["milliseconds"].is_u64(), "{line}");
            }
        }
    }
}

#[test]
fn a_server_runs_where_nothing_can_be_printed() {
    let dir = tempfile::tempdir().unwrap();
    let probe = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = probe.local_addr().unwrap().to_string();
    drop(probe);
    let line = format!("exec groundstate serve --store states --listen {address} -v >/dev/null 2>&-");
    let mut command = super::support::shell(&line);
    let mut child = command.current_dir(dir.path()).stdin(Stdio::null()).spawn().unwrap();
    until("the server listens", || TcpStream::connect(&address).is_ok());
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    assert_eq!(answer(stream).status, 200);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn without_a_home_the_directory_has_to_be_named() {
    let mut command = command(&["serve"]);
    command.env_remove("HOME").env_remove("XDG_DATA_HOME");
    let run = Run::of(command.output().unwrap());
    let said = run.failed(2);
    assert!(said.contains("the home directory is not known") && said.contains("--store DIRECTORY"), "{said}");
}

#[test]
fn the_history_of_a_server_is_listed_read_and_rolled_back_to_by_the_commands_for_any_state() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &[]);
    let url = format!("{}{STATE}", server.url);
    let nothing = groundstate(&["history", &url]);
    assert!(nothing.failed(2).contains("keeps no history"), "there was never a state");
    for serial in [1, 2] {
        assert_eq!(request(&server, "POST", STATE, &document(serial, serial as usize)).status, 200);
    }
    let listed = groundstate(&["history", &url]).clean();
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert_eq!(groundstate(&["rollback", &url, "--to", "1", "--yes"]).code, 0);
    let read = request(&server, "GET", STATE, "").body;
    assert!(read.contains("\"value\":\"x\""), "{read}");
    let listed = groundstate(&["history", &url]).clean();
    assert_eq!(listed.lines().count(), 3, "{listed}");
    assert!(listed.lines().all(|line| line.contains("  by ")), "{listed}");
    // The server accepts a lower serial and another lineage, and remarks it.
    let foreign = document(1, 1).replacen("\"lineage\":\"", "\"lineage\":\"other-", 1);
    assert_ne!(foreign, document(1, 1));
    assert_eq!(request(&server, "POST", STATE, &foreign).status, 200);
    let listed = groundstate(&["history", &url]).clean();
    let warned = listed.lines().find(|line| line.trim().starts_with("warning: "));
    assert!(warned.is_some_and(|line| line.contains("lineage")), "{listed}");
    let json: serde_json::Value =
        serde_json::from_str(&groundstate(&["history", &url, "--json"]).clean()).unwrap();
    let newest = &json["snapshots"][0];
    assert!(newest["by"].is_string(), "{json}");
    assert!(newest["remarks"].as_array().is_some_and(|remarks| !remarks.is_empty()), "{json}");
    assert_eq!(json["snapshots"][2]["remarks"], serde_json::json!([]), "{json}");
    // A deleted state comes back the same way.
    assert_eq!(request(&server, "DELETE", STATE, "").status, 200);
    assert_eq!(request(&server, "GET", STATE, "").status, 404);
    assert!(groundstate(&["history", &url]).clean().lines().count() >= 3);
}
