//! `migrate`, between directories.

use std::fs;
use std::path::Path;

use super::support::{Run, backups, groundstate, resource, with_resources};

fn state(serial: u64, lineage: &str, name: &str) -> String {
    with_resources(&resource("a", name, "{}"))
        .replace("\"serial\": 1", &format!("\"serial\": {serial}"))
        .replace("\"lineage\": \"l\"", &format!("\"lineage\": \"{lineage}\""))
}

fn put(dir: &Path, workspace: &str, text: &str) {
    let path = at(dir, workspace);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn at(dir: &Path, workspace: &str) -> std::path::PathBuf {
    match workspace {
        "default" => dir.join("terraform.tfstate"),
        name => dir.join("terraform.tfstate.d").join(name).join("terraform.tfstate"),
    }
}

/// Two directories, and the receipt.
struct Two(tempfile::TempDir);

impl Two {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["from", "to"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        Self(dir)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn migrate(&self, options: &[&str]) -> Run {
        let [from, to, receipt] =
            ["from", "to", "receipt.json"].map(|name| self.path(name).display().to_string());
        groundstate(&[&["migrate", &from, &to, "--receipt", &receipt], options].concat())
    }

    fn receipt(&self) -> serde_json::Value {
        serde_json::from_slice(&fs::read(self.path("receipt.json")).unwrap()).unwrap()
    }
}

#[test]
fn copies_every_byte_of_all_workspaces_and_leaves_the_old_place() {
    let two = Two::new();
    let states = [
        ("default", state(4, "l", "a")),
        ("dev", state(9, "m", "b")),
        ("x:y", "{\"version\":4,\"serial\":2,\"lineage\":\"n\",\"resources\":[],\"outputs\":{}}".to_owned()),
    ];
    for (workspace, text) in &states {
        put(&two.path("from"), workspace, text);
    }
    let run = two.migrate(&["--all-workspaces"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.starts_with("default: copied, serial 4, "), "{}", run.stdout);
    for (workspace, text) in &states {
        for place in ["from", "to"] {
            assert_eq!(
                &fs::read_to_string(at(&two.path(place), workspace)).unwrap(),
                text,
                "{workspace} {place}"
            );
        }
    }
    let receipt = two.receipt();
    assert_eq!(receipt["states"].as_array().unwrap().len(), 3);
    assert_eq!((&receipt["states"][1]["lineage"], &receipt["states"][1]["serial"]), (&"m".into(), &9.into()));
    assert!(receipt["finished"].is_string());

    // Once more: nothing is copied, and the receipt still says when it was.
    let run = two.migrate(&["--all-workspaces"]);
    assert!(run.stdout.starts_with("default: is there already, serial 4\n"), "{}", run.stdout);
    assert_eq!(two.receipt()["states"], receipt["states"]);
}

#[test]
fn takes_the_selected_workspace_only() {
    let two = Two::new();
    put(&two.path("from"), "default", &state(4, "l", "a"));
    put(&two.path("from"), "dev", &state(5, "m", "b"));
    two.migrate(&["--workspace", "dev"]);
    assert!(at(&two.path("to"), "dev").exists() && !at(&two.path("to"), "default").exists());
    let file = two.path("one.tfstate");
    let [from, file, receipt] =
        [two.path("from"), file, two.path("r2.json")].map(|path| path.display().to_string());
    assert_eq!(groundstate(&["migrate", &from, &file, "--workspace", "dev", "--receipt", &receipt]).code, 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), state(5, "m", "b"));
    let said: serde_json::Value = serde_json::from_slice(&fs::read(&receipt).unwrap()).unwrap();
    assert_eq!(said["to"], file.as_str());
    // The folder of the file is not what the receipt is about.
    let other = two.path("other.tfstate").display().to_string();
    let run = groundstate(&["migrate", &from, &other, "--workspace", "dev", "--receipt", &receipt]);
    // The first one is finished, so it makes room and is kept.
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("the receipt of an earlier migration is in"), "{}", run.stderr);
    let refused = groundstate(&["migrate", &from, &file, "--all-workspaces"]).failed(2);
    assert!(refused.contains("one state has no workspaces"), "{refused}");
    let refused = groundstate(&["migrate", &from, &from]).failed(2);
    assert!(refused.contains("is where the state is already"), "{refused}");
}

#[test]
fn a_preview_writes_nothing_and_says_what_would_be_refused() {
    let two = Two::new();
    for workspace in ["default", "dev", "old", "same"] {
        put(&two.path("from"), workspace, &state(4, "l", "a"));
    }
    put(&two.path("to"), "dev", &state(2, "l", "z"));
    put(&two.path("to"), "old", &state(7, "l", "z"));
    put(&two.path("to"), "same", &state(4, "l", "a"));
    let length = state(4, "l", "a").len();
    let run = two.migrate(&["--all-workspaces", "--dry-run"]).clean();
    assert_eq!(
        run,
        format!(
            "default: would be copied: serial 4, {length} bytes\n\
             dev: would be copied: serial 4, {length} bytes, over serial 2\n\
             old: would be refused: a newer state is stored there: serial 7, and this one has 4\n\
             same: is there already, serial 4\n"
        )
    );
    assert!(!at(&two.path("to"), "default").exists() && !two.path("receipt.json").exists());
}

#[test]
fn goes_on_where_it_was_refused_and_raises_the_serial_by_force() {
    let two = Two::new();
    for workspace in ["default", "dev", "old"] {
        put(&two.path("from"), workspace, &state(4, "l", "a"));
    }
    put(&two.path("to"), "dev", &state(7, "l", "z"));
    let run = two.migrate(&["--all-workspaces"]);
    assert_eq!((run.code, &*run.stdout), (9, ""), "{}", run.stderr);
    assert!(
        run.stderr.contains("dev is not copied to") && run.stderr.contains("goes on from here"),
        "{}",
        run.stderr
    );
    assert_eq!(two.receipt()["states"].as_array().unwrap().len(), 1);
    assert!(two.receipt()["finished"].is_null());
    let run = two.migrate(&["--all-workspaces", "--force"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stdout.contains("default: is there already, serial 4\ndev: copied, serial 8, "),
        "{}",
        run.stdout
    );
    assert_eq!(fs::read_to_string(at(&two.path("to"), "dev")).unwrap(), state(8, "l", "a"));
    // What was there is kept beside it, as every change keeps it.
    let backup = &backups(at(&two.path("to"), "dev").to_str().unwrap())[0];
    assert_eq!(fs::read_to_string(backup).unwrap(), state(7, "l", "z"));
    assert_eq!(two.receipt()["states"].as_array().unwrap().len(), 3);
    let run = two.migrate(&["--all-workspaces"]);
    assert!(run.stdout.contains("dev: is there already, serial 8"), "{}", run.stdout);
}

#[test]
fn says_when_there_is_nothing_and_when_something_is_locked() {
    let two = Two::new();
    let run = two.migrate(&[]);
    assert_eq!((run.code, &*run.stdout), (0, "default: no state is stored\n"), "{}", run.stderr);
    put(&two.path("from"), "default", &state(4, "l", "a"));
    let to = at(&two.path("to"), "default").display().to_string();
    let [from, receipt] = ["from", "receipt.json"].map(|name| two.path(name).display().to_string());
    let program = env!("CARGO_BIN_EXE_groundstate");
    let dir = two.path("to").display().to_string();
    let inside = groundstate(&["lock", &to, "--", program, "migrate", &from, &dir, "--receipt", &receipt]);
    assert_eq!(inside.code, 8, "{}", inside.stderr);
    assert!(inside.stderr.contains("for lock") || inside.stderr.contains("lock"), "{}", inside.stderr);
    assert!(!Path::new(&to).exists() || fs::read(&to).unwrap().is_empty());
}
