//! What replaces a whole state asks before objects vanish.

use std::fs;

use super::support::{TempState, groundstate, resource, state, with_resources};

const ONE: &str = r#"{"attributes": {"id": "1"}}"#;
const TWO: &str = r#"{"attributes": {"id": "2"}}"#;

fn both() -> String {
    with_resources(&[resource("t_a", "one", ONE), resource("t_a", "two", TWO)].join(", "))
}

fn beside(file: &TempState, text: &str) -> String {
    let path = file.dir.path().join("other.tfstate");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn list(file: &TempState) -> String {
    groundstate(&["list", &file.path]).clean()
}

#[test]
fn push_needs_consent_before_objects_vanish() {
    let file = state(both());
    let fewer = with_resources(&resource("t_a", "one", ONE)).replace("\"serial\": 1", "\"serial\": 2");
    let other = beside(&file, &fewer);
    let before = fs::read(&file.path).unwrap();
    for force in [&[][..], &["--force"]] {
        let said = groundstate(&[&["push", &file.path, &other], force].concat()).failed(6);
        let expected = "error: 1 object would vanish from FILE, so nothing was written:\n  - t_a.two\n";
        assert!(file.mask(&said).starts_with(expected), "{said}");
        assert!(said.contains("`--yes` stores it"), "{said}");
    }
    assert_eq!(fs::read(&file.path).unwrap(), before);
    assert_eq!(fs::read_dir(file.dir.path()).unwrap().count(), 2, "no backup and no lock is left");
    assert!(groundstate(&["push", &file.path, &other, "--dry-run"]).clean().contains("- t_a.two"));
    let said = groundstate(&["push", &file.path, &other, "--yes"]).clean();
    assert!(said.contains("- t_a.two\n0 added, 1 removed, 1 changed\n"), "{said}");
    assert_eq!(list(&file), "t_a.one\n");
}

#[test]
fn undo_needs_consent_unless_what_vanishes_was_moved() {
    let file = state(both());
    groundstate(&["mv", &file.path, "t_a.two", "t_a.three"]).clean();
    let said = groundstate(&["undo", &file.path]).clean();
    assert!(said.contains("+ t_a.two\n- t_a.three\n") || said.contains("- t_a.three\n+ t_a.two\n"), "{said}");
    // The backup has fewer than what has come since.
    let backup = format!("{}.backup", file.path);
    fs::write(&backup, with_resources(&resource("t_a", "one", ONE))).unwrap();
    let said = groundstate(&["undo", &file.path, "--from", &backup]).failed(6);
    assert!(said.contains("\n  - t_a.two\n"), "{said}");
    groundstate(&["undo", &file.path, "--from", &backup, "--yes"]).clean();
    assert_eq!(list(&file), "t_a.one\n");
}

#[test]
fn a_salvaged_state_is_not_merged_without_consent() {
    let file = state(both());
    let base = format!("{}.base", file.path);
    fs::write(&base, both()).unwrap();
    let fewer = with_resources(&resource("t_a", "one", ONE)).replace("\"serial\": 1", "\"serial\": 2");
    let errored = beside(&file, &fewer);
    let args = ["merge-errored", &file.path, &errored, "--base", &base];
    let said = groundstate(&args).failed(6);
    assert!(said.contains("1 object would vanish"), "{said}");
    assert_eq!(list(&file), "t_a.one\nt_a.two\n");
    let said = groundstate(&[&args[..], &["--yes"]].concat()).clean();
    assert!(said.contains("- t_a.two\n"), "{said}");
    assert_eq!(list(&file), "t_a.one\n");
}

#[test]
fn pulumi_undo_needs_consent_as_well() {
    let resource = |name: &str| {
        format!(r#"{{"urn":"urn:pulumi:d::p::t:t:T::{name}","custom":true,"id":"{name}","type":"t:t:T"}}"#)
    };
    let stack = |resources: &[&str]| {
        let resources: Vec<String> = resources.iter().map(|name| resource(name)).collect();
        format!(
            r#"{{"version":3,"deployment":{{"manifest":{{"time":"2024-05-06T07:08:09Z","magic":"","version":""}},"resources":[{}],"metadata":{{}}}}}}"#,
            resources.join(",")
        )
    };
    let file = state(stack(&["a", "b"]));
    groundstate(&["mv", &file.path, "b", "c"]).clean();
    groundstate(&["undo", &file.path]).clean();
    let backup = format!("{}.backup", file.path);
    fs::write(&backup, stack(&["a"])).unwrap();
    let said = groundstate(&["undo", &file.path, "--from", &backup]).failed(6);
    assert!(said.contains("  - urn:pulumi:d::p::t:t:T::b\n"), "{said}");
    groundstate(&["undo", &file.path, "--from", &backup, "--yes"]).clean();
    assert_eq!(list(&file), "urn:pulumi:d::p::t:t:T::a\n");
}
