//! Locks belong to the principal that took them: the id, which everyone who is refused reads, is no key.

use groundstate_server::auth::{Grant, Principal, PrincipalKind, Role};

use crate::support::{Client, Server, URL, lock_document, state};

const API: &str = "/api/v1/states/shop/network/default";

fn client(server: &Server, name: &str, role: Role) -> Client {
    server.client_of(Principal::new(name, PrincipalKind::Token, vec![Grant::everything(role)]))
}

#[tokio::test]
async fn lock_of_another_principal_is_neither_released_nor_taken_again_nor_written_under() {
    let server = Server::new();
    let ann = client(&server, "ann", Role::Write);
    ann.post("", state(1)).await.is(200);
    ann.lock("a").await.is(200);
    for (name, role) in [("ben", Role::Lock), ("cem", Role::Write)] {
        let other = client(&server, name, role);
        other.lock("b").await.is(423);
        for refused in [other.lock("a").await, other.unlock("a").await] {
            let refused = refused.is(403);
            assert_eq!(refused.problem(), "forbidden");
            assert!(refused.text().contains("ann took the lock a"), "{}", refused.text());
        }
        other.call("UNLOCK", &format!("{URL}?ID=a"), "").await.is(403);
    }
    let cem = client(&server, "cem", Role::Write);
    cem.post("?ID=a", state(2)).await.is(403);
    cem.call("DELETE", &format!("{URL}?ID=a"), "").await.is(403);
    let body = r#"{"version": 1, "lock_id": "a"}"#;
    cem.call("POST", &format!("{API}/rollback"), body).await.is(403);
    // Nothing of this has ended the lock, or the work under it.
    ann.lock("a").await.is(200);
    ann.post("?ID=a", state(2)).await.is(200);
    ann.unlock("a").await.is(200);
    assert_eq!(ann.get(URL).await.is(200).json()["serial"], 2);
}

#[tokio::test]
async fn administrator_and_machines_that_share_a_token_go_on_under_a_lock() {
    let server = Server::new();
    let one = client(&server, "ci", Role::Write);
    one.lock("a").await.is(200);
    let other = client(&server, "ci", Role::Write);
    other.lock("a").await.is(200);
    other.post("?ID=a", state(1)).await.is(200);
    other.unlock("a").await.is(200);
    one.lock("b").await.is(200);
    let admin = client(&server, "root", Role::Admin);
    admin.lock("b").await.is(200);
    admin.post("?ID=b", state(2)).await.is(200);
    // It is still the lock of the principal that took it.
    one.post("?ID=b", state(3)).await.is(200);
    admin.unlock("b").await.is(200);
}

#[tokio::test]
async fn lock_with_a_lease_is_renewed_by_its_owner_alone() {
    let mut policies = groundstate_server::Policies::default();
    policies.lock_ttl = Some(std::time::Duration::from_secs(600));
    let server = Server::with(policies);
    let ann = client(&server, "ann", Role::Lock);
    ann.lock("a").await.is(200);
    client(&server, "ben", Role::Lock).call("LOCK", URL, lock_document("a")).await.is(403);
    client(&server, "root", Role::Admin).lock("a").await.is(200);
    ann.lock("a").await.is(200);
    ann.unlock("a").await.is(200);
}
