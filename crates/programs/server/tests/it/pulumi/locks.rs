//! Locks of stacks without an update: an explicit call takes one, and keeps updates out.

use groundstate_server::auth::Role;
use serde_json::json;

use super::calls::{STACK, Service, ask, deployment, error, root};
use crate::support::{Answer, Client};

async fn call(client: &Client, method: &str, id: &str) -> Answer {
    ask(client, method, &format!("{STACK}/lock?id={id}"), &[], "").await
}

#[tokio::test]
async fn a_lock_keeps_updates_imports_and_other_locks_out_and_makes_no_version() {
    let service = Service::with_stack().await;
    let state = deployment(&json!([root()]), &json!([]));
    let now = service.now();
    let taken = call(&service.user, "POST", "lock-1").await.is(200).json();
    assert_eq!(taken, json!({"expires": now + 300}));
    let current = service.stack().await;
    assert_eq!(
        (&current["currentOperation"]["kind"], &current["activeUpdate"]),
        (&json!("lock"), &json!("lock-1"))
    );

    let update = service.created("update", &json!({})).await;
    let refused = error(service.post(&format!("{STACK}/update/{update}"), &json!({})).await, 409);
    assert!(refused.contains("currently in progress"), "{refused}");
    // Two minutes later as well: silence does not end a lock, the end of its lease does.
    service.wait(120);
    error(service.post(&format!("{STACK}/update/{update}"), &json!({})).await, 409);
    error(service.post(&format!("{STACK}/import"), &state).await, 409);
    error(service.post(&format!("{STACK}/rename"), &json!({"newName": "new"})).await, 409);
    error(ask(&service.user, "DELETE", STACK, &[], "").await, 409);
    error(call(&service.user, "POST", "lock-2").await, 409);
    service.get(&format!("{STACK}/export")).await.is(200);
    let preview = service.started("preview").await;
    preview.complete("succeeded").await.is(204);

    let renewed = call(&service.user, "PATCH", "lock-1").await.is(200).json();
    assert_eq!(renewed, json!({"expires": service.now() + 300}));
    call(&service.user, "DELETE", "lock-1").await.is(204);
    // An answer that got lost is asked for again.
    call(&service.user, "DELETE", "lock-1").await.is(204);
    assert!(service.stack().await.get("currentOperation").is_none());
    assert_eq!(service.history().await.len(), 0);
    let update = service.started("update").await;
    assert_eq!(update.started["version"], 1);
    error(call(&service.user, "POST", "lock-3").await, 409);
}

#[tokio::test]
async fn a_lock_whose_lease_is_over_is_lost_and_says_so() {
    let service = Service::with_stack().await;
    call(&service.user, "POST", "lock-1").await.is(200);
    // The same request again, since its answer may have been lost.
    call(&service.user, "POST", "lock-1").await.is(200);
    service.wait(301);
    let update = service.started("update").await;
    for method in ["PATCH", "DELETE"] {
        let lost = error(call(&service.user, method, "lock-1").await, 412);
        assert!(lost.contains("the lease of the lock expired"), "{lost}");
    }
    update.complete("succeeded").await.is(204);
    error(call(&service.user, "POST", "lock-1").await, 409);
    for id in ["", "a/b", &"x".repeat(65)] {
        error(call(&service.user, "POST", id).await, 400);
    }
    error(ask(&service.user, "POST", &format!("{STACK}/lock"), &[], "").await, 400);
}

#[tokio::test]
async fn a_lock_belongs_to_its_user_and_admins_cancel_it() {
    let service = Service::with_stack().await;
    let [ann, bob] = ["ann", "bob"].map(|name| service.user(name, Role::Write, "acme"));
    let reader = service.user("rita", Role::Lock, "acme");
    error(call(&reader, "POST", "lock-1").await, 403);
    call(&ann, "POST", "lock-1").await.is(200);
    error(call(&bob, "POST", "lock-1").await, 409);
    for method in ["PATCH", "DELETE"] {
        error(call(&bob, method, "lock-1").await, 412);
        error(call(&reader, method, "lock-1").await, 403);
    }
    let cancel = format!("{STACK}/update/lock-1/cancel");
    error(ask(&bob, "POST", &cancel, &[], "").await, 403);
    // Nothing can be stored under a lock: it is no update.
    error(ask(&ann, "POST", &format!("{STACK}/update/lock-1"), &[], "{}").await, 404);
    ask(&service.user, "POST", &cancel, &[], "").await.is(204);
    for method in ["PATCH", "DELETE"] {
        let lost = error(call(&ann, method, "lock-1").await, 412);
        assert!(lost.contains("ended the lock"), "{lost}");
    }
    call(&ann, "POST", "lock-2").await.is(200);
    ask(&ann, "POST", &format!("{STACK}/update/lock-2/cancel"), &[], "").await.is(204);
    assert!(service.stack().await.get("currentOperation").is_none());
}
