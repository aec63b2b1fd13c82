//! `groundstate check`.

use super::support::{groundstate, groundstate_with, resource, state, with_resources};

const CLEAN: &str = r#"{
  "version": 4,
  "terraform_version": "1.11.4",
  "serial": 1,
  "lineage": "3f2a1c00-0000-4000-8000-000000000001",
  "outputs": {},
  "resources": [],
  "check_results": null
}
"#;

#[test]
fn says_that_nothing_is_wrong() {
    let file = state(CLEAN);
    let said = groundstate(&["check", &file.path]).clean();
    assert_eq!(file.mask(&said), "FILE: nothing found in 0 resources, 0 objects and 0 outputs\n");
}

#[test]
fn lists_findings_with_their_places_and_what_to_do() {
    let instance = r#"{"schema_version": 0, "attributes": {"id": "1"}, "dependencies": ["a.b"]}"#;
    let file = state(with_resources(&resource("a", "b", instance)).replace(", \"serial\"", ",\n\"serial\""));
    let run = groundstate(&["check", &file.path]);
    assert_eq!((run.code, &*run.stderr), (1, ""));
    assert!(run.stdout.contains("error[GS0061]: "), "{}", run.stdout);
    insta::assert_snapshot!(file.mask(&run.stdout));
}

#[test]
fn prints_findings_as_json() {
    let file = state(with_resources(&resource("a", "b", r#"{"attributes": {}, "dependencies": ["a.b"]}"#)));
    let run = groundstate(&["check", &file.path, "--json"]);
    assert_eq!((run.code, &*run.stderr), (1, ""));
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let findings = value["files"][0]["findings"].as_array().unwrap();
    let cycle = findings.iter().find(|finding| finding["code"] == "GS0061").unwrap();
    assert_eq!(cycle["severity"], "error");
    assert_eq!(cycle["path"], "resources[0].instances[0].dependencies[0]");
    assert!(cycle["line"] == 1 && cycle["column"].as_u64() > Some(1));
    let errors = findings.iter().filter(|finding| finding["severity"] == "error").count();
    assert_eq!(value["summary"]["errors"], errors);
    assert_eq!(value["format_version"], "1.0");
}

#[test]
fn finds_what_keeps_a_file_from_being_read() {
    for text in ["", " ", "{", "{\"version\": 4", "[]", "{\"version\": 9}", "\u{feff}{}"] {
        let run = groundstate_with(&["check", "-"], text.as_bytes());
        assert_eq!((run.code, &*run.stderr), (1, ""), "{text:?}: {}", run.stdout);
        let json = groundstate_with(&["check", "-", "--json"], text.as_bytes());
        let value: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
        assert_eq!(value["files"][0]["readable"], false, "{text:?}");
    }
}

#[test]
fn checks_the_other_files_when_one_cannot_be_read() {
    let file = state(CLEAN);
    let run = groundstate(&["check", "no-such.tfstate", &file.path, "-"]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.starts_with("error: no-such.tfstate does not exist\n"), "{}", run.stderr);
    assert!(
        run.stdout.contains("nothing found") && run.stdout.contains("<stdin>: 1 warning"),
        "{}",
        run.stdout
    );
    groundstate(&["check", "-", "-"]).failed(2);
}

#[test]
fn shows_no_secret() {
    let text = with_resources("").replace(
        "\"outputs\": {}",
        r#""outputs": {"db_password": {"value": "correct-horse-battery-9", "type": "string"}}"#,
    );
    let file = state(text);
    for args in [&["check", &file.path][..], &["check", &file.path, "--json"]] {
        let run = groundstate(args);
        assert_eq!(run.code, 1);
        assert!(run.stdout.contains("db_password") && !run.stdout.contains("horse"), "{}", run.stdout);
    }
}

#[test]
fn checks_states_of_every_format() {
    for version in ["v1", "v2", "v3", "v4-terraform", "v4-opentofu"] {
        let run = groundstate(&["check", &format!("webshop-{version}.tfstate")]);
        assert!(run.code <= 1 && run.stderr.is_empty(), "{version}: {}", run.stderr);
    }
}
