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
fn hides_unknown_members() {
    let with = |secret: &str| {
        let instance = format!(r#"{{"attributes": {{"id": "1"}}, "x_token": "{secret}"}}"#);
        let text = with_resources(&resource("a", "b", &instance)).replacen(
            '{',
            &format!(r#"{{"x_top": ["{secret}"], "#),
            1,
        );
        let text = text.replace(
            "\"outputs\": {}",
            &format!(r#""outputs": {{"o": {{"value": 1, "type": "number", "x_out": "{secret}"}}}}"#),
        );
        state(text.replace("\"mode\"", &format!(r#""x_resource": {{"k": "{secret}"}}, "mode""#)))
    };
    let (a, b) = (with("hunter2"), with("hunter3"));
    for args in [&["diff", &*a.path, &b.path][..], &["diff", &a.path, &b.path, "--json"]] {
        let run = groundstate(args);
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert!(!run.stdout.contains("hunter"), "{}", run.stdout);
        for member in ["x_top", "x_resource", "x_out"] {
            assert!(run.stdout.contains(member), "{member}: {}", run.stdout);
        }
    }
    assert!(groundstate(&["diff", &a.path, &b.path, "--reveal"]).stdout.contains("hunter3"));
    let deployment = |secret: &str| {
        state(format!(
            r#"{{"version": 3, "deployment": {{"manifest": {{"time": "2026-01-01T00:00:00Z", "magic": "", "version": "v3.1.0"}}, "resources": [{{"urn": "urn:pulumi:d::p::t:t:T::r", "custom": false, "type": "t:t:T", "x_secret": "{secret}"}}]}}}}"#
        ))
    };
    let (a, b) = (deployment("hunter2"), deployment("hunter3"));
    let run = groundstate(&["diff", &a.path, &b.path]);
    assert!(
        run.stdout.contains("x_secret: (sensitive value)") && !run.stdout.contains("hunter"),
        "{}",
        run.stdout
    );
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
