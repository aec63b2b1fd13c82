//! What the command says of files that cannot be read.

use super::support::{groundstate, groundstate_with, resource, state, with_resources};

/// The diagnostics for a text, and the exit code.
#[track_caller]
fn of(text: impl AsRef<[u8]>) -> String {
    let file = state(text);
    let run = groundstate(&["list", &file.path]);
    assert_eq!(run.stdout, "");
    assert_ne!(run.code, 0);
    format!("{}exit code {}\n", file.mask(&run.stderr), run.code)
}

#[test]
fn points_at_the_mistake() {
    insta::assert_snapshot!(
        "wrong_type",
        of("{\n  \"version\": 4,\n  \"serial\": \"7\",\n  \"outputs\": {}\n}\n")
    );
    insta::assert_snapshot!("truncated", of("{\n  \"version\": 4,\n  \"serial\": 7,\n  \"lin"));
    insta::assert_snapshot!("not_json", of("password = hunter2\n"));
    insta::assert_snapshot!("no_version", of("{\"serial\": 1}"));
    insta::assert_snapshot!("newer_version", of("{\"version\": 5, \"terraform_version\": \"9.1.0\"}"));
    insta::assert_snapshot!("bom", of("\u{feff}{\"version\": 4}"));
    insta::assert_snapshot!("utf_16", of(b"\xff\xfe{\0\"\0"));
    insta::assert_snapshot!("blank", of(" \n\n"));
}

#[test]
fn names_the_object_and_hides_its_values() {
    let text = r#"{
  "version": 4,
  "terraform_version": "1.11.4",
  "serial": 1,
  "lineage": "l",
  "outputs": {"token": {"value": "hunter2", "type": "number"}},
  "resources": [
    {
      "mode": "managed",
      "type": "aws_db_instance",
      "name": "main",
      "provider": "null",
      "instances": [{"attributes": {"password": "hunter2"}, "private": "hunter2!", "status": "rotten"}]
    }
  ]
}
"#;
    let shown = of(text);
    assert!(!shown.contains("hunter2"), "{shown}");
    insta::assert_snapshot!(shown);
    let compact = text.replace('\n', "");
    assert!(!of(compact).contains("hunter2"));
}

#[test]
fn never_shows_a_secret_wherever_a_state_is_cut_off() {
    let text = r#"{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l",
        "outputs": {"o": {"value": "hunter2", "type": "string"}}, "resources": [{"mode": "managed", "type": "a",
        "name": "b", "provider": "provider[\"registry.terraform.io/a/b\"]", "instances": [{"attributes":
        {"p": "hunter2", "q": ["hunter2"]}, "private": "aHVudGVyMg=="}]}]}"#;
    for end in (1..text.len()).step_by(3) {
        let run = groundstate_with(&["list", "-"], &text.as_bytes()[..end]);
        assert_eq!(run.code, 4, "{end}: {}", run.stderr);
        assert!(!run.stderr.contains("unter2") && !run.stderr.contains("aHVud"), "{end}: {}", run.stderr);
    }
}

#[test]
fn keeps_characters_that_steer_terminals_out_of_messages() {
    let shown = of("{\"version\": 4, \"serial\": \"\u{9b}31m\", \"terraform_version\": \"\u{202e}1\"}");
    assert!(!shown.contains(['\u{9b}', '\u{202e}']), "{shown:?}");
}

#[test]
fn survives_depth_bombs() {
    for bomb in [
        "[".repeat(2_000_000),
        "{\"a\":".repeat(500_000),
        format!("{{\"version\": 4, \"x\": {}", "[".repeat(2_000_000)),
    ] {
        assert_eq!(groundstate_with(&["list", "-"], bomb.as_bytes()).code, 4);
    }
}

#[test]
fn refuses_documents_that_nest_deeper_than_terraform_reads() {
    let nested = |depth: usize| {
        let attributes = format!("{{\"attributes\": {{\"x\": {}{}}}}}", "[".repeat(depth), "]".repeat(depth));
        with_resources(&resource("a", "b", &attributes))
    };
    assert_eq!(groundstate_with(&["list", "-"], nested(9_990).as_bytes()).clean(), "a.b\n");
    let message = groundstate_with(&["list", "-"], nested(10_001).as_bytes()).failed(4);
    assert!(message.starts_with("error[GS0102]: "), "{message}");
}

#[test]
fn paths_name_no_key_that_may_be_a_secret() {
    let text = r#"{"version": 4, "serial": 1, "lineage": "l", "resources": [],
        "outputs": {"o": {"value": {"hunter2\u001b[31m": wrong}, "type": ["map", "string"], "sensitive": true}}}"#;
    let file = state(text);
    for args in [&["list", &*file.path][..], &["show", &file.path], &["check", &file.path]] {
        let run = groundstate(args);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains("= at outputs.o.value.…\n") && !said.contains("hunter2"), "{args:?}: {said}");
    }
    let json = groundstate(&["check", "--json", &file.path]).stdout;
    assert!(json.contains(r#""path":"outputs.o.value.…""#) && !json.contains("hunter2"), "{json}");
}

/// Programs that ask for JSON get their errors as JSON, on standard error and with the same exit codes.
#[test]
fn errors_are_json_where_json_is_asked_for() {
    let damaged = state("{\"version\": 4,");
    let healthy = state(with_resources(""));
    for (args, code, kind) in [
        (&["list", "/no/such/file", "--json"][..], 3, "no_state"),
        (&["list", &damaged.path, "--json"], 4, "not_state"),
        (&["order", "destroy", &damaged.path, "-f", "json"], 4, "not_state"),
        (&["outputs", &healthy.path, "missing", "--json"], 7, "not_found"),
        (&["list", "--json", "--no-such-option"], 2, "usage"),
        (&["mv", &healthy.path, "t.a", "t.b", "--json"], 7, "not_found"),
    ] {
        let stderr = groundstate(args).failed(code);
        let last = stderr.lines().last().unwrap_or_default();
        let document: serde_json::Value =
            serde_json::from_str(last).unwrap_or_else(|error| panic!("{args:?}: {error}: {stderr}"));
        assert!(last.starts_with("{\"format_version\":\"1.0\",\"error\":{"), "{last}");
        assert_eq!(
            (&document["error"]["kind"], &document["error"]["exit_code"]),
            (&kind.into(), &code.into())
        );
        assert!(document["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{last}");
    }
    let stderr = groundstate(&["list", &damaged.path, "--json"]).failed(4);
    let document: serde_json::Value = serde_json::from_str(stderr.lines().last().unwrap()).unwrap();
    assert_eq!(document["error"]["place"]["line"], 1, "{stderr}");
}
