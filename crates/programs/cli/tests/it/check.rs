//! `groundstate check`.

use super::support::{TempState, groundstate, groundstate_with, resource, state, with_resources};

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

/// A state whose only finding is an info: its serial is 0.
fn healthy() -> TempState {
    state(CLEAN.replace("\"serial\": 1", "\"serial\": 0"))
}

/// A state with a dependency cycle, which is an error.
fn cyclic() -> TempState {
    state(with_resources(&resource("a", "b", r#"{"attributes": {}, "dependencies": ["a.b"]}"#)))
}

#[test]
fn fails_from_the_severity_on_that_is_asked_for() {
    let (info, error) = (healthy(), cyclic());
    for (severity, expected) in [("error", [0, 1]), ("warning", [0, 1]), ("info", [1, 1])] {
        let codes =
            [&info, &error].map(|file| groundstate(&["check", &file.path, "--fail-on", severity]).code);
        assert_eq!(codes, expected, "{severity}");
    }
    let said = groundstate(&["check", &info.path]).clean();
    assert!(said.contains("info[GS0005]") && said.contains(": 1 info\n"), "{said}");
}

#[test]
fn ignored_codes_do_not_count_and_are_told() {
    let file = cyclic();
    let ignored = ["GS0061", "gs0004", "GS0009", "GS0022", "GS0041", "GS0045"];
    let args: Vec<&str> = ignored.iter().flat_map(|code| ["--ignore", code]).collect();
    let run = groundstate(&[&["check", &file.path], &args[..]].concat());
    assert!(run.code == 0 && run.stdout.contains("1 GS0061 by --ignore"), "{run:?}");
    assert!(!run.stdout.contains("error[GS0061]"), "{}", run.stdout);
    // A file in the repository decides about warnings and infos, and not about errors.
    let list = file.dir.path().join(".groundstate-ignore");
    std::fs::write(&list, "GS0061\nGS0004 # ours\n").unwrap();
    let run = groundstate(&["check", &file.path, "--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.code, &value["files"][0]["ignored"][0]["code"]), (1, &"GS0004".into()));
    assert_eq!(value["files"][0]["ignored"][0]["by"], list.to_str().unwrap());
    std::fs::write(&list, "everything\n").unwrap();
    let said = groundstate(&["check", &file.path]).failed(2);
    assert!(said.contains(".groundstate-ignore:1: expected a code such as GS0031"), "{said}");
}

#[test]
fn sarif_has_a_rule_and_a_region_for_each_result() {
    let (file, clean) = (cyclic(), state(CLEAN));
    let args = ["check", "no-such.tfstate", &file.path, &clean.path, "-f", "sarif", "--ignore", "GS0004"];
    let run = groundstate(&args);
    assert_eq!(run.code, 3);
    let value: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(value["version"], "2.1.0");
    assert!(value["$schema"].as_str().unwrap().contains("sarif-2.1.0"));
    let run = &value["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    assert_eq!(run["tool"]["driver"]["name"], "groundstate");
    for result in results {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(rule["shortDescription"]["text"].is_string());
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let place = &result["locations"][0]["physicalLocation"];
        assert!(
            place["region"]["startLine"].as_u64() >= Some(1)
                && place["region"]["startColumn"].as_u64() >= Some(1)
        );
        assert!(place["artifactLocation"]["uri"].as_str().unwrap().starts_with("file:///"));
    }
    assert!(results.iter().any(|result| result["ruleId"] == "GS0061" && result["level"] == "error"));
    let suppressed = results.iter().find(|result| result["ruleId"] == "GS0004").unwrap();
    assert_eq!(suppressed["suppressions"][0]["justification"], "ignored by --ignore");
    let invocation = &run["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let told = &invocation["toolExecutionNotifications"][0]["message"]["text"];
    assert_eq!(told, "no-such.tfstate does not exist");
}

#[test]
fn junit_has_a_suite_for_each_state() {
    let (file, clean) = (cyclic(), state(CLEAN));
    let args =
        ["check", "no-such.tfstate", &file.path, &clean.path, "--format", "junit", "--ignore", "GS0004"];
    let run = groundstate(&args);
    assert_eq!(run.code, 3);
    let mut reader = quick_xml::Reader::from_str(&run.stdout);
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Eof => break,
            quick_xml::events::Event::Start(tag) | quick_xml::events::Event::Empty(tag) => {
                tag.attributes().for_each(|attribute| drop(attribute.unwrap()));
                *counts.entry(String::from_utf8(tag.name().as_ref().to_vec()).unwrap()).or_default() += 1;
            }
            _ => {}
        }
    }
    assert_eq!((counts["testsuites"], counts["testsuite"], counts["error"], counts["skipped"]), (1, 3, 1, 1));
    let total = format!("tests=\"{}\" failures=\"{}\" errors=\"1\"", counts["testcase"], counts["failure"]);
    assert!(run.stdout.contains(&total), "{}", run.stdout);
    assert!(run.stdout.contains("<failure type=\"GS0061\""), "{}", run.stdout);
}

#[test]
fn shows_no_secret() {
    let text = with_resources("").replace(
        "\"outputs\": {}",
        r#""outputs": {"db_password": {"value": "correct-horse-battery-9", "type": "string"}}"#,
    );
    let file = state(text);
    let formats = [&["--json"][..], &["--format", "sarif"], &["--format", "junit"], &[]];
    for format in formats {
        let args = [&["check", "--fail-on", "info", &file.path], format].concat();
        let run = groundstate(&args);
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
