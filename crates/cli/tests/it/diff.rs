//! `groundstate diff`.

use super::support::{groundstate, groundstate_with, resource, state, with_resources};

fn one(attributes: &str) -> String {
    let sensitive = r#"[[{"type": "get_attr", "value": "password"}]]"#;
    let instance = format!(r#"{{"attributes": {attributes}, "sensitive_attributes": {sensitive}}}"#);
    with_resources(&resource("a", "b", &instance))
}

#[test]
fn finds_nothing_between_a_state_and_itself_written_otherwise() {
    let a = state(one(r#"{"id": "x", "n": 1.0}"#));
    let b = state(one(r#"{"n": 1, "id": "x"}"#).replace(' ', "  \n"));
    assert_eq!(groundstate(&["diff", &a.path, &b.path]).clean(), "the states mean the same\n");
    insta::assert_snapshot!(
        groundstate(&["diff", &a.path, &b.path, "--json"]).clean(),
        @r#"{"format_version":"1.0","summary":{"added":0,"removed":0,"changed":0},"changes":[]}"#
    );
}

#[test]
fn shows_what_differs_but_no_secret() {
    let a = state(one(r#"{"id": "x", "password": "hunter2", "tags": {"a": "1"}}"#));
    let b = one(r#"{"id": "y", "password": "hunter3", "tags": {"b": "1"}}"#)
        .replace("\"serial\": 1", "\"serial\": 2");
    let run = groundstate_with(&["diff", &a.path, "-"], b.as_bytes());
    assert_eq!((run.code, &*run.stderr), (1, ""));
    insta::assert_snapshot!(run.stdout);
    let run = groundstate_with(&["diff", &a.path, "-", "--json"], b.as_bytes());
    assert_eq!((run.code, &*run.stderr), (1, ""));
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    insta::assert_json_snapshot!(value);
}

#[test]
fn shows_what_is_in_one_state_only() {
    let a = state(with_resources(&resource("a", "old", r#"{"attributes": {"id": "1"}}"#)));
    let b = state(with_resources(&resource("a", "new", r#"{"attributes": {"id": "2"}}"#)));
    let run = groundstate(&["diff", &a.path, &b.path]);
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("+ a.new\n") && run.stdout.contains("- a.old\n"), "{}", run.stdout);
}

#[test]
fn compares_states_of_different_versions() {
    let run = groundstate(&["diff", "webshop-v2.tfstate", "webshop-v4-opentofu.tfstate"]);
    assert_eq!((run.code, &*run.stderr), (1, ""));
    assert!(run.stdout.lines().last().unwrap().ends_with(" changed"), "{}", run.stdout);
}

#[test]
fn needs_two_states() {
    groundstate(&["diff", "-", "-"]).failed(2);
    groundstate(&["diff", "webshop-v2.tfstate"]).failed(2);
    groundstate(&["diff", "webshop-v2.tfstate", &state("").path]).failed(3);
    groundstate(&["diff", "webshop-v2.tfstate", &state("{}").path]).failed(4);
}
