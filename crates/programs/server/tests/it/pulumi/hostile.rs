//! Names and queries of clients that want something else than a stack.

use serde_json::{Value, json};

use super::calls::{PROJECT, STACK, Service, ask, error};

const METHODS: [&str; 5] = ["GET", "HEAD", "POST", "PATCH", "DELETE"];

fn names() -> Vec<String> {
    let mut names: Vec<String> = [
        "..",
        ".",
        "%2e%2e",
        "%2E%2e",
        "%2e",
        "%2F",
        "..%2f..",
        "a%2Fb",
        "%5c",
        "%00",
        "%0a",
        "%0d%0aX-A:%20b",
        "%1b%5b31m",
        "%7f",
        "%ff",
        "%c3%28",
        "%",
        "%2",
        "%zz",
        "%25",
        "%252e%252e",
        "%20",
        "+",
        "~",
        "*",
        "a:b",
        "@",
        "%E2%80%AE",
        "%F0%9F%92%A9",
        "none",
        "update",
        "updates",
        "export",
    ]
    .map(str::to_owned)
    .into();
    names.push("a".repeat(10_000));
    names.push("%2e".repeat(3_000));
    names
}

#[tokio::test]
async fn no_name_in_a_path_reaches_out_of_its_place() {
    let service = Service::with_stack().await;
    let update = service.started("update").await;
    let before = service.stack().await;
    let tails = [
        "",
        "/export",
        "/export/1",
        "/updates",
        "/updates/latest",
        "/tags",
        "/import",
        "/rename",
        "/decrypt",
        "/update",
        "/preview/x",
        "/update/x/events",
        "/update/x/complete",
        "/update/x/cancel",
    ];
    for name in names() {
        let mut paths: Vec<String> = vec![
            format!("/api/{name}"),
            format!("/api/stacks/{name}"),
            format!("/api/stacks/{name}/p"),
            format!("/api/stacks/acme/{name}"),
            format!("/api/user/{name}"),
        ];
        for tail in tails {
            paths.push(format!("/api/stacks/acme/p/{name}{tail}"));
            paths.push(format!("/api/stacks/acme/{name}/dev{tail}"));
            paths.push(format!("/api/stacks/{name}/p/dev{tail}"));
        }
        for tail in ["", "/events", "/cancel", "/complete", "/journalentries", "/renew_lease"] {
            paths.push(format!("{STACK}/update/{name}{tail}"));
        }
        let body = r#"{"stackName":"..","newName":"..","status":"succeeded","version":3,"deployment":{}}"#;
        for path in paths {
            let lease = format!("update-token {}", update.token);
            let headers: &[_] = if path.contains("/update/") { &[("authorization", &*lease)] } else { &[] };
            for method in METHODS {
                let answer = ask(&service.user, method, &path, headers, body).await;
                let short = &path[..path.len().min(200)];
                assert!(!answer.status.is_server_error(), "{method} {short}: {}", answer.text());
                // Answers to HEAD have no body.
                if answer.status.is_client_error() && method != "HEAD" {
                    assert_eq!(answer.json()["code"], answer.status.as_u16(), "{method} {short}");
                    assert!(
                        !answer.text().chars().any(char::is_control),
                        "{method} {short}: {}",
                        answer.text()
                    );
                }
            }
        }
    }
    // What names no stack has changed none.
    assert_eq!(service.stack().await, before);
    update.complete("succeeded").await.is(204);
}

#[tokio::test]
async fn an_update_is_known_by_its_id_alone() {
    let service = Service::with_stack().await;
    let update = service.started("update").await;
    update.events(&[json!({"sequence": 0, "cancelEvent": {}})]).await.is(204);
    service.create("other").await;
    let id = service.stack().await["id"].as_str().unwrap().to_owned();
    for name in [
        format!("..%2F{}", update.id),
        format!("..%2F..%2F{id}%2F{}", update.id),
        format!("%2e%2e%2F{id}%2F{}", update.id),
        format!("{}%2F", update.id),
        format!("{}%2Fevents", update.id),
        format!(".%2F{}", update.id),
        update.id.to_uppercase(),
        update.id[..8].to_owned(),
    ] {
        for stack in [STACK.to_owned(), format!("{PROJECT}/other")] {
            for tail in ["", "/events"] {
                error(service.get(&format!("{stack}/update/{name}{tail}")).await, 404);
            }
            error(service.post(&format!("{stack}/update/{name}"), &json!({})).await, 404);
            error(service.post(&format!("{stack}/update/{name}/cancel"), &json!({})).await, 404);
        }
    }
    error(service.get(&format!("{PROJECT}/other/update/{}", update.id)).await, 404);
    error(service.get(&format!("{PROJECT}/other/update/{}/events", update.id)).await, 404);
    update.complete("succeeded").await.is(204);
}

#[tokio::test]
async fn no_query_makes_the_server_fail() {
    let service = Service::with_stack().await;
    let update = service.started("update").await;
    for name in names() {
        for url in [
            format!("/api/user/stacks?organization={name}"),
            format!("/api/user/stacks?project={name}"),
            format!("/api/user/stacks?organization={name}&project={name}"),
            format!("/api/user/stacks?tagName={name}&tagValue={name}"),
            format!("/api/user/stacks?continuationToken={name}"),
            format!("{STACK}/updates?pageSize={name}&page={name}"),
            format!("{STACK}/export?partial={name}"),
            update.path(&format!("/events?type={name}&urn={name}")),
            update.path(&format!("/events?continuationToken={name}")),
            update.path(&format!("?continuationToken={name}")),
            format!("{STACK}?{name}={name}"),
        ] {
            let answer = service.get(&url).await;
            let short = &url[..url.len().min(200)];
            assert!(!answer.status.is_server_error(), "{short}: {}", answer.text());
            if answer.status == 200 && short.contains("/api/user/stacks") {
                let Value::Array(stacks) = answer.json()["stacks"].clone() else { unreachable!() };
                assert!(stacks.len() <= 1, "{short}");
            }
        }
    }
    update.complete("succeeded").await.is(204);
}
