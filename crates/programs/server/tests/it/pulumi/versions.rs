//! States: exported, imported, and their history.

use serde_json::{Value, json};

use super::calls::{STACK, Service, ask, deployment, error, gzip, names, root, stash};

async fn import(service: &Service, state: &Value) -> String {
    let answer = service.post(&format!("{STACK}/import"), state).await.is(200).json();
    answer["updateId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_import_is_a_version_and_has_succeeded_at_once() {
    let service = Service::with_stack().await;
    let state = deployment(&json!([root(), stash("a")]), &json!([]));
    let update = import(&service, &state).await;
    let status = service.get(&format!("{STACK}/update/{update}?continuationToken=")).await.is(200).json();
    assert_eq!(status, json!({"status": "succeeded", "events": [], "continuationToken": null}));
    assert_eq!(service.stack().await["version"], 1);
    let newest = service.get(&format!("{STACK}/updates/latest")).await.is(200).json()["info"].clone();
    assert_eq!((&newest["kind"], &newest["result"]), (&json!("import"), &json!("succeeded")));
    assert_eq!((&newest["version"], &newest["resourceCount"]), (&json!(1), &json!(2)));
    assert_eq!(service.export().await, state);
}

#[tokio::test]
async fn the_configuration_of_the_last_update_outlives_imports() {
    let service = Service::with_stack().await;
    let latest =
        async || service.get(&format!("{STACK}/updates/latest")).await.is(200).json()["info"].clone();
    import(&service, &deployment(&json!([root()]), &json!([]))).await;
    assert_eq!(latest().await["config"], json!({}));
    let config = json!({"p:n": {"string": "1", "secret": false, "object": false}});
    let id = service.created("update", &json!({"config": config})).await;
    let path = format!("{STACK}/update/{id}");
    let started = service.post(&path, &json!({"journalVersion": 1})).await.is(200).json();
    let token = format!("update-token {}", started["token"].as_str().unwrap());
    let headers = [("authorization", token.as_str())];
    let client = service.server.stranger();
    ask(&client, "POST", &format!("{path}/complete"), &headers, r#"{"status":"succeeded"}"#).await.is(204);
    assert_eq!(latest().await["config"], config);
    import(&service, &deployment(&json!([root()]), &json!([]))).await;
    let newest = latest().await;
    assert_eq!((&newest["kind"], &newest["config"]), (&json!("import"), &config));
    // The entry of the import itself claims none.
    assert_eq!(service.history().await[0]["config"], json!({}));
}

#[tokio::test]
async fn what_is_imported_is_exported_as_it_was_written() {
    let service = Service::with_stack().await;
    let inner = r#"{"resources":[],"later":{"z":1e2,"a":[1.0,"<é>\u003c"]},"manifest":{}}"#;
    for (version, features) in [(1, ""), (3, ""), (4, r#""features":["hooks","later"],"#)] {
        let body = format!(r#"{{"version":{version},{features}"deployment":{inner}}}"#);
        let packed = [("content-encoding", "gzip")];
        let url = format!("{STACK}/import");
        ask(&service.user, "POST", &url, &packed, gzip(body.as_bytes())).await.is(200);
        let exported = service.get(&format!("{STACK}/export")).await.is(200);
        assert_eq!((exported.header("content-type"), exported.text()), ("application/json", body));
    }
}

#[tokio::test]
async fn what_is_no_deployment_is_not_imported_and_not_repeated() {
    let service = Service::with_stack().await;
    for state in [
        "",
        "null",
        "[]",
        "7",
        "{",
        "{}",
        r#"{"version":0,"deployment":{}}"#,
        r#"{"version":5,"deployment":{}}"#,
        r#"{"version":-1,"deployment":{}}"#,
        r#"{"version":"3","deployment":{}}"#,
        r#"{"version":3}"#,
        r#"{"version":3,"deployment":null}"#,
        r#"{"version":3,"deployment":"hunter2"}"#,
        r#"{"version":3,"deployment":["hunter2"]}"#,
        r#"{"version":3,"deployment":{"resources":"hunter2"}}"#,
        r#"{"version":3,"deployment":{"resources":["hunter2"]}}"#,
        r#"{"version":3,"deployment":{"resources":[{"type":{"a":"hunter2"}}]}}"#,
        r#"{"version":3,"deployment":{"pending_operations":"hunter2"}}"#,
        r#"{"version":3,"deployment":{}} hunter2"#,
    ] {
        let answer = ask(&service.user, "POST", &format!("{STACK}/import"), &[], state).await;
        let message = error(answer, 400);
        assert!(!message.contains("hunter2"), "{message}");
    }
    assert_eq!(service.stack().await["version"], 0);
}

#[tokio::test]
async fn every_version_is_exported_and_others_are_not_there() {
    let service = Service::with_stack().await;
    for name in ["a", "b", "c"] {
        import(&service, &deployment(&json!([root(), stash(name)]), &json!([]))).await;
    }
    for (version, name) in [(1, "a"), (2, "b"), (3, "c")] {
        let export = service.get(&format!("{STACK}/export/{version}")).await.is(200).json();
        assert_eq!(names(&export)[1], name);
        let info = service.get(&format!("{STACK}/updates/{version}")).await.is(200).json();
        let info = info.get("info").unwrap_or(&info);
        assert_eq!(info["version"], version);
    }
    let first = service.get(&format!("{STACK}/export/0")).await.is(200).json();
    assert!(names(&first).is_empty());
    for version in
        ["4", "99", "18446744073709551615", "18446744073709551614", "18446744073709551616", "-1", "x", "%31x"]
    {
        error(service.get(&format!("{STACK}/export/{version}")).await, 404);
        error(service.get(&format!("{STACK}/updates/{version}")).await, 404);
    }
}

#[tokio::test]
async fn the_history_has_what_clients_said_and_is_read_in_pages() {
    let service = Service::with_stack().await;
    for number in 1..=12 {
        let kind = ["update", "refresh", "destroy"][number % 3];
        let body = json!({
            "name": "p", "runtime": "yaml", "main": "", "description": null, "options": {"dryRun": false},
            "config": {"p:n": {"string": number.to_string(), "secret": false, "object": false}},
            "metadata": {"message": format!("change {number}"), "environment": {"git.head": "0123"}},
        });
        let id = service.created(kind, &body).await;
        let start = service.post(&format!("{STACK}/update/{id}"), &json!({})).await.is(200).json();
        assert_eq!(start["version"], number);
        service.wait(1);
        let token = format!("update-token {}", start["token"].as_str().unwrap());
        let status = if number == 5 { "failed" } else { "succeeded" };
        let (url, body) = (format!("{STACK}/update/{id}/complete"), json!({"status": status}).to_string());
        ask(&service.server.stranger(), "POST", &url, &[("authorization", &token)], body).await.is(204);
    }
    let all = service.history().await;
    let versions: Vec<_> = all.iter().map(|update| update["version"].as_u64().unwrap()).collect();
    assert_eq!(versions, (1..=12).rev().collect::<Vec<_>>());
    let fifth = &all[7];
    assert_eq!((&fifth["kind"], &fifth["result"]), (&json!("destroy"), &json!("failed")));
    assert_eq!(
        (&fifth["message"], &fifth["environment"]),
        (&json!("change 5"), &json!({"git.head": "0123"}))
    );
    assert_eq!(fifth["config"], json!({"p:n": {"string": "5", "secret": false, "object": false}}));
    assert_eq!((&fifth["startTime"], &fifth["endTime"]), (&json!(1_800_000_004), &json!(1_800_000_005)));
    for (query, expected) in [
        ("pageSize=5&page=1", (8..=12).rev()),
        ("pageSize=5&page=2", (3..=7).rev()),
        ("pageSize=5&page=3", (1..=2).rev()),
        ("pageSize=1&page=12", (1..=1).rev()),
        ("pageSize=0", (1..=12).rev()),
        ("page=0&pageSize=3", (10..=12).rev()),
    ] {
        let page = service.get(&format!("{STACK}/updates?{query}")).await.is(200).json();
        let found: Vec<_> =
            page["updates"].as_array().unwrap().iter().map(|u| u["version"].as_u64().unwrap()).collect();
        let expected: Vec<u64> = expected.collect();
        assert_eq!(found, expected, "{query}");
    }
    for query in ["pageSize=5&page=4", "page=18446744073709551615&pageSize=18446744073709551615"] {
        let page = service.get(&format!("{STACK}/updates?{query}")).await.is(200).json();
        assert_eq!(page["updates"], json!([]), "{query}");
    }
    for query in ["pageSize=x", "page=-1"] {
        error(service.get(&format!("{STACK}/updates?{query}")).await, 400);
    }
    let previews = service.get(&format!("{STACK}/updates/latest/previews?asc=false&pageSize=1&page=1")).await;
    assert_eq!(previews.is(200).json(), json!({"updates": []}));
}
