//! Journals over HTTP.

use serde_json::{Value, json};

use super::calls::{STACK, Service, Update, ask, entry, error, gzip, names, pending, root, stash, urn};

fn with(mut resource: Value, outputs: Value) -> Value {
    resource["outputs"] = outputs;
    resource
}

fn operation(resource: Value, kind: &str) -> Value {
    json!({"resource": resource, "type": kind})
}

/// A service with the stack that the golden journal is about.
async fn golden() -> Service {
    let service = Service::new();
    let mut b = stash("b");
    b["dependencies"] = json!([urn("a")]);
    let pending = json!([operation(stash("z"), "creating"), operation(stash("y"), "updating")]);
    service.create_with(json!([root(), stash("a"), b]), pending).await;
    service
}

/// The golden journal: entries 1 to 10, without the eighth, which is never delivered.
fn entries() -> Vec<Value> {
    let changed = with(stash("a"), json!({"v": 2}));
    vec![
        entry(1, 6, 0, json!({"secretsProvider": {"type": "passphrase", "state": {"salt": "v1:x"}}})),
        entry(2, 0, 1, json!({})),
        entry(3, 1, 1, json!({"removeOld": 0, "state": root()})),
        entry(4, 0, 2, json!({"operation": operation(changed.clone(), "updating")})),
        entry(5, 0, 3, json!({"operation": operation(stash("c"), "creating")})),
        entry(6, 1, 2, json!({"removeOld": 1, "state": changed})),
        entry(7, 4, 4, json!({"removeNew": 1, "state": with(root(), json!({"o": 1}))})),
        entry(9, 0, 5, json!({"operation": operation(stash("b"), "deleting")})),
        entry(10, 1, 5, json!({"removeOld": 2})),
    ]
}

async fn append(update: &Update, all: &[Value], batch: &[usize]) {
    let batch: Vec<&Value> = batch.iter().map(|index| &all[*index]).collect();
    update.append(&batch).await.is(204);
}

#[tokio::test]
async fn the_golden_journal_in_any_order_and_twice_becomes_its_state() {
    let service = golden().await;
    let update = service.started("update").await;
    let all = entries();
    for batch in [&[0, 1, 2][..], &[4, 3, 5], &[3, 4, 5], &[6], &[7, 8], &[], &[0, 8]] {
        append(&update, &all, batch).await;
    }
    // Before the end, readers have what the update began with.
    assert_eq!(names(&service.export().await), ["p-dev", "a", "b"]);
    service.wait(301);
    let export = service.export().await;
    assert_eq!(names(&export), ["p-dev", "a"]);
    assert_eq!(pending(&export), ["creating c", "creating z"]);
    let deployment = &export["deployment"];
    assert_eq!((&export["version"], export.get("features")), (&json!(3), None));
    assert_eq!(deployment["secrets_providers"], json!({"type": "passphrase", "state": {"salt": "v1:x"}}));
    assert_eq!(deployment["resources"][0]["outputs"], json!({"o": 1}));
    assert_eq!(deployment["resources"][1]["outputs"], json!({"v": 2}));
    assert_eq!(deployment["manifest"]["version"], "v3.259.0");
    let newest = &service.history().await[0];
    assert_eq!(newest["resourceChanges"], json!({"delete": 1, "update": 1}));
    assert_eq!(newest["resourceCount"], 2);
}

#[tokio::test]
async fn what_did_not_end_is_pending_and_what_was_left_out_stays() {
    let service = golden().await;
    let update = service.started("update").await;
    append(&update, &entries(), &[0, 1, 2, 3, 4, 5, 6, 7]).await;
    update.complete("failed").await.is(204);
    let export = service.export().await;
    assert_eq!(names(&export), ["p-dev", "a", "b"]);
    assert_eq!(pending(&export), ["creating c", "deleting b", "creating z"]);
}

#[tokio::test]
async fn an_entry_that_is_sent_again_with_another_content_is_a_conflict() {
    let service = golden().await;
    let update = service.started("update").await;
    let all = entries();
    append(&update, &all, &[0, 1, 2]).await;
    let other = entry(3, 1, 1, json!({"removeOld": 1, "state": stash("a")}));
    // Nothing of the batch is stored, so the others of it are none either.
    error(update.append(&[&all[6], &other]).await, 409);
    error(update.append(&[&all[8], &entry(8, 0, 7, json!({})), &entry(8, 0, 8, json!({}))]).await, 409);
    update.complete("succeeded").await.is(204);
    let export = service.export().await;
    assert_eq!(names(&export), ["p-dev", "a", "b"]);
    assert!(export["deployment"]["resources"][0].get("outputs").is_none(), "{export}");
}

#[tokio::test]
async fn a_batch_with_something_wrong_in_it_is_refused_as_a_whole() {
    let service = golden().await;
    let update = service.started("update").await;
    let good = entry(1, 1, 1, json!({"removeOld": 0, "state": with(root(), json!({"o": 7}))}));
    let long = entry(2, 0, 2, json!({"operation": {"resource": "hunter2", "type": "creating"}}));
    for (bad, why) in [
        (entry(2, 77, 2, json!({})), "kind 77"),
        (entry(2, 1, 2, json!({"removeNew": 99})), "operation 99"),
        (entry(2, 1, 2, json!({"deleteNew": 99, "state": root()})), "operation 99"),
        (entry(2, 1, 2, json!({"removeOld": 3})), "resource 3"),
        (entry(2, 1, 2, json!({"removeOld": -1})), ""),
        (entry(2, 0, 2, json!({"version": 2})), "version"),
        (entry(2, 0, 2, json!({"version": null})), ""),
        (entry(2, 0, 2, json!({"kind": "0"})), ""),
        (entry(2, 0, 2, json!({"sequenceID": -2})), ""),
        (entry(0, 0, 2, json!({})), ""),
        (entry(2, 0, 2, json!({"operationID": 1.5})), ""),
        (entry(2, 1, 2, json!({"state": "hunter2"})), ""),
        (entry(2, 1, 2, json!({"state": {"urn": {"a": "hunter2"}}})), ""),
        (long, ""),
        (json!("hunter2"), ""),
        (json!([]), ""),
        (Value::Null, ""),
    ] {
        let message = error(update.append(&[&good, &bad]).await, 400);
        assert!(message.contains(why) && !message.contains("hunter2"), "{bad}: {message}");
    }
    for body in [json!({"entries": 7}), json!({"entries": {}}), json!([good]), json!("x")] {
        error(update.send("PATCH", "/journalentries", body.to_string()).await, 400);
    }
    update.complete("succeeded").await.is(204);
    assert!(service.export().await["deployment"]["resources"][0].get("outputs").is_none());
}

#[tokio::test]
async fn a_batch_may_be_empty_packed_and_written_over_many_lines() {
    let service = golden().await;
    let update = service.started("update").await;
    for body in ["{}", "null", r#"{"entries":null}"#, r#"{"entries":[]}"#] {
        update.send("PATCH", "/journalentries", body).await.is(204);
    }
    let all = entries();
    let body = serde_json::to_string_pretty(&json!({"entries": all[..6]})).unwrap();
    let headers =
        [("authorization", &*format!("update-token {}", update.token)), ("content-encoding", "gzip")];
    let url = update.path("/journalentries");
    let stranger = service.server.stranger();
    ask(&stranger, "PATCH", &url, &headers, gzip(body.as_bytes())).await.is(204);
    append(&update, &all, &[6, 7, 8]).await;
    update.complete("succeeded").await.is(204);
    assert_eq!(names(&service.export().await), ["p-dev", "a"]);
}

#[tokio::test]
async fn a_batch_that_is_too_large_is_split_by_its_client() {
    let service = Service::with(|parts| parts.limits.state_bytes = 64 << 10);
    service.create("dev").await;
    let update = service.started("update").await;
    let large: Vec<Value> = (0..4_u64)
        .map(|number| {
            let resource = with(stash(&number.to_string()), json!({"text": "x".repeat(12 << 10)}));
            entry(number + 2, 1, number + 2, json!({"state": resource}))
        })
        .collect();
    let root = entry(1, 1, 1, json!({"state": root()}));
    let all: Vec<&Value> = std::iter::once(&root).chain(&large).chain(&large).collect();
    error(update.append(&all).await, 413);
    update.append(&all[..5]).await.is(204);
    update.complete("succeeded").await.is(204);
    assert_eq!(names(&service.export().await).len(), 5);
}

#[tokio::test]
async fn a_new_base_is_what_later_entries_speak_of() {
    let service = golden().await;
    let update = service.started("update").await;
    let snapshot = json!({
        "manifest": {"time": "2026-01-02T03:04:05Z", "magic": "", "version": ""},
        "resources": [root(), stash("1"), stash("2"), stash("3"), stash("4")], "metadata": {},
    });
    let batch = [
        entry(1, 6, 0, json!({"secretsProvider": {"type": "service"}})),
        entry(2, 5, 0, json!({"newSnapshot": snapshot})),
        entry(3, 0, 1, json!({})),
        entry(4, 1, 1, json!({"removeOld": 4})),
    ];
    update.append(&batch.iter().collect::<Vec<_>>()).await.is(204);
    update.complete("succeeded").await.is(204);
    assert_eq!(names(&service.export().await), ["p-dev", "1", "2", "3"]);
}

#[tokio::test]
async fn a_refresh_that_finds_a_resource_gone_takes_it_out_of_its_dependants() {
    let service = golden().await;
    let update = service.started("refresh").await;
    let batch = [
        entry(1, 0, 1, json!({})),
        entry(2, 3, 1, json!({"removeOld": 1, "isRefresh": true})),
        entry(3, 7, 0, json!({})),
        entry(4, 0, 2, json!({})),
        entry(5, 1, 2, json!({"removeOld": 1, "state": stash("d")})),
    ];
    update.append(&batch.iter().collect::<Vec<_>>()).await.is(204);
    update.complete("succeeded").await.is(204);
    let export = service.export().await;
    let names = names(&export);
    assert!(names.contains(&"d") && !names.contains(&"a") && !names.contains(&"b"), "{names:?}");
    assert_eq!(service.get(&format!("{STACK}/updates/latest")).await.json()["info"]["kind"], "refresh");
}

#[tokio::test]
async fn a_replacement_that_is_interrupted_leaves_both_and_says_which_is_to_go() {
    let service = Service::new();
    service.create_with(json!([root(), stash("a")]), json!([])).await;
    let update = service.started("update").await;
    let mut new = stash("a");
    new["id"] = "id-new".into();
    update
        .append(&[&entry(1, 0, 1, json!({})), &entry(2, 1, 1, json!({"state": new, "deleteOld": 1}))])
        .await
        .is(204);
    service.wait(301);
    let state = service.export().await;
    let resources = state["deployment"]["resources"].as_array().unwrap();
    let found: Vec<_> = resources.iter().map(|it| (it["id"].as_str(), it["delete"].as_bool())).collect();
    assert_eq!(found, [(Some("id-new"), None), (None, None), (Some("id-a"), Some(true))], "{state}");
}

#[tokio::test]
async fn a_resource_that_needs_a_feature_makes_a_deployment_of_version_4() {
    let service = Service::new();
    service.create_with(json!([root()]), json!([])).await;
    let update = service.started("update").await;
    let mut hooked = stash("a");
    hooked["resourceHooks"] = json!({"beforeCreate": ["h"]});
    update.append(&[&entry(1, 0, 1, json!({})), &entry(2, 1, 1, json!({"state": hooked}))]).await.is(204);
    update.complete("succeeded").await.is(204);
    let state = service.export().await;
    assert_eq!((&state["version"], &state["features"]), (&json!(4), &json!(["hooks"])));
}
