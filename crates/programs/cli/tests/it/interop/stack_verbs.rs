//! The real pulumi and the verbs on stacks, one after the other on the same stack.

use groundstate_testkit::{PulumiPlace, PulumiProject, Ran, pulumi_takes_part};
use serde_json::Value;

use crate::support;

/// Runs the command in the project of pulumi, with the settings that pulumi has there.
fn ours(project: &PulumiProject, args: &[&str]) -> Ran {
    let output = project.prepared(support::command(&[]), args).output().unwrap();
    Ran::of("groundstate", args, output)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Names of stacks that pulumi lists.
fn listed(project: &PulumiProject) -> Vec<String> {
    let stacks = json(&project.pulumi(&["stack", "ls", "--json"]).succeeds());
    stacks.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
}

fn a_stack_is_made_tagged_pruned_and_removed(place: &PulumiPlace) {
    let project = PulumiProject::new(place);
    let missing = ours(&project, &["stacks", "tags", ".", "--stack", "dev"]).fails_with(3);
    assert!(missing.contains("`groundstate stacks create . --stack dev`"), "{missing}");
    ours(&project, &["stacks", "create", ".", "--stack", "dev"]).succeeds();
    assert_eq!(listed(&project), ["dev"]);
    let refused = project.pulumi(&["stack", "init", "dev"]).fails();
    assert!(refused.contains("already exists"), "{refused}");
    project.pulumi(&["stack", "select", "dev"]).succeeds();
    project.up("dev");
    project.preview_is_clean("dev");

    ours(&project, &["stacks", "tags", ".", "--set", "owner=ana"]).succeeds();
    project.pulumi(&["stack", "tag", "set", "team", "web", "--stack", "dev"]).succeeds();
    assert_eq!(project.pulumi(&["stack", "tag", "get", "owner", "--stack", "dev"]).succeeds().trim(), "ana");
    assert_eq!(ours(&project, &["stacks", "tags", "."]).succeeds(), "owner=ana\nteam=web\n");
    ours(&project, &["stacks", "tags", ".", "--remove", "owner"]).succeeds();
    project.pulumi(&["stack", "tag", "get", "owner", "--stack", "dev"]).fails();

    project.pulumi(&["config", "set", "n", "2", "--stack", "dev"]).succeeds();
    project.up("dev");
    let updates = |project: &PulumiProject| {
        let history = json(&project.pulumi(&["stack", "history", "--json", "--stack", "dev"]).succeeds());
        history.as_array().unwrap().len()
    };
    assert_eq!(updates(&project), 2);
    ours(&project, &["stacks", "prune", ".", "--keep", "1", "--yes"]).succeeds();
    assert_eq!(updates(&project), 1);
    project.preview_is_clean("dev");

    let refused = ours(&project, &["stacks", "remove", ".", "--yes"]).fails();
    assert!(refused.contains("still contains resources"), "{refused}");
    project.pulumi(&["destroy", "--yes", "--skip-preview", "--stack", "dev"]).succeeds();
    ours(&project, &["stacks", "remove", ".", "--backups", "--yes"]).succeeds();
    assert_eq!(listed(&project), [""; 0]);
    project.pulumi(&["stack", "init", "dev"]).succeeds();
    assert_eq!(ours(&project, &["stacks", "list", "."]).succeeds(), "organization/shop/dev\n");
    assert!(ours(&project, &["locks", "."]).succeeds().contains("not locked"));
}

#[test]
fn in_a_directory() {
    let folder = tempfile::tempdir().unwrap();
    if pulumi_takes_part() {
        a_stack_is_made_tagged_pruned_and_removed(&PulumiPlace::folder(folder.path()));
    }
}

#[test]
fn in_s3() {
    if pulumi_takes_part() {
        a_stack_is_made_tagged_pruned_and_removed(&PulumiPlace::s3());
    }
}

#[test]
fn in_postgresql() {
    if pulumi_takes_part()
        && let Some(place) = PulumiPlace::postgres()
    {
        a_stack_is_made_tagged_pruned_and_removed(&place);
    }
}

#[cfg(unix)]
#[test]
fn what_a_killed_pulumi_left_is_shown_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    if !pulumi_takes_part() {
        return;
    }
    let project = PulumiProject::applied(&PulumiPlace::folder(folder.path()), "dev");
    let running = project.holds("dev");
    let pid = running.id().to_string();
    let refused = ours(&project, &["stacks", "tags", ".", "--stack", "dev", "--set", "a=b"]).fails();
    assert!(refused.contains(&format!("(pid {pid})")), "{refused}");
    running.kill();
    let shown = ours(&project, &["locks", ".", "--stack", "dev"]).succeeds();
    assert!(shown.contains(&pid), "{shown}");
    ours(&project, &["unlock", ".", "--stack", "dev", "--force"]).succeeds();
    ours(&project, &["stacks", "tags", ".", "--stack", "dev", "--set", "a=b"]).succeeds();
    // And a lock of ours refuses pulumi.
    let line = ["lock", ".", "--stack", "dev", "--", "pulumi", "stack", "rm", "dev", "--yes", "--force"];
    let refused = ours(&project, &line).fails();
    assert!(refused.contains("currently locked by 1 lock"), "{refused}");
    assert_eq!(listed(&project), ["dev"]);
}
