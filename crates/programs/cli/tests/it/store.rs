//! `store check` and `store repair`, and servers whose stores are damaged or gone.

use std::fs;
use std::path::{Path, PathBuf};

use crate::serve::{Server, request};
use crate::support::{Run, command, groundstate};

const STATE: &str = "/tf/shop/network";
const LOCK: &str = r#"{"ID":"11111111-1111-1111-1111-111111111111","Operation":"OperationTypeApply"}"#;

/// A store with three versions of a state, one of another and one of the note on wrapping keys, and no server.
fn used() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("states");
    let server = serve(&store);
    for serial in 1..=3 {
        assert_eq!(request(&server, "POST", STATE, &state(serial)).status, 200);
    }
    assert_eq!(request(&server, "POST", "/tf/shop/other", &state(1)).status, 200);
    ended(server);
    (dir, store)
}

fn ended(server: Server) {
    server.signal("TERM");
    assert_eq!(server.ended().code, 0);
}

fn serve(store: &Path) -> Server {
    Server::of(command(&["serve", "--store", store.to_str().unwrap()]))
}

fn state(serial: u64) -> String {
    format!(r#"{{"version":4,"serial":{serial},"lineage":"l","outputs":{{}},"resources":[]}}"#)
}

fn head(store: &Path) -> PathBuf {
    store.join("documents/heads/terraform/shop/network/default!.json")
}

fn run(store: &Path, words: &[&str]) -> Run {
    groundstate(&[&["store"], words, &["--store", store.to_str().unwrap()]].concat())
}

#[test]
fn missing_head_is_named_by_every_answer_and_made_anew_by_repair() {
    let (_dir, store) = used();
    assert!(run(&store, &["check"]).clean().contains(", 5 versions"));
    fs::remove_file(head(&store)).unwrap();
    let server = serve(&store);
    for (method, body) in [("GET", String::new()), ("LOCK", LOCK.to_owned()), ("POST", state(9))] {
        let answer = request(&server, method, STATE, &body);
        assert_eq!(answer.status, 500, "{method}: {}", answer.body);
        assert!(answer.body.contains("urn:groundstate:problem:damaged"), "{}", answer.body);
        assert!(answer.body.contains("its head is missing"), "{}", answer.body);
        assert!(answer.body.contains("groundstate store repair"), "{}", answer.body);
    }
    let listed = request(&server, "GET", "/api/v1/states", "");
    assert!(listed.status == 200 && listed.body.contains("\"other\""), "{}", listed.body);

    let found = run(&store, &["check"]);
    assert_eq!(found.code, 1);
    let name = "terraform/shop/network/default: its head is missing, and versions of it are there";
    assert!(found.stdout.contains(name), "{}", found.stdout);
    let planned = run(&store, &["repair"]);
    assert_eq!(planned.code, 1);
    assert!(planned.stdout.contains("last version 3 of "), "{}", planned.stdout);
    assert!(planned.stderr.contains("nothing was changed; `--yes` carries it out"), "{}", planned.stderr);
    assert!(!head(&store).exists());
    assert!(run(&store, &["repair", "--yes"]).clean().contains("its head is made anew"));
    let answer = request(&server, "GET", STATE, "");
    assert!(answer.status == 200 && answer.body.contains("\"serial\":3"), "{}", answer.body);
    assert_eq!(request(&server, "LOCK", STATE, LOCK).status, 200);
    ended(server);
    run(&store, &["check"]).clean();
}

#[test]
fn damaged_files_leave_lists_and_are_named_in_them() {
    let (_dir, store) = used();
    fs::write(head(&store), "{").unwrap();
    let server = serve(&store);
    for path in ["/api/v1/states", "/api/v1/locks"] {
        let answer = request(&server, "GET", path, "");
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert!(
            answer.body.contains("\"damaged\":[{\"project\":\"shop\",\"state\":\"network\""),
            "{}",
            answer.body
        );
    }
    let tokens = store.join("auth/tokens");
    fs::create_dir_all(&tokens).unwrap();
    fs::write(tokens.join("2c26b46b68ffc68f.json"), "{}").unwrap();
    let listed = groundstate(&["token", "list", "--store", store.to_str().unwrap()]);
    assert_eq!(listed.code, 1);
    assert!(listed.stderr.contains("2c26b46b68ffc68f.json"), "{}", listed.stderr);
    let found = run(&store, &["check", "--quick"]);
    assert_eq!(found.code, 1);
    assert!(found.stdout.contains("The store is damaged: 2 problems in "), "{}", found.stdout);
    drop(server);
}

#[test]
fn deleted_record_of_an_old_version_is_in_the_list_of_versions() {
    let (_dir, store) = used();
    let records = store.join("documents/data/terraform/shop/network/default!/versions");
    let mut names: Vec<_> = fs::read_dir(&records).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    fs::remove_file(&names[0]).unwrap();
    fs::write(&names[1], "{").unwrap();
    let server = serve(&store);
    let answer = request(&server, "GET", "/api/v1/states/shop/network/default/versions", "");
    assert_eq!(answer.status, 200);
    assert!(answer.body.contains("\"missing\":[1]"), "{}", answer.body);
    assert!(answer.body.contains("\"damaged\":[{\"number\":2,"), "{}", answer.body);
    history_shows_unreadable_versions(&server);
    ended(server);
    let found = run(&store, &["check"]);
    assert!(found.stdout.contains("version 1: its record is missing"), "{}", found.stdout);
    assert!(found.stdout.contains("version 2: its record is damaged"), "{}", found.stdout);
}

/// Of three versions the first is missing and the second damaged.
fn history_shows_unreadable_versions(server: &Server) {
    let place = &*format!("{}{STATE}", server.url);
    let shown = groundstate(&["history", place]);
    assert_eq!(shown.code, 1, "{shown:?}");
    let lines: Vec<&str> = shown.stdout.lines().collect();
    assert!(lines[0].starts_with("3  ") && lines[0].contains("serial 3"), "{shown:?}");
    assert!(lines[1].starts_with("2  cannot be read: version 2: its record is damaged"), "{shown:?}");
    assert_eq!(lines[2], "1  cannot be read: it is missing from the store of the server");
    assert!(shown.stderr.contains("groundstate store check"), "{shown:?}");
    let shown = groundstate(&["history", place, "--json"]);
    let document: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    let snapshots = &document["snapshots"];
    assert_eq!((&snapshots[1]["id"], &snapshots[2]["id"]), (&"2".into(), &"1".into()), "{document}");
    assert!(snapshots[1]["unreadable"].is_string() && snapshots[1].get("stored_at").is_none(), "{document}");
    let refused = groundstate(&["rollback", place, "--to", "2", "--yes"]).failed(5);
    assert!(refused.contains("cannot read 2 of the history of "), "{refused}");
    let refused = groundstate(&["show", place, "--at", "1"]).failed(5);
    assert!(refused.contains("it is missing from the store"), "{refused}");
}

#[test]
fn store_that_is_not_mounted_is_no_new_store() {
    let (dir, store) = used();
    let away = dir.path().join("away");
    fs::rename(&store, &away).unwrap();
    let words = ["serve", "--store", store.to_str().unwrap(), "--listen", "127.0.0.1:0"];
    for is_there in [false, true] {
        if is_there {
            fs::create_dir(&store).unwrap();
        }
        for more in [&[][..], &["--init"]] {
            let said = groundstate(&[&words[..], more].concat()).failed(3);
            assert!(said.contains("has gone"), "{said}");
            assert!(said.contains("mount or restore the store"), "{said}");
        }
    }
    assert_eq!(fs::read_dir(&store).unwrap().count(), 0);
    fs::remove_dir(&store).unwrap();
    fs::rename(&away, &store).unwrap();
    let server = serve(&store);
    assert_eq!(request(&server, "GET", STATE, "").status, 200);
    assert_eq!(request(&server, "GET", "/readyz", "").status, 200);
    fs::rename(&store, &away).unwrap();
    fs::create_dir(&store).unwrap();
    assert_eq!(request(&server, "LOCK", "/tf/shop/third", LOCK).status, 503);
    // An answer counts for a second.
    assert!(wait_for(|| request(&server, "GET", "/readyz", "").status == 503));
    fs::remove_dir_all(&store).unwrap();
    fs::rename(&away, &store).unwrap();
}

/// Asks again until it is so, for at most some seconds.
fn wait_for(mut is_so: impl FnMut() -> bool) -> bool {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while std::time::Instant::now() < end {
        if is_so() {
            return true;
        }
    }
    false
}

#[test]
fn empty_directory_is_made_a_store_only_when_that_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let words = ["serve", "--store", dir.path().to_str().unwrap(), "--listen", "127.0.0.1:0"];
    let said = groundstate(&words).failed(3);
    assert!(said.contains("there is no store of a server at"), "{said}");
    assert!(said.contains("groundstate serve --init"), "{said}");
    ended(Server::of(command(&[&words[..], &["--init"]].concat())));
    ended(Server::of(command(&words)));
}

#[test]
fn store_without_its_mark_is_marked_anew_by_repair() {
    let (_dir, store) = used();
    fs::remove_file(store.join("groundstate/layout.json")).unwrap();
    let words = ["serve", "--init", "--store", store.to_str().unwrap(), "--listen", "127.0.0.1:0"];
    let said = groundstate(&words).failed(3);
    assert!(said.contains("groundstate store repair") || said.contains("has gone"), "{said}");
    let found = run(&store, &["check"]);
    assert!(found.code == 1 && found.stdout.contains("layout.json is missing"), "{}", found.stdout);
    assert!(run(&store, &["repair", "--yes"]).clean().contains("marked anew with the id"));
    run(&store, &["check"]).clean();
}
