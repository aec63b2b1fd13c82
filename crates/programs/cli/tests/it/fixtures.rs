//! States that real releases wrote, and what those releases print of them.

use std::fs;
use std::path::{Path, PathBuf};

use super::support::{groundstate, shared_fixtures};

/// The fixtures of one release, a directory each.
fn directories(release: &str) -> Vec<PathBuf> {
    let Some(root) = shared_fixtures() else { return Vec::new() };
    let entries = fs::read_dir(root.join(release)).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = entries.filter(|path| path.join("terraform.tfstate").is_file()).collect();
    found.sort();
    assert!(found.len() >= 3, "{release}");
    found
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs a command on a state and compares what it prints with a file beside it.
#[track_caller]
fn prints(args: &[&str], expected: &Path) {
    let expected_text = fs::read_to_string(expected).unwrap();
    assert!(groundstate(args).clean() == expected_text, "{args:?} does not print {}", expected.display());
}

#[test]
fn lists_what_terraform_lists() {
    for dir in directories("terraform-1.11") {
        prints(&["list", text(&dir.join("terraform.tfstate"))], &dir.join("list.txt"));
    }
    for dir in directories("terraform-0.11") {
        prints(&["list", text(&dir.join("terraform.tfstate"))], &dir.join("terraform.v4.list.txt"));
        prints(&["list", text(&dir.join("terraform.v4.tfstate"))], &dir.join("terraform.v4.list.txt"));
    }
}

#[test]
fn lists_what_terraform_lists_for_addresses_and_ids() {
    let Some(root) = shared_fixtures() else { return };
    let cases = [
        ("instances", "list-each.txt", &["terraform_data.each"][..]),
        ("instances", "list-counted-3.txt", &["terraform_data.counted[3]"]),
        ("instances", "list-by-id.txt", &["--id=4aab4575-3ac4-5d74-79b5-88739eecadc1"]),
        ("modules", "list-module-each.txt", &["module.each"]),
        ("modules", "list-module-each-eu.txt", &["module.each[\"eu-west-1\"]"]),
    ];
    for (dir, expected, args) in cases {
        let dir = root.join("terraform-1.11").join(dir);
        let state = dir.join("terraform.tfstate");
        prints(&[&["list", text(&state)], args].concat(), &dir.join(expected));
    }
}

#[test]
fn shows_the_json_that_terraform_shows() {
    for dir in directories("terraform-1.11") {
        let state = dir.join("terraform.tfstate");
        prints(&["show", text(&state), "--json", "--reveal"], &dir.join("show.json"));
    }
}

#[test]
fn shows_instances_as_terraform_does() {
    let Some(root) = shared_fixtures() else { return };
    let dir = root.join("terraform-1.11/values");
    let state = dir.join("terraform.tfstate");
    for (address, expected) in [
        ("terraform_data.object", "state-show-object.txt"),
        ("terraform_data.secret_inside", "state-show-secret.txt"),
    ] {
        prints(&["show", text(&state), address], &dir.join(expected));
    }
}

#[test]
fn prints_the_outputs_that_terraform_prints() {
    for dir in directories("terraform-1.11") {
        prints(&["outputs", text(&dir.join("terraform.tfstate")), "--json"], &dir.join("output.json"));
    }
}

#[test]
fn gives_every_state_of_terraform_back_byte_for_byte() {
    let mut count = 0;
    for dir in directories("terraform-1.11").iter().chain(&directories("terraform-0.11")) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let current = !text(&path).contains("terraform-0.11") || name.contains(".v4.");
            if name.ends_with(".tfstate") && current {
                prints(&["upgrade", text(&path)], &path);
                count += 1;
            }
        }
    }
    assert!(count == 0 || count > 15, "{count}");
}

#[test]
fn upgrades_old_states_to_what_terraform_makes_of_them() {
    let mut compared = 0;
    for dir in directories("terraform-0.11") {
        let state = dir.join("terraform.tfstate");
        let upgraded = groundstate(&["upgrade", text(&state)]);
        assert_eq!(upgraded.code, 0, "{}", upgraded.stderr);
        let list = |text: &str| super::support::groundstate_with(&["list", "-"], text.as_bytes()).clean();
        let theirs = fs::read_to_string(dir.join("terraform.v4.tfstate")).unwrap();
        assert_eq!(list(&upgraded.stdout), list(&theirs));
        compared += 1;
    }
    assert!(compared == 0 || compared >= 3);
}

#[test]
fn says_of_each_backend_where_its_state_is() {
    let Some(root) = shared_fixtures() else { return };
    for kind in ["http", "pg"] {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".terraform")).unwrap();
        let settings = root.join("terraform-1.11/backend-config").join(format!("{kind}.json"));
        fs::copy(settings, dir.path().join(".terraform/terraform.tfstate")).unwrap();
        let message = groundstate(&["list", text(dir.path())]).failed(3);
        assert!(message.contains(&format!("a backend of the type {kind:?}")), "{message}");
    }
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".terraform")).unwrap();
    fs::copy(
        root.join("terraform-1.11/backend-config/local.json"),
        dir.path().join(".terraform/terraform.tfstate"),
    )
    .unwrap();
    let block = "terraform {\n  backend \"local\" {\n    path = \"states/x.tfstate\"\n    workspace_dir = \"ws\"\n  }\n}\n";
    fs::write(dir.path().join("main.tf"), block).unwrap();
    fs::create_dir(dir.path().join("states")).unwrap();
    fs::copy(root.join("terraform-1.11/alias/terraform.tfstate"), dir.path().join("states/x.tfstate"))
        .unwrap();
    assert_eq!(groundstate(&["list", text(dir.path())]).clean().lines().count(), 3);
}

/// All JSON files below a folder.
fn json_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let inside = |path: PathBuf| match path.is_dir() {
        true => json_files(&path),
        false => Vec::from_iter(path.extension().is_some_and(|kind| kind == "json").then_some(path)),
    };
    entries.flat_map(inside).collect()
}

#[test]
fn check_finds_no_error_in_what_pulumi_wrote() {
    let Some(root) = shared_fixtures() else { return };
    let releases = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let of_pulumi =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("pulumi"));
    let found: Vec<PathBuf> = releases.filter(of_pulumi).flat_map(|release| json_files(&release)).collect();
    if found.is_empty() {
        eprintln!("not run: no states that Pulumi wrote among the shared fixtures");
    }
    for file in found {
        let run = groundstate(&["check", text(&file), "--json"]);
        let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(report["files"][0]["readable"], true, "{}: {}", file.display(), run.stderr);
        assert_eq!(report["summary"]["errors"], 0, "{}: {}", file.display(), run.stdout);
    }
}
