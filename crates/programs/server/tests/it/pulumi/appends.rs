//! Versions of other histories: appended by a call of our own.

use groundstate_server::auth::Role;
use serde_json::{Value, json};

use super::calls::{STACK, Service, ask, deployment, error, gzip, names, root, stash};

fn info(version: u64, members: Value) -> Value {
    let mut info = json!({
        "kind": "update", "result": "succeeded", "startTime": 1_500_000_000, "endTime": 1_500_000_060,
        "message": "change", "environment": {"git.head": "0123"}, "version": version,
        "config": {"p:n": {"string": "1", "secret": false, "object": false}},
        "resourceChanges": {"create": 2}, "resourceCount": 99, "requestedBy": {"name": "bob"},
    });
    for (name, value) in members.as_object().unwrap() {
        info[name] = value.clone();
    }
    info
}

fn with_state(version: u64, name: &str) -> Value {
    info(version, json!({"deployment": deployment(&json!([root(), stash(name)]), &json!([]))}))
}

async fn append(service: &Service, key: &str, info: &Value) -> Value {
    let body = json!({"key": key, "info": info});
    service.post(&format!("{STACK}/versions"), &body).await.is(200).json()
}

#[tokio::test]
async fn a_history_that_is_appended_is_read_as_it_was() {
    let service = Service::with_stack().await;
    let first = append(&service, "a", &with_state(3, "a")).await;
    assert_eq!((&first["version"], &first["appended"]), (&json!(1), &json!(true)));
    let failed = info(7, json!({"result": "failed", "kind": "destroy"}));
    assert_eq!(append(&service, "b", &failed).await["version"], 2);
    let again = append(&service, "a", &with_state(3, "z")).await;
    assert_eq!(again, json!({"version": 1, "updateID": first["updateID"], "appended": false}));
    let history = service.history().await;
    let expected = json!({
        "kind": "update", "startTime": 1_500_000_000, "message": "change", "environment": {"git.head": "0123"},
        "config": {"p:n": {"string": "1", "secret": false, "object": false}}, "result": "succeeded",
        "endTime": 1_500_000_060, "version": 1, "resourceChanges": {"create": 2}, "resourceCount": 2,
        "updateID": first["updateID"], "requestedBy": {"name": "admin"},
        "source": {"version": 3, "requestedBy": {"name": "bob"}},
    });
    assert_eq!((history.len(), &history[1]), (2, &expected));
    assert_eq!((&history[0]["result"], &history[0]["source"]["version"]), (&json!("failed"), &json!(7)));
    assert_eq!(names(&service.export().await)[1], "a");
    assert_eq!(service.stack().await["version"], 2);
    // What is appended, the next update goes on from.
    assert_eq!(service.started("update").await.started["version"], 3);
}

#[tokio::test]
async fn the_bytes_of_a_state_that_is_appended_stay() {
    let service = Service::with_stack().await;
    let inner = r#"{"resources":[],"later":{"z":1e2,"a":[1.0,"<é>\u003c"]},"manifest":{}}"#;
    let state = format!(r#"{{"version":4,"features":["later"],"deployment":{inner}}}"#);
    let body =
        format!(r#"{{"key":"k","info":{{"kind":"import","result":"succeeded","deployment":{state}}}}}"#);
    let packed = [("content-encoding", "gzip")];
    ask(&service.user, "POST", &format!("{STACK}/versions"), &packed, gzip(body.as_bytes())).await.is(200);
    assert_eq!(service.get(&format!("{STACK}/export")).await.is(200).text(), state);
}

#[tokio::test]
async fn what_is_no_version_is_not_appended() {
    let service = Service::with_stack().await;
    let url = format!("{STACK}/versions");
    for body in [
        json!({"info": info(1, json!({}))}),
        json!({"key": "k"}),
        json!({"key": "k".repeat(257), "info": info(1, json!({}))}),
        json!({"key": "k", "info": info(1, json!({"kind": "preview"}))}),
        json!({"key": "k", "info": info(1, json!({"kind": "hunter2"}))}),
        json!({"key": "k", "info": info(1, json!({"result": "in-progress"}))}),
        json!({"key": "k", "info": info(1, json!({"result": "not-started"}))}),
        json!({"key": "k", "info": info(1, json!({"startTime": i64::MAX}))}),
        json!({"key": "k", "info": info(1, json!({"deployment": {"version": 9, "deployment": {}}}))}),
        json!({"key": "k", "info": info(1, json!({"deployment": "hunter2"}))}),
        json!({"key": "k", "info": info(1, json!({"deployment": {"version": 3}}))}),
    ] {
        let message = error(service.post(&url, &body).await, 400);
        assert!(!message.contains("hunter2"), "{message}");
    }
    error(
        service
            .post("/api/stacks/acme/p/none/versions", &json!({"key": "k", "info": info(1, json!({}))}))
            .await,
        404,
    );
    assert_eq!(service.stack().await["version"], 0);
}

#[tokio::test]
async fn appending_needs_what_importing_needs() {
    let service = Service::with_stack().await;
    let body = json!({"key": "k", "info": with_state(1, "a")}).to_string();
    let url = format!("{STACK}/versions");
    for role in [Role::Read, Role::Lock] {
        error(ask(&service.user("eve", role, "acme"), "POST", &url, &[], body.clone()).await, 403);
    }
    error(ask(&service.user("eve", Role::Admin, "other"), "POST", &url, &[], body.clone()).await, 403);
    let update = service.started("update").await;
    let message = error(service.post(&url, &json!({"key": "k", "info": with_state(1, "a")})).await, 409);
    assert_eq!(message, "Conflict: Another update is currently in progress.");
    update.complete("succeeded").await.is(204);
    ask(&service.user("ann", Role::Write, "acme"), "POST", &url, &[], body).await.is(200);
    assert_eq!(service.stack().await["version"], 2);
}
