//! Stacks: made, listed, tagged, renamed, removed.

use std::collections::BTreeSet;

use groundstate_server::auth::Role;
use serde_json::{Value, json};

use super::calls::{PROJECT, ROOT, STACK, Service, ask, deployment, error, names, root, stash};
use crate::support::Answer;

async fn head(service: &Service, path: &str) -> Answer {
    ask(&service.user, "HEAD", path, &[], "").await
}

async fn delete(service: &Service, path: &str) -> Answer {
    ask(&service.user, "DELETE", path, &[], "").await
}

async fn set_tags(service: &Service, tags: &Value) -> Answer {
    ask(&service.user, "PATCH", &format!("{STACK}/tags"), &[], tags.to_string()).await
}

#[tokio::test]
async fn a_project_is_there_while_it_has_a_stack() {
    let service = Service::new();
    head(&service, PROJECT).await.is(404);
    assert_eq!(service.create("dev").await.json(), json!({}));
    head(&service, PROJECT).await.is(200);
    head(&service, "/api/stacks/acme/other").await.is(404);
    delete(&service, STACK).await.is(204);
    head(&service, PROJECT).await.is(404);
}

#[tokio::test]
async fn a_stack_is_made_once_and_begins_empty() {
    let service = Service::with_stack().await;
    let message = error(service.post(PROJECT, &json!({"stackName": "dev"})).await, 409);
    assert!(message.contains("already exists"), "{message}");
    let stack = service.stack().await;
    let expected = [("orgName", "acme"), ("projectName", "p"), ("stackName", "dev"), ("activeUpdate", "")];
    for (member, value) in expected {
        assert_eq!(stack[member], value);
    }
    assert_eq!(stack["version"], 0);
    assert!(stack.get("currentOperation").is_none() && stack.get("config").is_none(), "{stack}");
    let empty =
        json!({"manifest": {"time": "0001-01-01T00:00:00Z", "magic": "", "version": ""}, "metadata": {}});
    assert_eq!(service.export().await, json!({"version": 3, "deployment": empty}));
    assert!(service.history().await.is_empty());
}

#[tokio::test]
async fn a_stack_may_begin_with_a_state_whose_text_stays() {
    let service = Service::new();
    let inner = r#"{"metadata":{},"manifest":{"time":"2026-01-02T03:04:05Z","magic":"","version":""},"later":{"b":1,"a":1.0}}"#;
    let body = format!(
        r#"{{"stackName":"dev","tags":null,"teams":null,"config":null,"state":{{"features":["hooks"],"version":4,"deployment":{inner}}}}}"#
    );
    ask(&service.user, "POST", PROJECT, &[], body).await.is(200);
    let text = service.get(&format!("{STACK}/export")).await.is(200).text();
    assert_eq!(text, format!(r#"{{"version":4,"features":["hooks"],"deployment":{inner}}}"#));
    assert_eq!(service.stack().await["version"], 0);
    service.post(PROJECT, &json!({"stackName": "null", "state": null})).await.is(200);
}

#[tokio::test]
async fn what_no_stack_can_begin_with_is_refused_and_leaves_nothing() {
    let service = Service::new();
    let long = "a".repeat(101);
    for body in [
        json!({}),
        json!({"stackName": ""}),
        json!({"stackName": ".."}),
        json!({"stackName": "a/b"}),
        json!({"stackName": "a b"}),
        json!({"stackName": "a\u{1b}"}),
        json!({"stackName": long}),
        json!({"stackName": 7}),
        json!({"stackName": "dev", "config": {"environment": "e"}}),
        json!({"stackName": "dev", "teams": ["t"]}),
        json!({"stackName": "dev", "tags": {"": "v"}}),
        json!({"stackName": "dev", "tags": {"a b": "v"}}),
        json!({"stackName": "dev", "tags": {"a": 7}}),
        json!({"stackName": "dev", "state": {"version": 5, "deployment": {}}}),
        json!({"stackName": "dev", "state": {"version": 0, "deployment": {}}}),
        json!({"stackName": "dev", "state": {"version": 3}}),
        json!({"stackName": "dev", "state": {"version": 3, "deployment": []}}),
        json!({"stackName": "dev", "state": []}),
        json!([]),
        Value::Null,
    ] {
        let message = error(service.post(PROJECT, &body).await, 400);
        assert!(!message.contains('\u{1b}'), "{message}");
    }
    error(service.get(STACK).await, 404);
    head(&service, PROJECT).await.is(404);
    let listed = service.get("/api/user/stacks").await.is(200).json();
    assert_eq!(listed["stacks"], json!([]));
}

#[tokio::test]
async fn tags_are_replaced_as_a_whole_and_follow_rules() {
    let service = Service::new();
    let tags = json!({"pulumi:project": "p", "team": "web"});
    service.post(PROJECT, &json!({"stackName": "dev", "tags": tags})).await.is(200);
    assert_eq!(service.stack().await["tags"], tags);
    let other = json!({"owner": "ann", "empty": "", "a".repeat(40): "é".repeat(256)});
    set_tags(&service, &other).await.is(204);
    assert_eq!(service.stack().await["tags"], other);
    for wrong in [
        json!({"": "v"}),
        json!({"a b": "v"}),
        json!({"a/b": "v"}),
        json!({"é": "v"}),
        json!({"a".repeat(41): "v"}),
        json!({"a": "v".repeat(257)}),
        json!({"a": null, "b": 7}),
        json!([]),
    ] {
        error(set_tags(&service, &wrong).await, 400);
        assert_eq!(service.stack().await["tags"], other);
    }
    // The CLI writes an empty map so.
    set_tags(&service, &Value::Null).await.is(204);
    assert!(service.stack().await["tags"].as_object().is_none_or(|tags| tags.is_empty()));
}

#[tokio::test]
async fn many_stacks_are_listed_once_each_page_by_page() {
    let service = Service::new();
    for number in 0..230 {
        let project = if number % 2 == 0 { "p" } else { "q" };
        let body =
            json!({"stackName": format!("dev-{number}"), "tags": {"parity": (number % 3).to_string()}});
        service.post(&format!("/api/stacks/acme/{project}"), &body).await.is(200);
    }
    service.post("/api/stacks/beta/p", &json!({"stackName": "dev"})).await.is(200);
    for (query, expected) in [
        ("", 231),
        ("organization=acme", 230),
        ("organization=acme&project=p", 115),
        ("project=q", 115),
        ("tagName=parity", 230),
        ("tagName=parity&tagValue=0&organization=acme", 77),
        ("organization=ac", 0),
        ("organization=none&tagName=&tagValue=", 0),
    ] {
        let (mut found, mut pages, mut token) = (BTreeSet::new(), 0, String::new());
        loop {
            let url = format!("/api/user/stacks?{query}&continuationToken={token}");
            let page = service.get(&url).await.is(200).json();
            for stack in page["stacks"].as_array().unwrap() {
                let name = format!("{}/{}/{}", stack["orgName"], stack["projectName"], stack["stackName"]);
                assert!(found.insert(name), "{stack} is listed twice");
            }
            pages += 1;
            let Some(next) = page["continuationToken"].as_str() else { break };
            token = url::form_urlencoded::byte_serialize(next.as_bytes()).collect();
        }
        assert_eq!(found.len(), expected, "{query}");
        assert!(pages > 1 || expected < 200, "{query}");
    }
    // A user sees what it may read.
    let beta = service.user("bob", Role::Read, "beta");
    let (mut seen, mut token) = (0, String::new());
    loop {
        let url = format!("/api/user/stacks?continuationToken={token}");
        let page = ask(&beta, "GET", &url, &[], "").await.is(200).json();
        seen += page["stacks"].as_array().unwrap().len();
        let Some(next) = page["continuationToken"].as_str() else { break };
        token = url::form_urlencoded::byte_serialize(next.as_bytes()).collect();
    }
    assert_eq!(seen, 1);
}

#[tokio::test]
async fn a_list_tells_updates_that_run_from_those_that_ended_and_from_none() {
    let service = Service::with_stack().await;
    let listed = async || service.get("/api/user/stacks").await.is(200).json()["stacks"][0].clone();
    let never = listed().await;
    assert!(never.get("lastUpdate").is_none() && never.get("resourceCount").is_none(), "{never}");
    let update = service.started("update").await;
    assert_eq!(listed().await["lastUpdate"], 0);
    update.complete("succeeded").await.is(204);
    let ended = listed().await;
    assert_eq!((&ended["lastUpdate"], &ended["resourceCount"]), (&json!(1_800_000_000), &json!(0)));
}

#[tokio::test]
async fn a_stack_with_resources_is_removed_only_by_force() {
    let service = Service::new();
    service.create_with(json!([root(), stash("a")]), json!([])).await;
    let first = service.stack().await["id"].clone();
    for query in ["", "?force=false", "?force=", "?force"] {
        let message = error(delete(&service, &format!("{STACK}{query}")).await, 400);
        assert_eq!(message, "Bad Request: Stack still contains resources.");
    }
    delete(&service, &format!("{STACK}?force=true")).await.is(204);
    error(delete(&service, &format!("{STACK}?force=true")).await, 404);
    error(service.get(STACK).await, 404);
    // A lone root is no reason to refuse, and an id is never used again.
    service.create_with(json!([root()]), json!([])).await;
    assert_ne!(service.stack().await["id"], first);
    delete(&service, STACK).await.is(204);
}

#[tokio::test]
async fn a_rename_takes_history_and_resources_along_and_frees_the_name() {
    let service = Service::new();
    service.create_with(json!([root(), stash("a")]), json!([])).await;
    let update = service.started("update").await;
    update.complete("succeeded").await.is(204);
    let rename = async |body: Value| service.post(&format!("{STACK}/rename"), &body).await;
    service.create("taken").await;
    error(rename(json!({"newName": "taken", "newProject": ""})).await, 409);
    for wrong in ["..", "a/b", "ä"] {
        error(rename(json!({"newName": wrong, "newProject": "p"})).await, 400);
    }
    rename(json!({"newName": "prod", "newProject": "shop"})).await.is(204);
    error(service.get(STACK).await, 404);
    error(rename(json!({"newName": "other"})).await, 404);
    let there = "/api/stacks/acme/shop/prod";
    let stack = service.get(there).await.is(200).json();
    assert_eq!((&stack["stackName"], &stack["activeUpdate"]), (&json!("prod"), &json!(update.id)));
    let export = service.get(&format!("{there}/export")).await.is(200).json();
    assert_eq!(export["deployment"]["resources"][1]["urn"], "urn:pulumi:prod::shop::pulumi:index:Stash::a");
    let history = service.get(&format!("{there}/updates")).await.is(200).json();
    let kinds: Vec<_> = history["updates"].as_array().unwrap().iter().map(|update| &update["kind"]).collect();
    assert_eq!(kinds, ["rename", "update"]);
    service.create("dev").await;
    assert_eq!(service.stack().await["version"], 0);
}

#[tokio::test]
async fn an_update_that_runs_keeps_others_from_renaming_removing_and_importing() {
    let service = Service::with_stack().await;
    let update = service.started("update").await;
    let state = deployment(&json!([root()]), &json!([]));
    for message in [
        error(service.post(&format!("{STACK}/rename"), &json!({"newName": "prod"})).await, 409),
        error(service.post(&format!("{STACK}/import"), &state).await, 409),
        error(delete(&service, &format!("{STACK}?force=true")).await, 409),
    ] {
        assert_eq!(message, "Conflict: Another update is currently in progress.");
    }
    set_tags(&service, &json!({"team": "web"})).await.is(204);
    let preview = service.started("preview").await;
    preview.complete("succeeded").await.is(204);
    assert!(names(&service.export().await).is_empty());
    update.complete("succeeded").await.is(204);
    service.post(&format!("{STACK}/import"), &state).await.is(200);
    assert_eq!(service.export().await["deployment"]["resources"][0]["urn"], ROOT);
}
