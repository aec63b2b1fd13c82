//! `groundstate serve` with tokens: who gets in, what the audit log says, and tokens that come and go while it runs.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groundstate_common::{IdSource, OsIds};
use groundstate_testkit::{Authority, server_of_peer};
use serde_json::Value;

use super::schemas::Schemas;
use super::serve::{Answer, PATIENCE, Server, answer, document, until};
use super::support::{Run, command, groundstate};
use super::terraform::terraform;

const STATE: &str = "/tf/shop/network";
const LOCK: &str =
    r#"{"ID":"11111111-0000-0000-0000-000000000000","Operation":"OperationTypeApply","Who":"ana@build"}"#;

/// A request with more headers.
struct Ask<'a> {
    method: &'a str,
    path: &'a str,
    headers: String,
    body: &'a str,
}

impl<'a> Ask<'a> {
    fn new(method: &'a str, path: &'a str) -> Self {
        Self { method, path, headers: String::new(), body: "" }
    }

    fn body(self, body: &'a str) -> Self {
        Self { body, ..self }
    }

    fn header(self, name: &str, value: &str) -> Self {
        Self { headers: format!("{}{name}: {value}\r\n", self.headers), ..self }
    }

    fn bearer(self, token: &str) -> Self {
        self.header("Authorization", &format!("Bearer {token}"))
    }

    /// As Terraform sends it.
    fn basic(self, user: &str, token: &str) -> Self {
        self.header("Authorization", &format!("Basic {}", STANDARD.encode(format!("{user}:{token}"))))
    }

    fn send(&self, server: &Server) -> Answer {
        let Self { method, path, headers, body } = self;
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let text = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(text.as_bytes()).unwrap();
        answer(stream)
    }

    fn status(&self, server: &Server) -> u16 {
        self.send(server).status
    }
}

/// The value of a header.
fn header(answer: &Answer, name: &str) -> String {
    let line = answer.head.lines().find(|line| line.to_ascii_lowercase().starts_with(&format!("{name}: ")));
    line.unwrap_or_else(|| panic!("{name}: {}", answer.head)).split_once(": ").unwrap().1.to_owned()
}

/// Where a server keeps everything, as arguments say it.
struct Place(Vec<String>);

impl Place {
    fn directory(path: &Path) -> Self {
        Self(vec!["--store".to_owned(), path.to_str().unwrap().to_owned()])
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let place: Vec<&str> = self.0.iter().map(String::as_str).collect();
        groundstate(&[arguments, &place].concat())
    }

    fn create(&self, arguments: &str) -> String {
        let words: Vec<&str> = arguments.split(' ').collect();
        let run = self.run(&[&["token", "create", "--init"], &words[..]].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stdout.trim_end().to_owned()
    }

    fn serve(&self, more: &[&str]) -> Server {
        let place: Vec<&str> = self.0.iter().map(String::as_str).collect();
        Server::of(command(&[&["serve", "--init"], &place[..], more].concat()))
    }

    /// The entries of the audit log of this action.
    fn entries(&self, action: &str) -> Vec<Value> {
        let shown = self.run(&["audit", "show", "--json", "--action", action]).clean();
        Schemas::read().validate(&["audit-show".to_owned()], &shown).unwrap();
        let shown: Value = serde_json::from_str(&shown).unwrap();
        shown["entries"].as_array().unwrap().clone()
    }

    /// The last entry of this action, once there is one.
    fn entry(&self, action: &str) -> Value {
        until(&format!("an entry {action}"), || !self.entries(action).is_empty());
        self.entries(action).pop().unwrap()
    }
}

#[test]
fn a_server_with_tokens_lets_each_client_do_what_its_token_is_for() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::directory(dir.path());
    let writer = place.create("ci --role write --project shop");
    let reader = place.create("reader --role read --project shop --state net*");
    let server = place.serve(&[]);
    assert!(server.said.contains("\nrequiring a token or a certificate from clients\n"), "{}", server.said);

    let refused = Ask::new("GET", STATE).send(&server);
    assert_eq!(refused.status, 401);
    assert!(header(&refused, "www-authenticate").starts_with("Basic realm="), "{}", refused.head);
    for ask in [
        Ask::new("GET", STATE).bearer(&format!("{}x", &writer[..51])),
        Ask::new("GET", STATE).basic("ci", "hunter2"),
        // No issuer is known.
        Ask::new("GET", STATE).bearer("eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjaSJ9.c2ln"),
        Ask::new("LOCK", STATE).body(LOCK),
        Ask::new("GET", "/api/v1/states"),
        Ask::new("GET", "/metrics"),
    ] {
        assert_eq!(ask.status(&server), 401, "{} {}", ask.method, ask.path);
    }
    assert_eq!(Ask::new("GET", "/healthz").status(&server), 200);

    // The user name is any.
    assert_eq!(Ask::new("LOCK", STATE).basic("terraform", &writer).body(LOCK).status(&server), 200);
    let write = format!("{STATE}?ID=11111111-0000-0000-0000-000000000000");
    let state = document(1, 0);
    assert_eq!(Ask::new("POST", &write).basic("", &writer).body(&state).status(&server), 200);
    assert_eq!(Ask::new("UNLOCK", STATE).basic("ci", &writer).body(LOCK).status(&server), 200);
    let read = Ask::new("GET", STATE).bearer(&reader).send(&server);
    assert_eq!((read.status, read.body.as_str()), (200, state.as_str()));
    for (method, path, token) in [
        ("LOCK", STATE, &reader),
        ("POST", STATE, &reader),
        ("DELETE", STATE, &reader),
        ("GET", "/tf/shop/vault", &reader),
        ("GET", "/tf/bank/network", &writer),
        ("GET", "/metrics", &writer),
    ] {
        let body = if method == "LOCK" { LOCK } else { &state };
        let body = if method == "GET" { "" } else { body };
        assert_eq!(
            Ask::new(method, path).basic("ci", token).body(body).status(&server),
            403,
            "{method} {path}"
        );
    }
}

#[test]
fn entries_of_the_audit_log_have_the_actor_the_address_and_the_id_of_the_request() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::directory(dir.path());
    let writer = place.create("ci --role write");
    let reader = place.create("reader --role read");
    let other = Place::directory(&dir.path().join("other")).create("ci --role admin");
    let server = place.serve(&["--set", "proxy.trusted=127.0.0.1"]);
    let expected = |entry: &Value, actor: &str, outcome: &str, remote: &str| {
        let of = |name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        let found = (of("actor"), of("outcome"), of("remote"));
        assert_eq!(found, (actor.to_owned(), outcome.to_owned(), remote.to_owned()), "{entry}");
    };

    let written = Ask::new("POST", STATE).basic("x", &writer).body(&document(1, 0)).send(&server);
    assert_eq!(written.status, 200);
    let entry = place.entry("state.write");
    expected(&entry, "token:ci", "done", "127.0.0.1");
    assert_eq!(
        (entry["object"].as_str(), entry["request"].as_str()),
        (Some("shop/network"), Some(header(&written, "x-request-id").as_str()))
    );

    // Behind the proxy, the address is that of the client, and the id that of the proxy.
    let denied = Ask::new("LOCK", STATE).basic("x", &reader).body(LOCK);
    let denied = denied.header("X-Forwarded-For", "192.0.2.7").header("X-Request-Id", "proxy-7");
    assert_eq!(denied.status(&server), 403);
    let entry = place.entry("state.lock");
    expected(&entry, "token:reader", "denied", "192.0.2.7");
    assert_eq!(entry["request"], "proxy-7");

    let stranger =
        Ask::new("GET", STATE).basic("x", &other).header("X-Forwarded-For", "192.0.2.8, 192.0.2.9");
    assert_eq!(stranger.status(&server), 401);
    let entry = place.entry("auth.refuse");
    expected(&entry, entry["actor"].as_str().unwrap(), "denied", "192.0.2.9");
    assert!(entry["actor"].as_str().unwrap().starts_with("token:"), "{entry}");

    // The commands were entries too, and the log is one chain of all processes, also while the server runs.
    assert_eq!(place.entries("token.create").len(), 2);
    assert_eq!(place.entries("server.start").len(), 1);
    let verified = place.run(&["audit", "verify"]).clean();
    let checkpoint = verified.lines().last().unwrap().strip_prefix("checkpoint ").unwrap().to_owned();
    server.signal("TERM");
    assert_eq!(server.ended().code, 0);
    assert_eq!(place.entry("server.stop")["outcome"], "done");
    let verified = place.run(&["audit", "verify", "--since", &checkpoint]).clean();
    assert!(verified.starts_with("The audit log is intact"), "{verified}");
    for secret in [&writer, &reader, &other] {
        let shown = place.run(&["audit", "show", "--json"]).clean();
        assert!(!shown.contains(&secret[3..40]), "{shown}");
    }
}

/// A token that is created while a server runs is let in, and one that is revoked is refused.
fn tokens_come_and_go(place: &Place) {
    let server = place.serve(&[]);
    let anonymous = Ask::new("GET", STATE);
    assert_eq!(anonymous.status(&server), 404);
    let token = place.create("ci --role read");
    let ask = Ask::new("GET", STATE).basic("x", &token);
    assert_eq!(ask.status(&server), 404);
    // From the first token on every client needs one.
    assert_eq!(anonymous.status(&server), 401);
    let listed = || place.run(&["token", "list"]).clean();
    until("the use is noted", || listed().contains(", used 2"));

    place.run(&["token", "revoke", "ci"]).clean();
    // The server has seen it, so this takes up to 30 seconds.
    until("the token is refused", || ask.status(&server) == 401);
    assert!(ask.send(&server).body.contains("the token ci was revoked"));
    let entry = place.entry("auth.refuse");
    assert_eq!(entry["remote"], "127.0.0.1");
    // One that the server has not seen is refused at once.
    let second = place.create("second --role read");
    place.run(&["token", "revoke", "second"]).clean();
    assert_eq!(Ask::new("GET", STATE).bearer(&second).status(&server), 401);
    assert_eq!(anonymous.status(&server), 401);
    place.run(&["audit", "verify"]).clean();
}

#[test]
fn tokens_come_and_go_while_a_server_runs_on_a_directory() {
    let dir = tempfile::tempdir().unwrap();
    tokens_come_and_go(&Place::directory(dir.path()));
}

#[test]
fn tokens_come_and_go_while_a_server_runs_on_postgresql() {
    let Some(url) = server_of_peer("postgres", "GROUNDSTATE_PG") else { return };
    let dir = tempfile::tempdir().unwrap();
    let table = format!("tokens_{:x}", OsIds.number().unwrap());
    fs::write(dir.path().join("url"), format!("{url}&table={table}\n")).unwrap();
    let file = dir.path().join("server.toml");
    fs::write(&file, "store_file = \"url\"\n").unwrap();
    let place = Place(vec!["--config".to_owned(), file.to_str().unwrap().to_owned()]);
    // Looking makes no table.
    for verb in [&["token", "list"][..], &["token", "revoke", "ci"], &["audit", "show"], &["audit", "verify"]]
    {
        let said = place.run(verb).failed(3);
        assert!(said.contains("is not the store of a server: there is no such table"), "{said}");
    }
    tokens_come_and_go(&place);
}

#[test]
fn terraform_applies_with_a_token_that_may_write_and_plans_with_one_that_may_lock() {
    let (dir, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let dir = dir.path();
    if terraform(dir, &["version"]).is_none() {
        return;
    }
    let place = Place::directory(store.path());
    let [writer, locker, reader] =
        ["write", "lock", "read"].map(|role| place.create(&format!("{role}r --role {role}")));
    let server = place.serve(&[]);
    let url = format!("{}{STATE}", server.url);
    let backend = format!(
        "terraform {{\n  backend \"http\" {{\n    address = \"{url}\"\n    lock_address = \"{url}\"\n    unlock_address = \"{url}\"\n  }}\n}}\n"
    );
    fs::write(dir.join("main.tf"), format!("{backend}resource \"terraform_data\" \"a\" {{}}\n")).unwrap();
    let run = |token: &str, arguments: &[&str]| {
        let mut command = Command::new("terraform");
        command.args(arguments).current_dir(dir).env("CHECKPOINT_DISABLE", "1").stdin(Stdio::null());
        command.env("TF_HTTP_USERNAME", "token").env("TF_HTTP_PASSWORD", token);
        let output = command.output().unwrap();
        let said = [&output.stdout[..], &output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&said).into_owned())
    };
    let (succeeds, said) = run(&writer, &["init", "-no-color", "-input=false"]);
    assert!(succeeds, "{said}");
    let (succeeds, said) = run(&reader, &["plan", "-no-color", "-input=false"]);
    assert!(!succeeds && said.contains("invalid auth"), "{said}");
    let (succeeds, said) = run(&locker, &["plan", "-no-color", "-input=false"]);
    assert!(succeeds && said.contains("1 to add"), "{said}");
    let (succeeds, said) = run(&writer, &["apply", "-auto-approve", "-no-color"]);
    assert!(succeeds, "{said}");
    let (succeeds, said) = run(&reader, &["state", "list"]);
    assert!(succeeds && said.contains("terraform_data.a"), "{said}");
    assert_eq!(place.entry("state.write")["actor"], "token:writer");
}

#[test]
fn a_certificate_of_a_client_says_who_it_is_to_the_roles_and_to_the_audit_log() {
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    let (authority, clients) = (Authority::new(), Authority::new());
    let own = authority.certificate(&["localhost"]);
    put("server.crt", own.pem());
    put("server.key", own.key_pem());
    put("clients.crt", clients.pem());
    put(
        "server.toml",
        "store = \"states\"\n[tls]\ncertificate = \"server.crt\"\nkey = \"server.key\"\nclient_ca = \"clients.crt\"\n\
         [[auth.certificate]]\ndns = \"*.ci.example.com\"\ngrants = [{ role = \"write\", project = \"shop\", state = \"*\" }]\n",
    );
    put("new.tfstate", &document(1, 0));
    let config = dir.path().join("server.toml");
    let server = Server::of(command(&["serve", "--init", "--config", config.to_str().unwrap()]));
    let port = server.address().rsplit_once(':').unwrap().1;
    let push = |name: &str, path: &str| {
        let certificate = clients.certificate(&[name]);
        let file = dir.path().join("new.tfstate");
        let url = format!("https://localhost:{port}{path}");
        let mut command = command(&["push", &url, file.to_str().unwrap()]);
        command
            .env("TF_HTTP_CLIENT_CA_CERTIFICATE_PEM", authority.pem())
            .env("TF_HTTP_CLIENT_CERTIFICATE_PEM", certificate.pem())
            .env("TF_HTTP_CLIENT_PRIVATE_KEY_PEM", certificate.key_pem());
        Run::of(command.output().unwrap())
    };
    let pushed = push("web.ci.example.com", STATE);
    assert_eq!(pushed.code, 0, "{}", pushed.stderr);
    let place = Place(vec!["--config".to_owned(), config.to_str().unwrap().to_owned()]);
    let entry = place.entry("state.write");
    assert!(entry["actor"].as_str().unwrap().starts_with("certificate:"), "{entry}");
    // Of the same authority, with a name or for a project that no rule has.
    assert_eq!(push("laptop.example.com", STATE).code, 11);
    assert_eq!(push("web.ci.example.com", "/tf/bank/network").code, 11);
    assert_eq!(place.entries("state.write").iter().filter(|entry| entry["outcome"] == "done").count(), 1);
}
