//! Certificates of clients.

use groundstate_server::auth::{AuthSettings, Role};
use groundstate_testkit::Authority;

use super::{Ask, Guarded, NETWORK};

fn settings() -> AuthSettings {
    AuthSettings::parse(
        r#"
        [[certificate]]
        dns = "*.ci.example.com"
        grants = [{ role = "lock", project = "shop", state = "*" }]
        "#,
    )
    .unwrap()
}

#[tokio::test]
async fn a_certificate_has_the_roles_of_its_names() {
    let server = Guarded::with(&settings(), None);
    assert!(server.authenticator.is_in_use().await.unwrap());
    let authority = Authority::new();
    let runner = authority.certificate(&["runner.ci.example.com"]);
    let other = authority.certificate(&["runner.example.com"]);
    assert_eq!(server.status(&Ask::lock(NETWORK).certificate(runner.der())).await, 200);
    assert_eq!(server.status(&Ask::get("/tf/bank/network").certificate(runner.der())).await, 403);
    assert_eq!(server.status(&Ask::get(NETWORK).certificate(other.der())).await, 401);
    // In use, so the machine itself is no exception.
    assert_eq!(server.status(&Ask::get(NETWORK).from("127.0.0.1")).await, 401);
}

#[tokio::test]
async fn credentials_count_before_the_certificate_and_wrong_ones_are_not_forgiven() {
    let server = Guarded::with(&settings(), None);
    let certificate = Authority::new().certificate(&["runner.ci.example.com"]);
    let (token, _) = server.token("bank", Role::Read, "bank", "*").await;
    let ask = |token: &str| Ask::get(NETWORK).certificate(certificate.der()).bearer(token);
    assert_eq!(server.status(&ask(token.reveal())).await, 403);
    assert_eq!(server.status(&ask("hunter2")).await, 401);
}
