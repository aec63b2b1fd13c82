//! Keys of a state server for the secrets of Pulumi stacks: kept, found missing, and used where a state is stored.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use groundstate_testkit::{S3Locks, TestBackend};

use super::serve::Server;
use super::serve_terraform::{again, restartable};
use super::support::{Run, command, state_home};

const PLAIN: &str = "sesame-open-7781";
const URN: &str = "urn:pulumi:STACK::shop::pulumi:index:Stash::pw";

/// An export of a stack with a readable secret.
fn clear(stack: &str) -> String {
    let text = r#"{"version":3,"deployment":{"manifest":{"time":"2026-01-02T03:04:05Z","magic":"","version":""},"resources":[{"urn":"urn:pulumi:STACK::shop::pulumi:pulumi:Stack::shop-STACK","custom":false,"type":"pulumi:pulumi:Stack"},{"urn":"URN","custom":true,"id":"a","type":"pulumi:index:Stash","parent":"urn:pulumi:STACK::shop::pulumi:pulumi:Stack::shop-STACK","outputs":{"output":{"4dabf18193072939515e22adb298388d":"1b47061264138c4ac30d75fd1eb44270","plaintext":"\"sesame-open-7781\""}}}],"metadata":{}}}"#;
    text.replace("URN", URN).replace("STACK", stack)
}

fn ours(folder: &Path, args: &[&str]) -> Run {
    let mut command = command(args);
    command.current_dir(folder).env("PULUMI_HOME", folder.join("home")).env("PULUMI_ACCESS_TOKEN", "none");
    // The token is for this service, and no other one gets it.
    if let Ok(url) = fs::read_to_string(folder.join("url")) {
        command.env("PULUMI_BACKEND_URL", url);
    }
    Run::of(command.stdin(Stdio::null()).output().unwrap())
}

#[track_caller]
fn done(folder: &Path, args: &[&str]) -> String {
    let run = ours(folder, args);
    assert_eq!(run.code, 0, "{args:?}: {}", run.stderr);
    run.stdout + &run.stderr
}

/// The number of files below a folder with the readable secret.
fn readable(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let count = |path: std::path::PathBuf| match path.is_dir() {
        true => readable(&path),
        false => usize::from(String::from_utf8_lossy(&fs::read(&path).unwrap()).contains(PLAIN)),
    };
    entries.map(|entry| count(entry.path())).sum()
}

/// A server on a port that is kept, since states name the address of their service.
fn start(work: &Path, store: &Path, address: Option<&str>) -> Server {
    let server = match address {
        Some(address) => again(store, address),
        None => restartable(store),
    };
    fs::write(work.join("url"), &server.url).unwrap();
    server
}

/// What a stack exports, without white space.
fn exported(work: &Path, place: &str) -> String {
    done(work, &["pull", place]).replace([' ', '\n'], "")
}

fn stack(server: &Server, name: &str) -> String {
    format!("pulumi+{}#local/shop/{name}", server.url)
}

/// The file of the key that a server makes for a store: outside of the store.
fn made_key(store: &Path) -> std::path::PathBuf {
    use sha2::Digest as _;
    let digest = sha2::Sha256::digest(store.to_str().unwrap().as_bytes());
    let name: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    state_home().join("xdg/groundstate/stores").join(format!("{name}.secrets.key"))
}

#[test]
fn secrets_of_another_stack_are_encrypted_anew_and_outlive_it() {
    let (folder, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let work = folder.path();
    let server = start(work, store.path(), None);
    let dev = stack(&server, "dev");
    fs::write(work.join("clear.json"), clear("dev")).unwrap();
    done(work, &["stacks", "create", &dev]);
    let said = done(work, &["push", &dev, "clear.json", "--yes"]);
    assert!(said.contains("stored encrypted"), "{said}");
    assert_eq!(readable(store.path()), 0, "no readable secret is in the store");
    done(work, &["pull", &dev, "-o", "dev.json"]);
    let text = fs::read_to_string(work.join("dev.json")).unwrap();
    assert!(!text.contains(PLAIN) && exported(work, &dev).contains(r#""type":"service""#), "{text}");

    // Stored in another stack it has the key of that one.
    let copied = text.replace("pulumi:dev::", "pulumi:copy::").replace("shop-dev", "shop-copy");
    fs::write(work.join("copy.json"), copied).unwrap();
    let copy = stack(&server, "copy");
    done(work, &["stacks", "create", &copy]);
    let said = done(work, &["push", &copy, "copy.json", "--yes"]);
    assert!(said.contains("by the key of another stack"), "{said}");
    let stored = exported(work, &copy);
    assert!(stored.contains(r#""stack":"copy""#), "{stored}");

    // A move into a stack without resources.
    let third = stack(&server, "third");
    done(work, &["stacks", "create", &third]);
    done(work, &["mv", &copy, &URN.replace("STACK", "copy"), "--to", &third]);
    done(work, &["undo", &copy, "--yes"]);

    done(work, &["stacks", "remove", &dev, "--force", "--yes"]);
    for place in [&copy, &third] {
        let shown = done(work, &["show", place, "--show-secrets"]);
        assert!(shown.contains(PLAIN), "{shown}");
    }
    // The key of the stack that is gone still opens what names it.
    assert!(done(work, &["show", "dev.json", "--show-secrets"]).contains(PLAIN));
}

#[test]
fn versions_from_before_a_rename_open_when_another_stack_took_the_name() {
    let (folder, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let work = folder.path();
    let server = start(work, store.path(), None);
    let (dev, prod) = (stack(&server, "dev"), stack(&server, "prod"));
    fs::write(work.join("clear.json"), clear("dev")).unwrap();
    done(work, &["stacks", "create", &dev]);
    done(work, &["push", &dev, "clear.json", "--yes"]);
    done(work, &["stacks", "rename", &dev, "prod"]);
    done(work, &["stacks", "create", &dev]);
    fs::write(work.join("other.json"), clear("dev").replace(PLAIN, "other")).unwrap();
    done(work, &["push", &dev, "other.json", "--yes"]);
    let said = ours(work, &["rollback", &prod, "--to", "1", "--yes", "--force"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let stored = exported(work, &prod);
    assert!(stored.contains(r#""stack":"prod""#), "{stored}");
    assert!(done(work, &["show", &prod, "--show-secrets"]).contains(PLAIN));
}

#[test]
fn lost_secrets_key_is_told_at_start_and_not_replaced() {
    let (folder, store) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let work = folder.path();
    let key = made_key(store.path());
    let server = start(work, store.path(), None);
    let address = server.address().to_owned();
    assert!(!key.exists(), "no stack needs it yet");
    let (dev, new) = ("dev", "new");
    fs::write(work.join("clear.json"), clear(dev)).unwrap();
    fs::write(work.join("new.json"), clear(new)).unwrap();
    done(work, &["stacks", "create", &stack(&server, dev)]);
    done(work, &["push", &stack(&server, dev), "clear.json", "--yes"]);
    server.signal("TERM");
    drop(server.ended());
    let kept = fs::read(&key).unwrap();
    fs::remove_file(&key).unwrap();

    let server = start(work, store.path(), Some(&address));
    done(work, &["stacks", "create", &stack(&server, new)]);
    let refused = ours(work, &["push", &stack(&server, new), "new.json", "--yes"]);
    assert!(refused.code != 0 && refused.stderr.contains("no new key is made"), "{}", refused.stderr);
    assert!(refused.stderr.contains("pulumi.secrets_key_file"), "{}", refused.stderr);
    let refused = ours(work, &["show", &stack(&server, dev), "--show-secrets"]);
    assert!(refused.code != 0 && !refused.stdout.contains(PLAIN));
    done(work, &["list", &stack(&server, dev)]);
    server.signal("TERM");
    let said = server.ended().stderr;
    assert!(said.contains("restore ") && said.contains("secrets.key"), "{said}");
    assert!(!key.exists(), "no key is made in place of the lost one");

    // Another key is refused before anything is encrypted by it.
    fs::write(&key, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n").unwrap();
    let place = store.path().to_str().unwrap();
    let refused = ours(work, &["serve", "--store", place, "--listen", "127.0.0.1:0"]);
    assert!(refused.code != 0 && refused.stderr.contains("the file has another one"), "{}", refused.stderr);

    fs::write(&key, &kept).unwrap();
    let server = start(work, store.path(), Some(&address));
    assert!(done(work, &["show", &stack(&server, dev), "--show-secrets"]).contains(PLAIN));
    done(work, &["push", &stack(&server, new), "new.json", "--yes"]);
    server.signal("TERM");
    assert!(!server.ended().stderr.contains("restore "));

    // The operator gives the key up by its name.
    fs::remove_file(&key).unwrap();
    let server = start(work, store.path(), Some(&address));
    server.signal("TERM");
    let said = server.ended().stderr;
    let name = said.split("under the key ").nth(1).unwrap().split(',').next().unwrap();
    let given_up = format!("pulumi.lost_secrets_keys={name}");
    let server = Server::of(command(&["serve", "--store", place, "--listen", &address, "--set", &given_up]));
    fs::write(work.join("third.json"), clear("third")).unwrap();
    done(work, &["stacks", "create", &stack(&server, "third")]);
    done(work, &["push", &stack(&server, "third"), "third.json", "--yes"]);
    assert!(key.exists());
}

#[test]
fn store_without_a_secrets_key_says_so_at_start() {
    let bucket = TestBackend::s3(S3Locks::File);
    let settings = bucket.direct_settings();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let place = format!(
        "s3://{}/server?region=us-east-1&use_path_style=true&access_key=a&secret_key=b&endpoint={}",
        text(&settings["bucket"]),
        text(&settings["endpoints"]["s3"])
    );
    // Options of a URL may be secrets, so it is in a file.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store");
    fs::write(&file, place).unwrap();
    let option = format!("store_file={}", file.display());
    let server = Server::of(command(&["serve", "--init", "--set", &option]));
    server.signal("TERM");
    let said = server.ended().stderr;
    assert!(said.contains("no key for the secrets of Pulumi stacks"), "{said}");
    assert!(said.contains("pulumi.secrets_key_file"), "{said}");
}
