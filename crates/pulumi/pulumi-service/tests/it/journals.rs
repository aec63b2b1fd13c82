//! Entries: durable when they are acknowledged, in any order, any number of times, on any node.

use groundstate_pulumi_service::{ErrorKind, Stack, UpdateResult};
use serde_json::{Value, json};

use crate::support::{ROOT, Service, bytes, entry, pending, root, stash, state, urn, urns};

/// The stack that the golden journal is about.
async fn golden(service: &Service) -> Stack {
    let mut b = stash("b");
    b["dependencies"] = json!([urn("a")]);
    let operation = |name: &str, kind: &str| json!({"resource": stash(name), "type": kind});
    let pending = json!([operation("z", "creating"), operation("y", "updating")]);
    service.stack_of(json!([root(), stash("a"), b]), pending).await
}

/// Entries 1 to 10, without the eighth, which is never delivered.
fn entries() -> Vec<String> {
    let with = |mut resource: Value, outputs: Value| {
        resource["outputs"] = outputs;
        resource
    };
    let changed = with(stash("a"), json!({"v": 2}));
    let operation = |resource: Value, kind: &str| json!({"operation": {"resource": resource, "type": kind}});
    vec![
        entry(1, 6, 0, json!({"secretsProvider": {"type": "passphrase", "state": {"salt": "v1:x"}}})),
        entry(2, 0, 1, json!({})),
        entry(3, 1, 1, json!({"removeOld": 0, "state": root()})),
        entry(4, 0, 2, operation(changed.clone(), "updating")),
        entry(5, 0, 3, operation(stash("c"), "creating")),
        entry(6, 1, 2, json!({"removeOld": 1, "state": changed})),
        entry(7, 4, 4, json!({"removeNew": 1, "state": with(root(), json!({"o": 1}))})),
        entry(9, 0, 5, operation(stash("b"), "deleting")),
        entry(10, 1, 5, json!({"removeOld": 2})),
    ]
}

#[tokio::test]
async fn the_golden_journal_becomes_its_state_when_the_lease_is_over() {
    let service = Service::new();
    let stack = golden(&service).await;
    let (update, lease) = service.started(&stack, "update").await;
    let all = entries();
    for batch in [&[0, 1, 2][..], &[4, 3, 5], &[3, 4, 5], &[6], &[7, 8]] {
        update.append(&lease.token, &bytes(batch.iter().map(|index| &all[*index]))).await.unwrap();
    }
    service.wait(301);
    let found = state(&stack).await;
    assert_eq!(urns(&found), [ROOT, &urn("a")]);
    assert_eq!(pending(&found), ["creating c", "creating z"]);
    assert_eq!(found["version"], 3);
    let deployment = &found["deployment"];
    assert_eq!(deployment["secrets_providers"], json!({"type": "passphrase", "state": {"salt": "v1:x"}}));
    assert_eq!(deployment["resources"][0]["outputs"], json!({"o": 1}));
    assert_eq!(deployment["manifest"]["version"], "v3.259.0");
    let version = stack.version(1).await.unwrap();
    assert_eq!((version.note.result, version.note.pending), (UpdateResult::Failed, 2));
    assert_eq!(version.note.reason.as_deref(), Some("the lease expired"));
    assert_eq!(version.note.changes, [("delete".to_owned(), 1), ("update".to_owned(), 1)].into());
}

#[tokio::test]
async fn an_operation_that_did_not_end_is_pending() {
    let service = Service::new();
    let stack = golden(&service).await;
    let (update, lease) = service.started(&stack, "update").await;
    update.append(&lease.token, &bytes(&entries()[..8])).await.unwrap();
    update.complete(&lease.token, UpdateResult::Failed).await.unwrap();
    let found = state(&stack).await;
    assert_eq!(urns(&found), [ROOT, &urn("a"), &urn("b")]);
    assert_eq!(pending(&found), ["creating c", "deleting b", "creating z"]);
}

#[tokio::test]
async fn any_order_and_any_repetition_gives_the_same_state_on_any_nodes() {
    let all = entries();
    let mut expected = None;
    for round in 0..4_usize {
        let service = Service::new();
        let nodes = [service.clone(), service.node(), service.node()];
        let stack = golden(&service).await;
        let (update, lease) = service.started(&stack, "update").await;
        // What others refer to comes first, as clients send it.
        let mut order: Vec<usize> = vec![2, 5];
        let rest = (0..all.len()).map(|index| (index * 4 + round) % all.len());
        order.extend(rest);
        for (turn, index) in order.into_iter().enumerate() {
            let node = &nodes[turn % nodes.len()];
            let there = node.stacks.stack(stack.path()).await.unwrap().update(update.id());
            there.append(&lease.token, &[all[index].as_bytes()]).await.unwrap();
        }
        update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap();
        let found = state(&stack).await["deployment"]["resources"].clone();
        assert_eq!(*expected.get_or_insert_with(|| found.clone()), found, "round {round}");
    }
}

#[tokio::test]
async fn a_batch_with_something_wrong_in_it_is_not_stored_at_all() {
    let service = Service::new();
    let stack = golden(&service).await;
    let (update, lease) = service.started(&stack, "update").await;
    let good = entry(1, 1, 1, json!({"removeOld": 0, "state": root()}));
    for (bad, why) in [
        (entry(2, 1, 2, json!({"removeNew": 99})), "operation 99"),
        (entry(2, 1, 2, json!({"removeOld": 3})), "resource 3"),
        (entry(2, 77, 2, json!({})), "kind 77"),
        (entry(0, 0, 2, json!({})), "sequence ID"),
        (entry(2, 0, 2, json!({"version": 2})), "version"),
        (r#"{"version":1"#.to_owned(), "entry"),
        ("[]".to_owned(), "entry"),
    ] {
        let error = update.append(&lease.token, &bytes([&good, &bad])).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.to_string().contains(why), "{bad}: {error}");
    }
    assert!(update.journal(0).await.unwrap().entries.is_empty());
    update.append(&lease.token, &bytes([&good])).await.unwrap();
    let other = entry(1, 1, 1, json!({"removeOld": 1, "state": stash("a")}));
    let error = update.append(&lease.token, &bytes([&entry(3, 0, 3, json!({})), &other])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(update.journal(0).await.unwrap().entries.len(), 1);
}

#[tokio::test]
async fn a_rebuilt_base_holds_what_was_recorded_before() {
    let service = Service::new();
    let stack = service.stack_of(json!([root(), stash("a"), stash("b")]), json!([])).await;
    let (update, lease) = service.started(&stack, "refresh").await;
    let mut dependent = stash("b");
    dependent["dependencies"] = json!([urn("a")]);
    let batch = [
        entry(1, 0, 1, json!({})),
        entry(2, 3, 1, json!({"removeOld": 1, "isRefresh": true})),
        entry(3, 7, 0, json!({})),
        entry(4, 0, 2, json!({})),
        entry(5, 1, 2, json!({"removeOld": 1, "state": dependent})),
    ];
    update.append(&lease.token, &bytes(&batch)).await.unwrap();
    update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap();
    let found = state(&stack).await;
    assert_eq!(urns(&found), [&urn("b"), ROOT]);
    assert!(found["deployment"]["resources"][0].get("dependencies").is_none(), "{found}");
}

#[tokio::test]
async fn entries_that_contradict_each_other_do_not_take_the_others_with_them() {
    let service = Service::new();
    let stack = golden(&service).await;
    let (update, lease) = service.started(&stack, "update").await;
    let batch = [
        entry(1, 0, 1, json!({})),
        entry(2, 1, 1, json!({"state": stash("c")})),
        // The base is rebuilt while there are new resources, and more follows: no engine does that.
        entry(3, 7, 0, json!({})),
        entry(4, 0, 2, json!({})),
        entry(5, 1, 2, json!({"state": stash("d")})),
    ];
    update.append(&lease.token, &bytes(&batch)).await.unwrap();
    update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap();
    let found = state(&stack).await;
    assert!(urns(&found).contains(&urn("c").as_str()), "{found}");
    let note = stack.version(1).await.unwrap().note;
    assert!(note.reason.is_some_and(|reason| reason.contains("do not count")));
    assert_eq!(update.journal(0).await.unwrap().entries.len(), 5);
}

#[tokio::test]
async fn providers_that_the_engine_made_by_itself_are_in_no_summary() {
    let service = Service::new();
    let stack = service.stack_of(json!([root()]), json!([])).await;
    let (update, lease) = service.started(&stack, "update").await;
    let mut entries = Vec::new();
    for (number, name) in (1..).zip(["default", "default_6_1_0", "default-eu", "eu"]) {
        let kind = "pulumi:providers:aws";
        let urn = format!("urn:pulumi:dev::p::{kind}::{name}");
        let provider = json!({"urn": urn, "custom": true, "id": name, "type": kind});
        let operation = json!({"operation": {"resource": provider, "type": "creating"}});
        entries.push(entry(2 * number - 1, 0, number, operation));
        entries.push(entry(2 * number, 1, number, json!({"state": provider})));
    }
    update.append(&lease.token, &bytes(&entries)).await.unwrap();
    update.complete(&lease.token, UpdateResult::Succeeded).await.unwrap();
    let version = stack.version(1).await.unwrap();
    assert_eq!(version.note.changes, [("create".to_owned(), 1)].into());
}
