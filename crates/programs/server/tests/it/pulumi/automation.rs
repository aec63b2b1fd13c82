//! Programs that run stacks by Pulumi's Automation API, in another language.

use std::process::Command;

use groundstate_testkit::{Ran, pulumi_python_takes_part};
use serde_json::{Value, json};

use super::service::Service;

const PROGRAM: &str = include_str!("automation.py");

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_in_python_creates_applies_changes_and_removes_a_stack() {
    if !pulumi_python_takes_part() {
        return;
    }
    let service = Service::new();
    service.project.write("program.py", PROGRAM);
    let mut python = service.project.prepared(Command::new("pulumi-python"), &["program.py"]);
    // The SDK wants the very newest CLI that it knows of.
    let output = python.env("PULUMI_AUTOMATION_API_SKIP_VERSION_CHECK", "true").output().unwrap();
    let said = Ran::of("pulumi-python", &["program.py"], output).succeeds();
    let said: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    let expected = json!({
        "user": "admin",
        "planned": { "create": 3 },
        "created": { "create": 3 },
        "message": "by a program",
        "outputs": { "word": ["one", false], "password": ["hunter2", true] },
        "events": ["resource_pre_event", "summary_event"],
        "tag": "web",
        "same": { "same": 3 },
        "history": ["refresh", "update", "import", "update"],
        // The provider counts, too.
        "stacks": [["dev", 4]],
        "destroyed": { "delete": 3 },
        "left": 0,
    });
    assert_eq!(said, expected);
    for name in service.stored("").await {
        let content = service.content(&name).await;
        assert!(!String::from_utf8_lossy(&content).contains("hunter2"), "{name}");
    }
}
