//! What each role may do.

use groundstate_server::auth::Role;
use serde_json::json;

use super::calls::{PROJECT, STACK, Service, ask, deployment, error, root};

/// Whether the role may do something on the stacks of `acme`.
async fn may(service: &Service, role: Role, method: &str, path: &str, body: &str) -> bool {
    let client = service.user("bob", role, "acme");
    let answer = ask(&client, method, path, &[], body.to_owned()).await;
    assert!(!answer.status.is_server_error(), "{}", answer.text());
    if answer.status == 403 {
        let message = error(answer, 403);
        assert!(message.contains("does not have the role"), "{message}");
        return false;
    }
    true
}

#[tokio::test]
async fn every_call_needs_its_role_and_each_role_has_what_lower_ones_have() {
    let service = Service::with_stack().await;
    let sealed =
        service.post(&format!("{STACK}/encrypt"), &json!({"plaintext": "eA=="})).await.is(200).text();
    let state = deployment(&json!([root()]), &json!([])).to_string();
    let update = service.started("update").await;
    let path = |tail: &str| format!("{STACK}{tail}");
    for (needed, method, url, body) in [
        (Role::Read, "GET", path(""), ""),
        (Role::Read, "GET", path("/export"), ""),
        (Role::Read, "GET", path("/export/0"), ""),
        (Role::Read, "GET", path("/updates"), ""),
        (Role::Read, "GET", path("/updates/latest"), ""),
        (Role::Read, "GET", path("/updates/latest/previews"), ""),
        (Role::Read, "GET", update.path(""), ""),
        (Role::Read, "GET", update.path("/events"), ""),
        (Role::Read, "POST", path("/decrypt"), &*sealed),
        (Role::Read, "POST", path("/batch-decrypt"), "{}"),
        (Role::Read, "POST", path("/decrypt/log-decryption"), "{}"),
        (Role::Lock, "POST", path("/encrypt"), "{}"),
        (Role::Lock, "POST", path("/batch-encrypt"), "{}"),
        (Role::Lock, "POST", path("/preview"), "{}"),
        (Role::Lock, "POST", path("/update"), r#"{"options":{"dryRun":true}}"#),
        (Role::Write, "POST", path("/update"), "{}"),
        (Role::Write, "POST", path("/refresh"), "{}"),
        (Role::Write, "POST", path("/destroy"), "{}"),
        (Role::Write, "POST", path("/import"), &state),
        (Role::Write, "POST", path("/rename"), "{}"),
        (Role::Write, "PATCH", path("/tags"), "{}"),
        (Role::Write, "POST", path("/lock?id=l"), ""),
        (Role::Write, "PATCH", path("/lock?id=l"), ""),
        (Role::Write, "DELETE", path("/lock?id=l"), ""),
        (Role::Write, "DELETE", path(""), ""),
        (Role::Write, "POST", PROJECT.to_owned(), r#"{"stackName":"dev"}"#),
        (Role::Admin, "POST", update.path("/cancel"), ""),
    ] {
        for role in Role::ALL {
            let allowed = may(&service, role, method, &url, body).await;
            assert_eq!(allowed, role >= needed, "{role} {method} {url}");
        }
    }
}

#[tokio::test]
async fn a_role_on_the_stacks_of_one_owner_says_nothing_of_those_of_another() {
    let service = Service::with_stack().await;
    let client = service.user("bob", Role::Admin, "beta");
    for (method, url) in [
        ("GET", STACK.to_owned()),
        ("GET", format!("{STACK}/export")),
        ("POST", format!("{STACK}/decrypt")),
        ("POST", format!("{STACK}/batch-decrypt")),
        ("POST", format!("{STACK}/encrypt")),
        ("POST", format!("{STACK}/import")),
        ("DELETE", STACK.to_owned()),
        ("POST", PROJECT.to_owned()),
    ] {
        let body = r#"{"stackName":"dev","version":3,"deployment":{}}"#;
        let there = error(ask(&client, method, &url, &[], body).await, 403);
        // What is not there looks the same.
        let url = url.replace("/dev", "/none");
        let absent = error(ask(&client, method, &url, &[], body.replace("dev", "none")).await, 403);
        assert_eq!(there.replace("/dev", "/none"), absent, "{method}");
    }
    ask(&client, "HEAD", PROJECT, &[], "").await.is(404);
    let listed = ask(&client, "GET", "/api/user/stacks", &[], "").await.is(200).json();
    assert_eq!(listed["stacks"], json!([]));
    let grants = service.user("bob", Role::Write, "acme");
    ask(&grants, "HEAD", PROJECT, &[], "").await.is(200);
}

#[tokio::test]
async fn a_preview_is_started_by_the_role_lock_and_an_update_is_not() {
    let service = Service::with_stack().await;
    let client = service.user("bob", Role::Lock, "acme");
    let preview = ask(&client, "POST", &format!("{STACK}/preview"), &[], "{}").await.is(200).json();
    let url = format!("{STACK}/update/{}", preview["updateID"].as_str().unwrap());
    ask(&client, "POST", &url, &[], "{}").await.is(200);
    let update = service.created("update", &json!({})).await;
    let url = format!("{STACK}/update/{update}");
    error(ask(&client, "POST", &url, &[], "{}").await, 403);
    assert!(service.stack().await.get("currentOperation").is_none());
}

#[tokio::test]
async fn a_writer_cancels_its_own_updates_only() {
    let service = Service::with_stack().await;
    let [ann, bob] = ["ann", "bob"].map(|name| service.user(name, Role::Write, "acme"));
    let created = ask(&ann, "POST", &format!("{STACK}/update"), &[], "{}").await.is(200).json();
    let url = format!("{STACK}/update/{}", created["updateID"].as_str().unwrap());
    ask(&ann, "POST", &url, &[], "{}").await.is(200);
    error(ask(&bob, "POST", &format!("{url}/cancel"), &[], "").await, 403);
    assert_eq!(service.stack().await["currentOperation"]["author"], "ann");
    ask(&ann, "POST", &format!("{url}/cancel"), &[], "").await.is(204);
    assert!(service.stack().await.get("currentOperation").is_none());
}
