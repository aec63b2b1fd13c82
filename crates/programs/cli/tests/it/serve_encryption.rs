//! `groundstate serve` with a store that is encrypted at rest.

use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::interop::key_services::aws;
use super::serve::{Answer, PATIENCE, Server, answer, request};
use super::support::{Run, command, groundstate};

const MARK: &str = "sesame-open-9924";
const STATE: &str = "/tf/shop/network";
const API: &str = "/api/v1/states/shop/network/default";
const STACK: &str = "/api/stacks/local/shop/dev";

/// A state whose output has the mark and a filler.
fn state(serial: u64, filler: usize) -> String {
    let filler = "x".repeat(filler);
    format!(
        r#"{{"version":4,"terraform_version":"1.11.4","serial":{serial},"lineage":"11111111-2222-3333-4444-555555555555","outputs":{{"password":{{"value":"{MARK}{filler}","type":"string"}}}},"resources":[],"check_results":null}}"#
    )
}

struct Site {
    folder: tempfile::TempDir,
    store: PathBuf,
}

impl Site {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("states");
        Self { folder, store }
    }

    /// The option that names the file of a key, which is made from this byte.
    fn key(&self, byte: char) -> String {
        let path = self.folder.path().join(format!("{byte}.key"));
        fs::write(&path, format!("{}=\n", byte.to_string().repeat(43))).unwrap();
        format!("pulumi.secrets_key_file={}", path.display())
    }

    fn arguments<'a>(&'a self, first: &[&'a str], settings: &[&'a str]) -> Vec<&'a str> {
        let store = self.store.to_str().unwrap();
        let settings = settings.iter().flat_map(|setting| ["--set", setting]);
        [first, &["--store", store]].concat().into_iter().chain(settings).collect()
    }

    fn start(&self, settings: &[&str]) -> Server {
        Server::of(command(&self.arguments(&["serve"], settings)))
    }

    fn refused(&self, settings: &[&str]) -> String {
        let run = groundstate(&self.arguments(&["serve", "--listen", "127.0.0.1:0"], settings));
        assert!(run.code != 0 && run.stdout.is_empty(), "{run:?}");
        run.stderr
    }

    fn check(&self, settings: &[&str]) -> Run {
        groundstate(&self.arguments(&["store", "check"], settings))
    }

    /// The files of the store that have a text in them.
    fn with(&self, text: &str) -> Vec<PathBuf> {
        let has = |path: &PathBuf| {
            fs::read(path).unwrap().windows(text.len()).any(|window| window == text.as_bytes())
        };
        files(&self.store).into_iter().filter(has).collect()
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn ended(server: Server) -> String {
    server.signal("TERM");
    server.ended().stderr
}

/// Sends a request with a header.
fn with_header(server: &Server, method: &str, path: &str, header: &str, body: &str) -> Answer {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\n{header}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        server.address(),
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    answer(stream)
}

#[track_caller]
fn done(server: &Server, method: &str, path: &str, body: &str) -> String {
    let answer = request(server, method, path, body);
    assert!(matches!(answer.status, 200 | 204), "{method} {path}: {} {}", answer.status, answer.body);
    answer.body
}

/// Everything that a client sends of a stack: a state, entries of a journal, a checkpoint and events.
fn use_stacks(server: &Server) {
    let resource =
        format!(r#"{{"urn":"urn:pulumi:dev::shop::t:a:B::n","type":"t:a:B","outputs":{{"a":"{MARK}"}}}}"#);
    let deployment = format!(
        r#"{{"manifest":{{"time":"2026-01-01T00:00:00Z","magic":"","version":""}},"resources":[{resource}]}}"#
    );
    let body = format!(r#"{{"stackName":"dev","state":{{"version":3,"deployment":{deployment}}}}}"#);
    done(server, "POST", "/api/stacks/local/shop", &body);
    let start = |journal: &str| {
        let config = format!(r#"{{"config":{{"shop:a":{{"string":"{MARK}"}}}}}}"#);
        let created: Value =
            serde_json::from_str(&done(server, "POST", &format!("{STACK}/update"), &config)).unwrap();
        let update = format!("{STACK}/update/{}", created["updateID"].as_str().unwrap());
        let started: Value = serde_json::from_str(&done(server, "POST", &update, journal)).unwrap();
        (update, format!("Authorization: update-token {}", started["token"].as_str().unwrap()))
    };
    let leased = |(update, token): &(String, String), method: &str, tail: &str, body: &str| {
        let answer = with_header(server, method, &format!("{update}{tail}"), token, body);
        assert!(matches!(answer.status, 200 | 204), "{tail}: {} {}", answer.status, answer.body);
    };
    let first = start(r#"{"journalVersion":1}"#);
    let operation = format!(r#"{{"resource":{resource},"type":"updating"}}"#);
    let entries = format!(
        r#"{{"entries":[{{"version":1,"kind":0,"sequenceID":1,"operationID":1,"removeOld":null,"removeNew":null,"operation":{operation}}},{{"version":1,"kind":1,"sequenceID":2,"operationID":1,"removeOld":0,"removeNew":null,"state":{resource}}}]}}"#
    );
    leased(&first, "PATCH", "/journalentries", &entries);
    let event = format!(
        r#"{{"events":[{{"sequence":1,"timestamp":1,"stdoutEvent":{{"message":"{MARK}","color":""}}}}]}}"#
    );
    leased(&first, "POST", "/events/batch", &event);
    leased(&first, "POST", "/complete", r#"{"status":"succeeded"}"#);
    let second = start("{}");
    let checkpoint = format!(r#"{{"isInvalid":false,"version":3,"deployment":{deployment}}}"#);
    leased(&second, "PATCH", "/checkpoint", &checkpoint);
    leased(&second, "POST", "/complete", r#"{"status":"succeeded"}"#);
    assert!(done(server, "GET", &format!("{STACK}/export"), "").contains(MARK));
}

#[test]
fn encrypted_store_has_no_plaintext_in_any_file_and_serves_everything() {
    let site = Site::new();
    let key = site.key('k');
    let server = site.start(&[&key]);
    assert!(server.said.contains(", encrypted by the key local:"), "{}", server.said);
    let lock = format!(r#"{{"ID":"11111111-1111-1111-1111-111111111111","Info":"{MARK}"}}"#);
    // A small state lies in a record, a large one in parts.
    for (serial, filler) in [(1, 0), (2, 5 << 20), (3, 10)] {
        done(&server, "POST", STATE, &state(serial, filler));
    }
    let digests = groundstate_digests(&state(3, 10));
    done(&server, "LOCK", STATE, &lock);
    use_stacks(&server);
    let versions = done(&server, "GET", &format!("{API}/versions"), "");
    // A content that is there already makes no version.
    done(&server, "UNLOCK", STATE, &lock);
    done(&server, "POST", STATE, &state(3, 10));
    assert_eq!(done(&server, "GET", &format!("{API}/versions"), ""), versions);
    assert_eq!(site.with(MARK), Vec::<PathBuf>::new());
    for digest in &digests {
        assert_eq!(site.with(digest), Vec::<PathBuf>::new(), "a digest of a content is guessed");
    }

    drop(ended(server));
    let server = site.start(&[&key]);
    assert_eq!(done(&server, "GET", STATE, ""), state(3, 10));
    let head = request(&server, "GET", STATE, "").head.to_lowercase();
    let tag = head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap().to_owned();
    assert_eq!(with_header(&server, "GET", STATE, &format!("If-None-Match: {tag}"), "").status, 304);
    let part = with_header(&server, "GET", STATE, "Range: bytes=0-9", "");
    assert_eq!((part.status, &*part.body), (206, &state(3, 10)[..10]));
    assert_eq!(done(&server, "GET", &format!("{API}/versions/2/content"), ""), state(2, 5 << 20));
    done(&server, "GET", &format!("{API}/diff?from=1&to=3"), "");
    assert!(done(&server, "GET", &format!("{API}/outputs"), "").contains("password"));
    assert!(done(&server, "GET", "/api/v1/states", "").contains("network"));
    assert!(done(&server, "GET", &format!("{STACK}/export"), "").contains(MARK));
    drop(ended(server));
    let checked = site.check(&[&key]);
    assert!(checked.code == 0 && checked.stdout.contains("The store is whole"), "{checked:?}");
}

/// The digests of a content as hexadecimal digits and as base64.
fn groundstate_digests(text: &str) -> [String; 2] {
    use base64::Engine as _;
    use sha2::Digest as _;
    let digest = sha2::Sha256::digest(text.as_bytes());
    let digits = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    [digits, base64::engine::general_purpose::STANDARD.encode(digest)]
}

#[test]
fn damage_and_exchange_of_encrypted_files_are_errors() {
    let site = Site::new();
    let key = site.key('k');
    let server = site.start(&[&key]);
    done(&server, "POST", STATE, &state(1, 0));
    done(&server, "POST", "/tf/shop/other", &state(1, 5));
    let encrypted: Vec<PathBuf> = files(&site.store.join("documents"))
        .into_iter()
        .filter(|path| {
            path.to_str().unwrap().contains("/terraform/shop/")
                && fs::read(path).unwrap().starts_with(b"\0\0\0\0GSE1")
        })
        .collect();
    assert_eq!(encrypted.len(), 4, "{encrypted:?}");
    for path in &encrypted {
        let good = fs::read(path).unwrap();
        let name = if path.to_str().unwrap().contains("/other/") { "/tf/shop/other" } else { STATE };
        for at in [0, 5, 10, 30, 60, good.len() / 2, good.len() - 1] {
            let mut damaged = good.clone();
            damaged[at] ^= 4;
            fs::write(path, damaged).unwrap();
            let read = request(&server, "GET", name, "");
            assert!(read.status == 500 && read.body.contains("damaged"), "{path:?} {at}: {}", read.body);
        }
        fs::write(path, &good).unwrap();
        assert_eq!(request(&server, "GET", name, "").status, 200);
    }
    // One document in the place of another.
    let find = |part: &str| encrypted.iter().find(|path| path.to_str().unwrap().contains(part)).unwrap();
    let (one, other) = (find("heads/terraform/shop/network"), find("heads/terraform/shop/other"));
    fs::copy(one, other).unwrap();
    assert_eq!(request(&server, "GET", "/tf/shop/other", "").status, 500);
    drop(ended(server));
    let checked = site.check(&[&key]);
    assert!(checked.code != 0 && checked.stdout.contains("The store is damaged: 1 problem"), "{checked:?}");

    // Repair works as on a readable store, and what it writes is encrypted.
    let repaired = groundstate(&site.arguments(&["store", "repair", "--yes"], &[&key]));
    assert_eq!(repaired.code, 0, "{repaired:?}");
    assert!(fs::read(other).unwrap().starts_with(b"\0\0\0\0GSE1"));
    let server = site.start(&[&key]);
    assert_eq!(done(&server, "GET", "/tf/shop/other", ""), state(1, 5));
    assert_eq!(site.with(MARK), Vec::<PathBuf>::new());
}

#[test]
fn missing_or_wrong_key_of_an_encrypted_store_is_refused_and_not_replaced() {
    let site = Site::new();
    let key = site.key('k');
    let server = site.start(&[&key]);
    done(&server, "POST", STATE, &state(1, 0));
    drop(ended(server));
    let keyring = site.store.join("groundstate/keys.json");
    let kept = fs::read(&keyring).unwrap();
    let other = site.key('o');
    for settings in [&[][..], &[&*other], &["store_encryption=off"], &["store_encryption=on", &other]] {
        let said = site.refused(settings);
        assert!(
            said.contains("encrypted by the key local:") && said.contains("no other key opens"),
            "{said}"
        );
        assert_eq!(fs::read(&keyring).unwrap(), kept);
        let checked = site.check(settings);
        assert!(checked.code != 0 && checked.stderr.contains("encrypted by the key local:"), "{checked:?}");
    }
    // The keyring has a copy.
    fs::remove_file(&keyring).unwrap();
    let server = site.start(&[&key]);
    assert_eq!(done(&server, "GET", STATE, ""), state(1, 0));
    drop(ended(server));
    fs::remove_file(site.store.join("groundstate/keys.copy.json")).unwrap();
    drop(fs::remove_file(&keyring));
    let said = site.refused(&[&key]);
    assert!(said.contains("keys.json is missing") && said.contains("from a backup"), "{said}");
    assert!(!keyring.exists());
}

#[test]
fn readable_store_goes_on_and_is_encrypted_only_when_that_is_asked_for() {
    let site = Site::new();
    let key = site.key('k');
    let server = site.start(&[]);
    assert!(server.said.contains(", not encrypted\n"), "{}", server.said);
    done(&server, "POST", STATE, &state(1, 0));
    drop(ended(server));
    let server = site.start(&[&key]);
    assert!(server.said.contains(", not encrypted\n"), "{}", server.said);
    drop(ended(server));
    let readable = site.with(MARK).len();
    assert!(readable > 0);

    let server = site.start(&[&key, "store_encryption=on"]);
    assert!(server.said.contains(", encrypted by the key local:"), "{}", server.said);
    assert_eq!(done(&server, "GET", STATE, ""), state(1, 0));
    done(&server, "POST", STATE, &state(2, 1));
    assert_eq!(site.with(MARK).len(), readable, "what was readable stays so, and nothing is added");
    drop(ended(server));
    // It goes on by itself.
    let server = site.start(&[&key]);
    assert!(server.said.contains(", encrypted by the key local:"), "{}", server.said);
    drop(ended(server));

    let server = site.start(&[&key, "store_encryption=off"]);
    assert_eq!(done(&server, "GET", STATE, ""), state(2, 1));
    done(&server, "POST", STATE, &state(3, 2));
    assert!(site.with(MARK).len() > readable);
    let said = ended(server);
    assert!(said.contains("new versions are stored readable"), "{said}");
}

#[test]
fn key_that_a_server_makes_lies_outside_of_the_store_and_encrypts_if_asked_for() {
    let site = Site::new();
    let config = site.folder.path().join("server.toml");
    fs::write(&config, "store = \"states\"\nstore_encryption = \"on\"\n").unwrap();
    let server = Server::of(command(&["serve", "--config", config.to_str().unwrap()]));
    assert!(server.said.contains(", encrypted by the key local:"), "{}", server.said);
    done(&server, "POST", STATE, &state(1, 0));
    let key = site.folder.path().join("server.toml.secrets.key");
    assert!(key.exists() && !site.store.join("secrets.key").exists());
    assert_eq!(site.with(MARK), Vec::<PathBuf>::new());
    drop(ended(server));
    // A key that an earlier release made in the store goes on being used, and the operator is told to move it.
    fs::rename(&key, site.store.join("secrets.key")).unwrap();
    let server = Server::of(command(&["serve", "--config", config.to_str().unwrap()]));
    assert_eq!(done(&server, "GET", STATE, ""), state(1, 0));
    let said = ended(server);
    assert!(
        said.contains("lies in the store that it protects") && said.contains("server.toml.secrets.key"),
        "{said}"
    );
    assert!(!key.exists());
}

#[test]
fn key_of_the_server_is_replaced_by_one_of_a_key_service() {
    let Some((url, variables)) = aws() else { return };
    let site = Site::new();
    let (file, service) = (site.key('k'), format!("pulumi.secrets_key={url}"));
    let start = |settings: &[&str]| {
        let mut command = command(&site.arguments(&["serve"], settings));
        command.envs(variables.iter().map(|(name, value)| (*name, value)));
        Server::of(command)
    };
    let server = start(&[&file]);
    done(&server, "POST", STATE, &state(1, 0));
    drop(ended(server));
    let keyring = || fs::read_to_string(site.store.join("groundstate/keys.json")).unwrap();
    assert!(keyring().contains("\"local:"));
    let server = start(&[&file, &service]);
    assert!(server.said.contains(", encrypted by the key awskms://"), "{}", server.said);
    done(&server, "POST", STATE, &state(2, 0));
    drop(ended(server));
    // The file is not needed any more.
    assert!(!keyring().contains("\"local:") && keyring().contains("awskms://"));
    let server = start(&[&service]);
    assert_eq!(done(&server, "GET", STATE, ""), state(2, 0));
    assert_eq!(done(&server, "GET", &format!("{API}/versions/1/content"), ""), state(1, 0));
    drop(ended(server));
    assert_eq!(site.with(MARK), Vec::<PathBuf>::new());
}
