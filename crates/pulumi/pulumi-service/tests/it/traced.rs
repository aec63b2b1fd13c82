//! What a subscriber is told of operations on stacks: names, numbers and kinds, and nothing of what is stored.

use groundstate_pulumi_service::{NewStack, OldVersion, UpdateResult};
use groundstate_testkit::Traced;
use serde_json::{Value, json};

use crate::support::{Service, entry, path, root};

/// What may not be shown.
const SECRET: &str = "hunter2";

#[tokio::test]
async fn operations_on_stacks_have_stack_update_and_version_and_no_values() {
    let service = Service::new();
    let mut resource = root();
    resource["outputs"] = json!({"password": SECRET});
    let state = json!({"version": 3, "deployment": {"resources": [resource]}}).to_string();
    let traced = Traced::spans();
    let stack =
        service.stacks.create(&path("dev"), "ann", NewStack::default().state(state.clone())).await.unwrap();
    let (update, lease) = service.started(&stack, "update").await;
    update.renew(&lease.token, None).await.unwrap();
    let made = entry(1, 1, 1, json!({"removeOld": 0, "state": resource}));
    update.append(&lease.token, &[made.as_bytes()]).await.unwrap();
    update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap();
    update.renew(&lease.token, None).await.unwrap_err();
    stack.import(state.as_bytes(), None, "ann").await.unwrap();
    let mut old = OldVersion::new("k", "update", UpdateResult::Succeeded);
    old.state = Some(state.into());
    stack.append(&old, "ann").await.unwrap();
    stack.rename(&path("prod"), "ann").await.unwrap();
    let (text, token) = (traced.text(), lease.token.expose());
    assert!(!text.contains(SECRET) && !text.contains(token), "{text}");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let closed = lines.filter(|line| line["fields"]["message"] == "close").map(|line| line["span"].clone());
    let spans: Vec<Value> = closed.filter(|span| span["name"] == "stack").collect();
    assert!(spans.iter().all(|span| span["stack"] == "acme/p/dev" && span["place"].is_string()), "{spans:?}");
    let shown = |span: &Value| {
        let update = if span["update"] == update.id() { "its update" } else { "no update" };
        let (version, error) = (&span["version"], &span["error"]);
        format!("{}: {update}, version {version}, error {error}", span["op"].as_str().unwrap())
    };
    let shown: Vec<String> = spans.iter().map(shown).collect();
    assert_eq!(
        shown,
        [
            "update: its update, version 1, error null",
            "renew the lease of an update of: its update, version null, error null",
            "save an update of: its update, version null, error null",
            "complete an update of: its update, version null, error null",
            "renew the lease of an update of: its update, version null, error \"LeaseLost\"",
            "import into: no update, version 2, error null",
            "append a version to: no update, version 3, error null",
            "rename: no update, version null, error null",
        ]
    );
}
