//! The real pulumi and the command on the same stacks where they live.

use std::fs;

use groundstate_testkit::{PulumiPlace, PulumiProject, Ran};
use serde_json::Value;

use crate::support;

const STACK: &str = "dev";

/// Runs the command in the project, with its settings, on its stack.
fn groundstate(project: &PulumiProject, args: &[&str]) -> Ran {
    let args = [args, &["--stack", STACK]].concat();
    let output = project.prepared(support::command(&[]), &args).output().unwrap();
    Ran::of("groundstate", &args, output)
}

fn set(project: &PulumiProject, n: &str) {
    project.pulumi(&["config", "set", "n", n, "--stack", STACK]).succeeds();
}

fn history(project: &PulumiProject) -> Value {
    let text = groundstate(project, &["history", ".", "--json"]).succeeds();
    serde_json::from_str(&text).unwrap()
}

/// Updates by pulumi, a rollback, an undo, a push and an update again: each finds what the one before has left.
pub(super) fn pulumi_goes_on_after_a_rollback_and_a_push(place: &PulumiPlace) {
    let project = PulumiProject::applied(place, STACK);
    set(&project, "2");
    project.up(STACK);
    let found = history(&project);
    assert_eq!(found["updates_total"], 2);
    assert_eq!(found["updates"][0]["resource_changes"]["update"], 1, "{found}");
    let first = found["updates"][1]["id"].as_str().unwrap();

    let exported = project.pulumi(&["stack", "export", "--stack", STACK]).succeeds();
    assert_eq!(groundstate(&project, &["pull", "."]).succeeds(), exported, "the same, byte for byte");

    groundstate(&project, &["rollback", ".", "--to", first]).succeeds();
    project.pulumi(&["preview", "--expect-no-changes", "--stack", STACK]).fails();
    set(&project, "1");
    project.preview_is_clean(STACK);
    groundstate(&project, &["undo", "."]).succeeds();
    set(&project, "2");
    project.preview_is_clean(STACK);

    // What was pushed is the state of which pulumi finds that it is not what the program says.
    project.write("export.json", &exported.replace("\"v2\"", "\"v9\""));
    groundstate(&project, &["push", ".", "export.json"]).succeeds();
    assert!(project.exported(STACK).to_string().contains("\"v9\""));
    project.up(STACK);
    project.preview_is_clean(STACK);
    assert_eq!(history(&project)["updates_total"], 3);

    // And what we pull, pulumi imports.
    groundstate(&project, &["pull", ".", "-o", "ours.json"]).succeeds();
    let ours = fs::read_to_string(project.path().join("ours.json")).unwrap();
    assert!(ours.contains("\"v2\""), "{ours}");
    project.pulumi(&["stack", "import", "--stack", STACK, "--file", "ours.json"]).succeeds();
    project.preview_is_clean(STACK);
    groundstate(&project, &["check", ".", "--fail-on", "error"]).succeeds();
}
