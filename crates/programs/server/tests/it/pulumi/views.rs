//! What the page reads of stacks: journals, resources and outputs, without values that may be secret.

use groundstate_server::auth::Role;
use serde_json::{Value, json};

use super::calls::{PROJECT, ROOT, STACK, Service, ask, deployment, entry, error, root, stash, urn};

const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";
const SALT: &str = "v1:fozI5u6B030=:v1:F+6ZduKKd8G0/V7L:PGMFeIzwobWRKmEAzUdaQHqC5mMRIQ==";
const CIPHERTEXT: &str = "v1:F+6ZduKKd8G0/V7L:PGMFeIzwobWRKmEAzUdaQHqC5mMRIQ==";
const SIGNATURE: &str = "4dabf18193072939515e22adb298388d";

async fn view(service: &Service, tail: &str) -> Value {
    service.get(&format!("{STACK}/{tail}")).await.is(200).json()
}

#[tokio::test]
async fn entries_are_read_from_any_position_and_have_no_values() {
    let service = Service::new();
    service.create_with(json!([root(), stash("a")]), json!([])).await;
    let update = service.started("update").await;
    let path = format!("update/{}/journal", update.id);
    assert_eq!(view(&service, &path).await, json!({"entries": [], "next": 0, "more": false}));
    let mut state = stash("b");
    state["outputs"] = json!({"key": {SIGNATURE: SECRET, "ciphertext": "hunter2"}, "plain": "hunter2"});
    let operation = json!({"type": "creating", "resource": state});
    update.append(&[&entry(2, 1, 1, json!({"state": state, "removeOld": 1}))]).await.is(204);
    update.append(&[&entry(1, 0, 1, json!({"operation": operation}))]).await.is(204);
    let read = service.get(&format!("{STACK}/{path}")).await.is(200);
    assert!(!read.text().contains("hunter2") && !read.text().contains("ciphertext"), "{}", read.text());
    let second = json!({
        "sequenceID": 1, "kind": "begin", "operationID": 1, "operation": "creating", "urn": urn("b"),
        "type": "pulumi:index:Stash", "state": false,
    });
    let first = json!({
        "sequenceID": 2, "kind": "success", "operationID": 1, "urn": urn("b"), "type": "pulumi:index:Stash",
        "state": true, "removed": {"base": 1},
    });
    assert_eq!(read.json(), json!({"entries": [first, second], "next": 2, "more": false}));
    let rest = view(&service, &format!("{path}?from=1")).await;
    assert_eq!(rest, json!({"entries": [second], "next": 2, "more": false}));
    assert_eq!(view(&service, &format!("{path}?from=2")).await["next"], 2);
    for from in ["-1", "x", "3", "18446744073709551615"] {
        error(service.get(&format!("{STACK}/{path}?from={from}")).await, 400);
    }
    // It stays when the update has ended, until the next one has succeeded.
    update.complete("failed").await.is(204);
    assert_eq!(view(&service, &path).await["next"], 2);
    service.started("update").await.complete("succeeded").await.is(204);
    assert_eq!(view(&service, &path).await["next"], 0);
    error(service.get(&format!("{STACK}/update/none/journal")).await, 404);
}

#[tokio::test]
async fn resources_come_in_pages_of_a_tree_and_outputs_without_secrets() {
    let service = Service::new();
    let mut stack = root();
    stack["outputs"] = json!({"url": "x", "key": {SIGNATURE: SECRET, "ciphertext": CIPHERTEXT}, "n": 12_345_678_901_234_567_890_u64});
    let mut odd =
        json!({"urn": urn("odd"), "type": "t", "custom": false, "protect": true, "initErrors": ["a", "b"]});
    odd["inputs"] = json!({"key": "hunter2"});
    let pending = json!([{"type": "creating", "resource": stash("z")}]);
    let mut state = deployment(&json!([stash("b"), stack, stash("a"), odd]), &pending);
    state["deployment"]["secrets_providers"] = json!({"type": "passphrase", "state": {"salt": SALT}});
    service.post(PROJECT, &json!({"stackName": "dev", "state": state})).await.is(200);
    let page = view(&service, "resources?limit=3").await;
    assert_eq!((&page["version"], &page["count"], &page["found"]), (&json!(0), &json!(4), &json!(4)));
    let of = |page: &Value| -> Vec<Value> {
        let rows = page["resources"].as_array().unwrap();
        rows.iter().map(|row| json!([row["urn"], row["depth"]])).collect()
    };
    assert_eq!(of(&page), [json!([ROOT, 0]), json!([urn("b"), 1]), json!([urn("a"), 1])]);
    let expected = json!([{"operation": "creating", "urn": urn("z"), "type": "pulumi:index:Stash"}]);
    assert_eq!(page["pending"], expected);
    let rest = service.get(&format!("{STACK}/resources?offset=3")).await.is(200);
    assert!(!rest.text().contains("hunter2"));
    let expected = json!([{"urn": urn("odd"), "type": "t", "depth": 0, "flags": ["protect"], "initErrors": 2, "changed": ""}]);
    assert_eq!(rest.json()["resources"], expected);
    let found = view(&service, "resources?search=STASH%3A%3AA").await;
    assert_eq!((&found["found"], of(&found)), (&json!(1), vec![json!([urn("a"), 1])]));
    let outputs = service.get(&format!("{STACK}/outputs")).await.is(200);
    assert!(!outputs.text().contains(CIPHERTEXT) && outputs.text().contains("12345678901234567890"));
    assert_eq!(outputs.json()["outputs"][0], json!({"name": "key", "value": {SIGNATURE: SECRET}}));
    // Of the versions before, too.
    service.post(&format!("{STACK}/import"), &deployment(&json!([root()]), &json!([]))).await.is(200);
    assert_eq!(view(&service, "resources").await["count"], 1);
    assert_eq!(view(&service, "resources?version=0").await["count"], 4);
    assert_eq!(view(&service, "outputs").await, json!({"version": 1, "outputs": []}));
    error(service.get(&format!("{STACK}/resources?version=9")).await, 404);
    for query in ["limit=x", "offset=-1", "version=x"] {
        error(service.get(&format!("{STACK}/resources?{query}")).await, 400);
    }
}

#[tokio::test]
async fn they_need_the_role_that_an_export_needs() {
    let service = Service::with_stack().await;
    let update = service.started("update").await;
    let paths = ["resources".to_owned(), "outputs".to_owned(), format!("update/{}/journal", update.id)];
    for path in paths {
        let url = format!("{STACK}/{path}");
        error(ask(&service.user("eve", Role::Admin, "other"), "GET", &url, &[], "").await, 403);
        error(ask(&service.user("eve", Role::Outputs, "acme"), "GET", &url, &[], "").await, 403);
        error(ask(&service.server.stranger(), "GET", &url, &[], "").await, 401);
        ask(&service.user("ann", Role::Read, "acme"), "GET", &url, &[], "").await.is(200);
    }
}
