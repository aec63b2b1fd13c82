//! The JSON API: states, resources, outputs, history, locks.

use std::sync::Arc;

use groundstate_conformance::FaultyBlobs;
use groundstate_server::Policies;
use groundstate_server::auth::{Grant, Pattern, Principal, PrincipalKind, Role};
use groundstate_server::blobs::MemoryBlobs;
use serde_json::{Value, json};

use crate::support::{Client, Server, URL, lock_document, state, state_of};

const API: &str = "/api/v1/states/shop/network/default";

/// A state with two resources, of which one needs the other, and a secret output.
fn network(serial: u64, size: &str) -> String {
    json!({
        "version": 4, "terraform_version": "1.11.4", "serial": serial, "lineage": "l-1",
        "outputs": {
            "region": {"value": "eu-west-1", "type": "string"},
            "password": {"value": "s3cret", "type": "string", "sensitive": true},
        },
        "resources": [
            {"mode": "managed", "type": "net", "name": "main", "provider": "provider[\"acme/x\"]",
             "instances": [{"schema_version": 0, "attributes": {"id": "n-1"}, "sensitive_attributes": []}]},
            {"module": "module.app", "mode": "managed", "type": "vm", "name": "web", "provider": "provider[\"acme/x\"]",
             "instances": [
                {"index_key": 0, "schema_version": 0, "attributes": {"id": "v-0", "size": size, "key": size},
                 "sensitive_attributes": [[{"type": "get_attr", "value": "key"}]], "dependencies": ["net.main"]},
                {"index_key": 1, "schema_version": 0, "attributes": {"id": "v-1", "size": size, "key": size},
                 "sensitive_attributes": [], "dependencies": ["net.main"]}]},
        ],
        "check_results": null,
    })
    .to_string()
}

async fn with_history() -> (Server, Client) {
    let server = Server::new();
    let client = server.admin();
    client.post("", network(4, "small")).await.is(200);
    client.post("", network(5, "large")).await.is(200);
    (server, client)
}

async fn get(client: &Client, rest: &str) -> Value {
    client.get(&format!("{API}{rest}")).await.is(200).json()
}

#[tokio::test]
async fn a_summary_tells_what_is_known_without_reading_the_state() {
    let (_, client) = with_history().await;
    client.lock("a").await.is(200);
    let found = get(&client, "").await;
    assert_eq!(
        (&found["project"], &found["state"], &found["workspace"]),
        (&json!("shop"), &json!("network"), &json!("default"))
    );
    assert_eq!(found["url"], URL);
    let version = &found["version"];
    assert_eq!(
        (&version["number"], &version["serial"], &version["lineage"]),
        (&json!(2), &json!(5), &json!("l-1"))
    );
    assert_eq!(
        (&version["resources"], &version["outputs"], &version["encrypted"]),
        (&json!(2), &json!(2), &json!(false))
    );
    assert_eq!((&version["by"], &version["terraform_version"]), (&json!("admin"), &json!("1.11.4")));
    assert_eq!(
        (&found["lock"]["id"], &found["lock"]["operation"]),
        (&json!("a"), &json!("OperationTypeApply"))
    );
    assert_eq!((&found["lock"]["who"], &found["lock"]["token"]), (&json!("ana@build-7"), &json!(1)));
}

#[tokio::test]
async fn what_was_never_written_is_404_everywhere() {
    let client = Server::new().admin();
    for rest in [
        "",
        "/outputs",
        "/outputs/a",
        "/resources",
        "/resource?address=a.b",
        "/versions",
        "/versions/1",
        "/versions/1/content",
        "/diff?from=1&to=2",
        "/lock",
        "/graph.svg",
    ] {
        assert_eq!(client.get(&format!("{API}{rest}")).await.is(404).problem(), "not-found", "{rest}");
    }
    client.call("POST", &format!("{API}/rollback"), r#"{"version": 1}"#).await.is(404);
    client.call("POST", &format!("{API}/lock/break"), r#"{"reason": "x"}"#).await.is(404);
    client.call("DELETE", API, "").await.is(204);
}

#[tokio::test]
async fn sensitive_outputs_are_hidden_unless_they_are_asked_for() {
    let (server, client) = with_history().await;
    let hidden = get(&client, "/outputs").await;
    assert_eq!(
        hidden,
        json!({"version": 2, "outputs": [
            {"name": "password", "sensitive": true, "type": "string"},
            {"name": "region", "sensitive": false, "type": "string", "value": "eu-west-1"},
        ]}),
    );
    assert_eq!(get(&client, "/outputs?reveal=true").await["outputs"][0]["value"], "s3cret");
    assert_eq!(get(&client, "/outputs/password?reveal=true").await["value"], "s3cret");
    let one = client.get(&format!("{API}/outputs/password")).await.is(200);
    assert!(!one.text().contains("s3cret"), "{}", one.text());
    client.get(&format!("{API}/outputs/none")).await.is(404);
    client.get(&format!("{API}/outputs?reveal=1")).await.is(400);
    // The role for outputs gives outputs and nothing else.
    let reader = server.client(Role::Outputs);
    assert_eq!(get(&reader, "/outputs?reveal=true").await["outputs"][0]["value"], "s3cret");
    for rest in
        ["", "/resources", "/versions", "/versions/1", "/versions/1/content", "/diff", "/lock", "/graph.svg"]
    {
        reader.get(&format!("{API}{rest}")).await.is(403);
    }
}

#[tokio::test]
async fn resources_are_listed_searched_and_paged() {
    let (_, client) = with_history().await;
    let all = get(&client, "/resources").await;
    let addresses: Vec<&str> =
        all["resources"].as_array().unwrap().iter().map(|it| it["address"].as_str().unwrap()).collect();
    assert_eq!(addresses, ["net.main", "module.app.vm.web[0]", "module.app.vm.web[1]"]);
    assert_eq!(
        all["resources"][1],
        json!({"address": "module.app.vm.web[0]", "module": "module.app", "mode": "managed", "type": "vm", "name": "web"})
    );
    let found = get(&client, "/resources?search=VM.web&limit=1&offset=1").await;
    assert_eq!(
        (&found["total"], &found["resources"][0]["address"]),
        (&json!(2), &json!("module.app.vm.web[1]"))
    );
    assert_eq!(get(&client, "/resources?version=1").await["version"], 1);
    client.get(&format!("{API}/resources?limit=x")).await.is(400);
    client.get(&format!("{API}/resources?unknown=1")).await.is(400);
}

#[tokio::test]
async fn a_resource_is_shown_with_its_members_and_hides_secrets() {
    let (server, client) = with_history().await;
    let web = "/resource?address=module.app.vm.web%5B0%5D";
    let found = get(&client, web).await;
    let expected = json!({
        "version": 2,
        "resource": {"address": "module.app.vm.web[0]", "module": "module.app", "mode": "managed", "type": "vm", "name": "web"},
        "provider": "provider[\"registry.terraform.io/acme/x\"]",
        "objects": [{"status": "ready", "schema_version": 0, "create_before_destroy": false, "members": [
            {"path": "attributes.id", "sensitive": false, "value": "v-0"},
            {"path": "attributes.key", "sensitive": true},
            {"path": "attributes.size", "sensitive": false, "value": "large"},
            {"path": "dependencies", "sensitive": false, "value": ["net.main"]},
        ]}],
    });
    assert_eq!(found, expected);
    let shown = get(&client, &format!("{web}&reveal=true&version=1")).await;
    assert_eq!(
        (&shown["version"], &shown["objects"][0]["members"][1]["value"]),
        (&json!(1), &json!("small"))
    );
    for (query, status) in [
        ("address=vm.web", 404),
        ("address=module.app.vm.web%5B2%5D", 404),
        ("address=module.app.vm.web%5B0%5D&version=9", 404),
        ("address=%3Cscript%3E", 400),
        ("address=", 400),
        ("version=1", 400),
    ] {
        client.get(&format!("{API}/resource?{query}")).await.is(status);
    }
    server.client(Role::Outputs).get(&format!("{API}{web}")).await.is(403);
}

#[tokio::test]
async fn a_deleted_state_is_told_from_one_that_never_was() {
    let (_, client) = with_history().await;
    client.call("DELETE", API, "").await.is(204);
    for rest in ["/outputs", "/resources", "/resource?address=net.main", "/graph.svg"] {
        let answer = client.get(&format!("{API}{rest}")).await.is(404);
        assert!(answer.text().contains("shop/network was deleted"), "{}", answer.text());
    }
    assert_eq!(get(&client, "/resources?version=2").await["total"], 3);
}

#[tokio::test]
async fn states_of_older_formats_are_read_too() {
    let client = Server::new().admin();
    let old = r#"{"version":3,"terraform_version":"0.11.14","serial":2,"lineage":"l","modules":[{"path":["root"],
        "outputs":{"a":{"sensitive":false,"type":"string","value":"x"}},
        "resources":{"null_resource.b":{"type":"null_resource","depends_on":[],"primary":{"id":"1","attributes":{"id":"1"},"meta":{},"tainted":false},"deposed":[],"provider":"provider.null"}}}]}"#;
    client.post("", old).await.is(200);
    assert_eq!(get(&client, "/outputs").await["outputs"][0]["value"], "x");
    assert_eq!(get(&client, "/resources").await["resources"][0]["address"], "null_resource.b");
    let found = get(&client, "").await;
    assert!(found["version"]["remarks"][0].as_str().unwrap().contains("version is 3"), "{found}");
}

#[tokio::test]
async fn what_cannot_be_read_is_422_and_still_stored_and_downloaded() {
    let client = Server::new().admin();
    let envelope =
        r#"{"serial":4,"lineage":"l","meta":{},"encrypted_data":"AAAA","encryption_version":"v0"}"#;
    client.post("", envelope).await.is(200);
    assert_eq!(
        (&get(&client, "").await["version"]["serial"], &get(&client, "").await["version"]["encrypted"]),
        (&json!(4), &json!(true))
    );
    for rest in ["/outputs", "/resources", "/graph.svg"] {
        let answer = client.get(&format!("{API}{rest}")).await.is(422);
        assert_eq!(answer.problem(), "unreadable-state");
        assert!(answer.text().contains("encrypted"), "{}", answer.text());
    }
    assert_eq!(client.get(&format!("{API}/versions/1/content")).await.is(200).body, envelope);
}

#[tokio::test]
async fn the_history_lists_every_version_and_gives_its_bytes() {
    let (_, client) = with_history().await;
    client.call("DELETE", API, "").await.is(204);
    client.post("", network(6, "small")).await.is(200);
    let page = get(&client, "/versions?limit=3").await;
    let numbers: Vec<u64> =
        page["versions"].as_array().unwrap().iter().map(|it| it["number"].as_u64().unwrap()).collect();
    assert_eq!((numbers, &page["next_before"]), (vec![4, 3, 2], &json!(2)));
    assert_eq!(page["versions"][1]["deleted"], true);
    let last = get(&client, "/versions?before=2").await;
    assert_eq!((&last["versions"][0]["number"], &last["next_before"]), (&json!(1), &Value::Null));
    let content = client.get(&format!("{API}/versions/1/content")).await.is(200);
    assert_eq!(content.body, network(4, "small"));
    assert_eq!(get(&client, "/versions/2").await["serial"], 5);
    for number in ["0", "5", "999999999999999"] {
        client.get(&format!("{API}/versions/{number}")).await.is(404);
    }
    assert_eq!(client.get(&format!("{API}/versions/3/content")).await.is(404).problem(), "not-found");
    for number in ["-1", "x", "1.0", "99999999999999999999999"] {
        client.get(&format!("{API}/versions/{number}")).await.is(400);
    }
}

#[tokio::test]
async fn a_version_is_pinned_and_unpinned() {
    let (_, client) = with_history().await;
    client.call("PUT", &format!("{API}/versions/1/pin"), "").await.is(204);
    assert_eq!(get(&client, "").await["pinned_versions"], json!([1]));
    client.call("DELETE", &format!("{API}/versions/1/pin"), "").await.is(204);
    assert_eq!(get(&client, "").await["pinned_versions"], json!([]));
    client.call("PUT", &format!("{API}/versions/9/pin"), "").await.is(404);
}

#[tokio::test]
async fn a_difference_is_one_of_meaning_and_hides_secrets() {
    let (_, client) = with_history().await;
    let found = get(&client, "/diff").await;
    assert_eq!((&found["from"], &found["to"]), (&json!(1), &json!(2)));
    assert_eq!(found["summary"], json!({"added": 0, "removed": 0, "changed": 3}));
    let change = &found["changes"][1];
    assert_eq!(
        (&change["kind"], &change["address"], &change["change"]),
        (&json!("object"), &json!("module.app.vm.web[0]"), &json!("changed"))
    );
    let field =
        |path: &str| change["fields"].as_array().unwrap().iter().find(|it| it["path"] == path).unwrap();
    assert_eq!(
        *field("attributes.size"),
        json!({"path": "attributes.size", "before": "small", "after": "large"})
    );
    let hidden = json!({"path": "attributes.key", "before": null, "before_sensitive": true, "after": null, "after_sensitive": true});
    assert_eq!(*field("attributes.key"), hidden);
    let shown = get(&client, "/diff?from=1&to=2&reveal=true").await;
    assert!(
        shown.to_string().contains(r#"{"after":"large","before":"small","path":"attributes.key"}"#),
        "{shown}"
    );
    assert_eq!(get(&client, "/diff?from=2&to=2").await["changes"], json!([]));
    client.get(&format!("{API}/diff?to=1")).await.is(400);
    client.get(&format!("{API}/diff?from=1&to=9")).await.is(404);
}

#[tokio::test]
async fn a_rollback_brings_the_bytes_back_under_a_higher_serial() {
    let (_, client) = with_history().await;
    let back = client
        .call("POST", &format!("{API}/rollback"), r#"{"version": 1, "reason": "wrong size"}"#)
        .await
        .is(200);
    let version = back.json();
    assert_eq!(
        (&version["number"], &version["serial"], &version["rolled_back_to"]),
        (&json!(3), &json!(6), &json!(1))
    );
    assert_eq!(client.get(URL).await.text(), network(4, "small").replace("\"serial\":4", "\"serial\":6"));
    // A serial that was seen once does not come again, even after a deletion or a lower one was written.
    client.post("", network(2, "small")).await.is(200);
    client.call("DELETE", API, "").await.is(204);
    let back = client.call("POST", &format!("{API}/rollback"), r#"{"version": 2}"#).await.is(200).json();
    assert_eq!((&back["number"], &back["serial"]), (&json!(6), &json!(7)));
}

#[tokio::test]
async fn a_rollback_does_not_pass_locks_lineages_or_what_it_cannot_raise() {
    let server = Server::new();
    let client = server.writer();
    let rollback = async |body: &str| client.call("POST", &format!("{API}/rollback"), body).await;
    client.post("", state_of("other", 9)).await.is(200);
    client
        .post("", r#"{"serial":4,"lineage":"l","meta":{},"encrypted_data":"AAAA","encryption_version":"v0"}"#)
        .await
        .is(200);
    client.post("", state(1)).await.is(200);
    assert_eq!(rollback(r#"{"version": 1}"#).await.is(409).problem(), "conflict");
    assert_eq!(rollback(r#"{"version": 1, "force": true}"#).await.is(200).json()["serial"], 10);
    assert_eq!(rollback(r#"{"version": 2, "force": false}"#).await.is(409).problem(), "conflict");
    client.call("DELETE", URL, "").await.is(200);
    assert_eq!(rollback(r#"{"version": 2}"#).await.is(422).problem(), "unreadable-state");
    assert_eq!(rollback(r#"{"version": 5}"#).await.is(409).problem(), "conflict", "a deletion");
    client.lock("a").await.is(200);
    assert_eq!(rollback(r#"{"version": 2, "force": true}"#).await.is(423).problem(), "locked");
    assert_eq!(
        rollback(r#"{"version": 2, "force": true, "lock_id": "b"}"#).await.is(423).problem(),
        "locked"
    );
    assert_eq!(
        rollback(r#"{"version": 2, "force": true, "lock_id": "a"}"#).await.is(200).json()["encrypted"],
        true
    );
    for body in ["", "{}", "[]", r#"{"version": "1"}"#, r#"{"version": 1, "x": 1}"#, r#"{"version": -1}"#] {
        rollback(body).await.is(400);
    }
}

#[tokio::test]
async fn locks_are_listed_shown_and_broken_with_a_reason() {
    let server = Server::new();
    let client = server.admin();
    client.lock("a").await.is(200);
    client.call("LOCK", "/tf/bank/ledger/dev", lock_document("b")).await.is(200);
    let all = client.get("/api/v1/locks").await.is(200).json();
    let found: Vec<&str> =
        all["locks"].as_array().unwrap().iter().map(|it| it["lock"]["id"].as_str().unwrap()).collect();
    assert_eq!(found, ["b", "a"]);
    assert_eq!(all["locks"][0]["workspace"], "dev");
    assert_eq!(client.get("/api/v1/locks?project=shop").await.json()["locks"].as_array().unwrap().len(), 1);
    assert_eq!(get(&client, "/lock").await["by"], "admin");
    let break_lock =
        async |client: &Client, body: &str| client.call("POST", &format!("{API}/lock/break"), body).await;
    break_lock(&server.writer(), r#"{"reason": "stuck"}"#).await.is(403);
    for body in ["{}", r#"{"reason": " "}"#, &format!(r#"{{"reason": "{}"}}"#, "r".repeat(1001))] {
        break_lock(&client, body).await.is(400);
    }
    break_lock(&client, r#"{"reason": "stuck", "id": "other"}"#).await.is(409);
    break_lock(&client, r#"{"reason": "the runner\n died", "id": "a"}"#).await.is(204);
    client.get(&format!("{API}/lock")).await.is(404);
    let lost = client.post("?ID=a", state(1)).await.is(409);
    assert!(lost.text().contains(r"admin broke the lock (the runner\\n died)"), "{}", lost.text());
}

#[tokio::test]
async fn texts_of_locks_are_shown_without_control_characters() {
    let client = Server::new().admin();
    client.call("LOCK", URL, r#"{"ID":"a\u001b[31m","Who":"\u202eana","Operation":"x\ny"}"#).await.is(200);
    let lock = get(&client, "/lock").await;
    assert_eq!(
        (&lock["id"], &lock["who"], &lock["operation"]),
        (&json!(r"a\u001b[31m"), &json!(r"\u202eana"), &json!(r"x\ny"))
    );
}

#[tokio::test]
async fn states_are_listed_by_page_by_project_and_by_search() {
    let server = Server::new();
    let client = server.admin();
    for url in ["/tf/bank/a", "/tf/bank/b/dev", "/tf/shop/Network", "/tf/shop/gone"] {
        client.call("POST", url, state(1)).await.is(200);
    }
    client.call("DELETE", "/tf/shop/gone", "").await.is(200);
    client.call("LOCK", "/tf/shop/new", lock_document("a")).await.is(200);
    let listed = async |query: &str| {
        let found = client.get(&format!("/api/v1/states?{query}")).await.is(200).json();
        let urls: Vec<String> = found["states"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["url"].as_str().unwrap().to_owned())
            .collect();
        (urls, found["next"].as_str().map(str::to_owned))
    };
    assert_eq!(listed("").await.0, ["/tf/bank/a", "/tf/bank/b/dev", "/tf/shop/Network"]);
    assert_eq!(listed("project=shop").await.0, ["/tf/shop/Network"]);
    assert_eq!(listed("project=shop&deleted=true").await.0, ["/tf/shop/Network", "/tf/shop/gone"]);
    assert_eq!(listed("search=NET").await.0, ["/tf/shop/Network"]);
    assert_eq!(listed("search=b%2Fdev").await.0, ["/tf/bank/b/dev"]);
    let (mut all, mut next) = listed("limit=1").await;
    while let Some(after) = next {
        let page = listed(&format!("limit=1&after={after}")).await;
        assert!(page.0.len() <= 1);
        all.extend(page.0);
        next = page.1;
    }
    assert_eq!(all, ["/tf/bank/a", "/tf/bank/b/dev", "/tf/shop/Network"]);
    assert_eq!(client.get("/api/v1/projects").await.json(), json!({"projects": ["bank", "shop"]}));
    for query in ["project=..", "limit=-1", "deleted=maybe", "other=1"] {
        client.get(&format!("/api/v1/states?{query}")).await.is(400);
    }
}

#[tokio::test]
async fn projects_are_listed_by_names_alone() {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("states"));
    let client = Server::on(Arc::new(blobs.clone()), Policies::default()).admin();
    for at in 0..20 {
        client.call("POST", &format!("/tf/shop-{}/state-{at}", at % 3), state(1)).await.is(200);
    }
    blobs.calls();
    let projects = client.get("/api/v1/projects").await.is(200).json();
    assert_eq!(projects, json!({"projects": ["shop-0", "shop-1", "shop-2"]}));
    assert_eq!(blobs.calls(), ["list"], "no state is read");
}

/// A server with more states than a page of the store has, and its store.
async fn with_many() -> (FaultyBlobs, Client) {
    let blobs = FaultyBlobs::new(MemoryBlobs::new("states"));
    let client = Server::on(Arc::new(blobs.clone()), Policies::default()).admin();
    for at in 0..1200 {
        client.call("POST", &format!("/tf/shop/state-{at:04}"), state(1)).await.is(200);
    }
    (blobs, client)
}

#[tokio::test]
async fn page_of_locks_or_of_a_search_is_full_or_the_last() {
    let (blobs, client) = with_many().await;
    for at in [7, 900, 1199] {
        client.call("LOCK", &format!("/tf/shop/state-{at:04}"), lock_document("a")).await.is(200);
    }
    let locks = async |query: &str| {
        let found = client.get(&format!("/api/v1/locks?{query}")).await.is(200).json();
        let names: Vec<String> = found["locks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["state"].as_str().unwrap().to_owned())
            .collect();
        (names, found["next"].as_str().map(str::to_owned))
    };
    let (first, next) = locks("limit=2").await;
    assert_eq!(first, ["state-0007", "state-0900"]);
    assert_eq!(
        locks(&format!("limit=2&after={}", next.unwrap())).await,
        (vec!["state-1199".to_owned()], None)
    );

    // What had no lock is read once, and again when it has changed.
    blobs.calls();
    assert_eq!(locks("limit=3").await.0.len(), 3);
    let calls = blobs.calls();
    assert!(calls.iter().filter(|call| **call == "get").count() <= 3, "{}", calls.len());
    client.call("LOCK", "/tf/shop/state-0500", lock_document("b")).await.is(200);
    assert!(locks("").await.0.contains(&"state-0500".to_owned()));

    blobs.calls();
    let found = client.get("/api/v1/states?search=1198").await.is(200).json();
    assert_eq!((found["states"].as_array().unwrap().len(), found.get("next")), (1, None));
    let calls = blobs.calls();
    assert_eq!(calls.iter().filter(|call| **call == "get").count(), 1, "only what matches is read");
}

#[tokio::test]
async fn a_caller_sees_only_what_it_may_read() {
    let server = Server::new();
    server.admin().call("POST", "/tf/bank/a", state(1)).await.is(200);
    server.admin().call("POST", "/tf/shop/b", state(1)).await.is(200);
    server.admin().call("LOCK", "/tf/bank/a", lock_document("a")).await.is(200);
    let on = |role, project| Grant::project(role, Pattern::parse(project).unwrap());
    let grants = vec![on(Role::Read, "shop"), on(Role::Outputs, "bank")];
    let client = server.client_of(Principal::new("ana", PrincipalKind::Token, grants));
    assert_eq!(client.get("/api/v1/projects").await.json(), json!({"projects": ["shop"]}));
    assert_eq!(client.get("/api/v1/states").await.json()["states"].as_array().unwrap().len(), 1);
    assert_eq!(client.get("/api/v1/locks").await.json(), json!({"locks": []}));
    client.get("/api/v1/states/bank/a/default").await.is(403);
    client.get("/api/v1/states/bank/a/default/outputs").await.is(200);
    server.stranger().get("/api/v1/states").await.is(401);
}

#[tokio::test]
async fn the_dependencies_are_a_picture() {
    let (_, client) = with_history().await;
    let picture = client.get(&format!("{API}/graph.svg")).await.is(200);
    assert_eq!(picture.header("content-type"), "image/svg+xml");
    assert!(picture.header("content-security-policy").contains("default-src 'none'"));
    let text = picture.text();
    assert!(text.starts_with("<svg") && text.contains("module.app") && text.contains("net.main"), "{text}");
    assert!(!text.contains("large"), "no values");
}

#[tokio::test]
async fn a_deleted_state_keeps_its_summary_and_only_administrators_delete() {
    let (server, client) = with_history().await;
    server.writer().call("DELETE", API, "").await.is(403);
    client.lock("a").await.is(200);
    client.call("DELETE", API, "").await.is(204);
    let found = get(&client, "").await;
    assert_eq!(
        (&found["version"], &found["last_version"], &found["lock"]),
        (&Value::Null, &json!(3), &Value::Null)
    );
    client.get(URL).await.is(404);
}

#[tokio::test]
async fn names_methods_and_bodies_are_checked() {
    let client = Server::new().admin();
    for url in [
        "/api/v1/states/shop/..%2Fx/default",
        "/api/v1/states/shop/a/lock",
        "/api/v1/states/.a/b/default",
        "/api/v1/states/shop/a/b%20c/outputs",
    ] {
        assert_eq!(client.get(url).await.is(400).problem(), "invalid-name", "{url}");
    }
    for url in ["/api/v1", "/api/v1/states/shop/a", "/api/v1/states/shop/a/default/x"] {
        assert_eq!(client.get(url).await.is(404).problem(), "no-such-route", "{url}");
    }
    assert_eq!(client.call("PATCH", API, "").await.is(405).problem(), "method-not-allowed");
    let request = http::Request::post(format!("{API}/rollback")).header("content-type", "text/plain");
    client.send(request.body(r#"{"version": 1}"#.into()).unwrap()).await.is(415);
    client.call("POST", &format!("{API}/rollback"), " ".repeat(70_000)).await.is(413);
}

#[tokio::test]
async fn a_rollback_works_where_writes_need_locks() {
    let mut policies = Policies::default();
    policies.require_lock = true;
    let client = Server::with(policies).admin();
    client.lock("a").await.is(200);
    client.post("?ID=a", state(1)).await.is(200);
    client.post("?ID=a", state(2)).await.is(200);
    client.unlock("a").await.is(200);
    assert_eq!(
        client.call("POST", &format!("{API}/rollback"), r#"{"version": 1}"#).await.is(200).json()["serial"],
        3
    );
}
