//! The life of a stack: each command of pulumi follows a write of ours and is followed by our reads.

use groundstate_pulumi_backends::pulumi_diy::{Stack, StackFilter, Unguarded, Update};
use groundstate_testkit::{PulumiPlace, PulumiProject};
use serde_json::Value;

use super::{NAMES, in_each_place, names, ours, protect, protected};
use crate::support::reference;

in_each_place! { a_stack_lives_with_both }

async fn a_stack_lives_with_both(place: &PulumiPlace) {
    let project = PulumiProject::new(place);
    // The bucket is ours first.
    let backend = ours(place).await;
    assert_eq!(backend.stack_names(&StackFilter::default()).await.unwrap(), []);
    project.pulumi(&["stack", "init", "dev"]).succeeds();
    let stack = backend.stack(&reference("dev"));
    assert_eq!(names(&stack).await, [""; 0]);
    tag(&stack, "team", "web").await;

    project.up("dev");
    assert_eq!(names(&stack).await, NAMES);
    assert_eq!(exported(&stack).await, project.pulumi(&["stack", "export", "--stack", "dev"]).succeeds());
    protect(&stack, "first", true).await;
    project.preview_is_clean("dev");

    project.pulumi(&["config", "set", "n", "2", "--stack", "dev"]).succeeds();
    project.up("dev");
    let deployment: Value = serde_json::from_str(&exported(&stack).await).unwrap();
    assert_eq!(deployment["deployment"]["resources"][2]["inputs"]["input"], "v2");
    assert_eq!(protected(&stack).await, [""; 0], "what the program says counts after an update");
    protect(&stack, "second", true).await;

    project.pulumi(&["refresh", "--yes", "--skip-preview", "--stack", "dev"]).succeeds();
    assert_eq!(protected(&stack).await, ["second"]);
    record(&stack, "edited").await;
    project.preview_is_clean("dev");

    let theirs = project.pulumi(&["stack", "history", "--json", "--stack", "dev"]).succeeds();
    let theirs: Vec<Value> = serde_json::from_str(&theirs).unwrap();
    let theirs = theirs.iter().map(|entry| text(&entry["kind"]) + " " + &text(&entry["message"]));
    assert_eq!(history(&stack).await, theirs.collect::<Vec<_>>());
    assert_eq!(history(&stack).await.len(), 4);

    project.pulumi(&["stack", "rename", "prod", "--stack", "dev"]).succeeds();
    let (before, stack) = (stack, backend.stack(&reference("prod")));
    assert!(!before.exists().await.unwrap());
    assert_eq!(names(&stack).await, ["shop-prod", "default", "first", "second"]);
    assert_eq!(history(&stack).await.len(), 4);
    let refused = project.pulumi(&["destroy", "--yes", "--skip-preview", "--stack", "prod"]).fails();
    assert!(refused.contains("protected"), "{refused}");
    protect(&stack, "second", false).await;

    project.pulumi(&["destroy", "--yes", "--skip-preview", "--stack", "prod"]).succeeds();
    assert_eq!(names(&stack).await, [""; 0]);
    tag(&stack, "gone", "soon").await;
    project.pulumi(&["stack", "rm", "--yes", "--stack", "prod"]).succeeds();
    assert!(!stack.exists().await.unwrap());
    assert_eq!(stack.tags().await.unwrap().all().len(), 0);
    assert_eq!(history(&stack).await, [""; 0]);

    backend.stack(&reference("ours")).create(std::sync::Arc::new(Unguarded), None).await.unwrap();
    let listed = project.pulumi(&["stack", "ls", "--json"]).succeeds();
    let listed: Vec<Value> = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed.iter().map(|one| text(&one["name"])).collect::<Vec<_>>(), ["ours"]);
    assert_eq!(stack.locks().await.unwrap(), [], "neither leaves a lock");
}

async fn exported(stack: &Stack) -> String {
    String::from_utf8(stack.export().await.unwrap()).unwrap()
}

/// The kinds and messages of its updates, the newest first.
async fn history(stack: &Stack) -> Vec<String> {
    let entries = stack.history(1, 0).await.unwrap().entries;
    let line = |update: Update| format!("{} {}", update.kind, update.message);
    entries.into_iter().map(|entry| line(entry.update.unwrap())).collect()
}

async fn tag(stack: &Stack, name: &str, value: &str) {
    let mut tags = stack.tags().await.unwrap();
    tags.set(name, value).unwrap();
    stack.save_tags(&tags, &Unguarded).await.unwrap();
}

/// Writes down an update of ours, which is later than those that pulumi did.
async fn record(stack: &Stack, message: &str) {
    let now = stack.backend().context().clock.now().seconds();
    let update = serde_json::json!({
        "kind": "update", "startTime": now, "endTime": now, "message": message, "environment": {}, "config": {},
        "version": 0, "result": "succeeded",
    });
    stack.record(&serde_json::from_value(update).unwrap(), &Unguarded).await.unwrap();
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
