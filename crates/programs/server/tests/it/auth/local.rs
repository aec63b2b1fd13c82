//! Clients of this machine, while no way of authentication is in use.

use groundstate_server::auth::{AuthSettings, Role};

use super::{Ask, Guarded, NETWORK};

#[tokio::test]
async fn a_client_of_this_machine_may_do_everything_until_there_is_a_token() {
    let server = Guarded::new();
    for address in ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"] {
        assert_eq!(server.status(&Ask::get(NETWORK).from(address)).await, 404, "{address}");
    }
    server.send(&Ask::lock(NETWORK).from("127.0.0.1")).await.is(200);
    assert!(!server.authenticator.is_in_use().await.unwrap());
    // A token that opens nothing here is enough: from then on authentication is in use.
    let (_, info) = server.token("ci", Role::Outputs, "bank", "*").await;
    assert_eq!(server.status(&Ask::get(NETWORK).from("127.0.0.1")).await, 401);
    server.tokens.revoke(info.id.as_str(), "user:ana").await.unwrap();
    assert_eq!(server.status(&Ask::get(NETWORK).from("127.0.0.1")).await, 401);
    assert!(server.authenticator.is_in_use().await.unwrap());
}

#[tokio::test]
async fn what_comes_through_a_proxy_or_from_elsewhere_is_not_of_this_machine() {
    let server = Guarded::new();
    for name in ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Via"]
    {
        let ask = Ask::get(NETWORK).from("127.0.0.1").header(name, "127.0.0.1");
        assert_eq!(server.status(&ask).await, 401, "{name}");
    }
    for address in ["192.0.2.7", "10.0.0.1", "::", "0.0.0.0", "fe80::1", "::ffff:10.0.0.1"] {
        assert_eq!(server.status(&Ask::get(NETWORK).from(address)).await, 401, "{address}");
    }
}

#[tokio::test]
async fn wrong_credentials_are_refused_where_none_are_needed() {
    let server = Guarded::new();
    assert_eq!(server.status(&Ask::get(NETWORK).from("127.0.0.1").bearer("hunter2")).await, 401);
}

#[tokio::test]
async fn settings_close_it_or_open_it_to_all() {
    let never = Guarded::with(&AuthSettings::parse("anonymous = \"never\"").unwrap(), None);
    assert_eq!(never.status(&Ask::get(NETWORK).from("127.0.0.1")).await, 401);
    let everywhere = Guarded::with(&AuthSettings::parse("anonymous = \"everywhere\"").unwrap(), None);
    assert_eq!(everywhere.status(&Ask::get(NETWORK)).await, 404);
    everywhere.token("ci", Role::Outputs, "bank", "*").await;
    assert_eq!(everywhere.status(&Ask::get(NETWORK)).await, 401);
}
