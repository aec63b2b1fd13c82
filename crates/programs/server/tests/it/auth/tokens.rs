//! Tokens: what they open, and when they stop to.

use std::time::Duration;

use groundstate_conformance::{Fault, FaultyBlobs};
use groundstate_server::auth::{AuthSettings, Grant, NewToken, Role, STALENESS, TokenName};
use groundstate_server::blobs::MemoryBlobs;
use groundstate_server::common::Clock;

use super::{Ask, Guarded, NETWORK};

#[tokio::test]
async fn a_request_without_credentials_is_told_how_to_send_them() {
    let server = Guarded::new();
    let answer = server.send(&Ask::get(NETWORK)).await.is(401);
    let challenges: Vec<_> =
        answer.headers.get_all("www-authenticate").iter().map(|value| value.to_str().unwrap()).collect();
    assert!(
        challenges[0].starts_with("Basic realm=") && challenges[1].starts_with("Bearer"),
        "{challenges:?}"
    );
    assert_eq!(answer.problem(), "unauthenticated");
}

#[tokio::test]
async fn a_token_is_a_bearer_or_the_password_of_any_user() {
    let server = Guarded::new();
    let (token, _) = server.token("ci", Role::Write, "*", "*").await;
    for ask in [
        Ask::get(NETWORK).bearer(token.reveal()),
        Ask::get(NETWORK).basic("terraform", token.reveal()),
        Ask::get(NETWORK).basic("", token.reveal()),
    ] {
        server.send(&ask).await.is(404);
    }
}

#[tokio::test]
async fn a_token_opens_what_it_was_granted_and_nothing_else() {
    let server = Guarded::new();
    let (token, _) = server.token("ci", Role::Lock, "shop", "net*").await;
    let ask = |ask: Ask| ask.bearer(token.reveal());
    assert_eq!(server.status(&ask(Ask::get(NETWORK))).await, 404);
    assert_eq!(server.status(&ask(Ask::lock(NETWORK))).await, 200);
    assert_eq!(server.status(&ask(Ask::lock("/tf/shop/network/dev"))).await, 200);
    for other in ["/tf/shop/vault", "/tf/bank/network"] {
        assert_eq!(server.status(&ask(Ask::get(other))).await, 403, "{other}");
    }
    let (reader, _) = server.token("reader", Role::Read, "shop", "*").await;
    assert_eq!(server.status(&Ask::lock(NETWORK).bearer(reader.reveal())).await, 403);
}

#[tokio::test]
async fn refusals_do_not_tell_whether_a_state_exists() {
    let server = Guarded::new();
    let (admin, _) = server.token("admin", Role::Admin, "*", "*").await;
    let (other, _) = server.token("other", Role::Admin, "bank", "*").await;
    server.send(&Ask::lock(NETWORK).bearer(admin.reveal())).await.is(200);
    for ask in [Ask::get, Ask::lock] {
        for (header, status) in [(None, 401), (Some("nonsense"), 401), (Some(other.reveal()), 403)] {
            let with = |ask: Ask| header.map_or(ask.clone(), |token| ask.bearer(token));
            let there = server.send(&with(ask(NETWORK))).await.is(status);
            let not_there = server.send(&with(ask("/tf/shop/absence"))).await.is(status);
            let text = not_there.text().replace("shop/absence", "shop/network");
            assert_eq!(there.text(), text);
            let names = |answer: &crate::support::Answer| answer.headers.keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(&there), names(&not_there));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_revoked_token_is_refused_by_every_node_within_the_time_that_is_promised() {
    let store = FaultyBlobs::new(MemoryBlobs::new("states"));
    let nodes = [(); 2].map(|()| Guarded::on(store.clone(), &AuthSettings::default(), None));
    let (token, _) = nodes[0].token("ci", Role::Read, "*", "*").await;
    let ask = Ask::get(NETWORK).bearer(token.reveal());
    for node in &nodes {
        node.send(&ask).await.is(404);
    }
    nodes[0].tokens.revoke("ci", "user:bob").await.unwrap();
    tokio::time::advance(STALENESS).await;
    for node in &nodes {
        let answer = node.send(&ask).await.is(401);
        assert!(answer.text().contains("the token ci was revoked"), "{}", answer.text());
    }
}

#[tokio::test]
async fn a_token_ends_when_it_was_to_and_its_owner_is_told() {
    let server = Guarded::new();
    let end = server.clock.now().checked_add(Duration::from_secs(60)).unwrap();
    let grants = vec![Grant::everything(Role::Read)];
    let new = NewToken::new(TokenName::parse("ci").unwrap(), grants, "user:ana").expires(end);
    let (token, _) = server.tokens.create(new).await.unwrap();
    let ask = Ask::get(NETWORK).bearer(token.reveal());
    server.send(&ask).await.is(404);
    server.clock.advance(Duration::from_secs(59));
    server.send(&ask).await.is(404);
    server.clock.advance(Duration::from_secs(1));
    let answer = server.send(&ask).await.is(401);
    assert!(answer.text().contains("the token ci has expired"), "{}", answer.text());
}

#[tokio::test(start_paused = true)]
async fn an_address_that_guesses_waits_and_clients_that_are_known_do_not() {
    let server = Guarded::new();
    let (token, _) = server.token("ci", Role::Read, "*", "*").await;
    let (late, _) = server.token("late", Role::Read, "*", "*").await;
    let good = Ask::get(NETWORK).bearer(token.reveal());
    server.send(&good).await.is(404);
    // Tokens of another store: their form is right.
    let other = Guarded::new();
    for number in 0..10 {
        let (guess, _) = other.token(&format!("t{number}"), Role::Read, "*", "*").await;
        server.send(&Ask::get(NETWORK).bearer(guess.reveal())).await.is(401);
    }
    let calls = |server: &Guarded| server.store.calls().len();
    calls(&server);
    let answer = server.send(&Ask::get(NETWORK).bearer("gs_slip")).await.is(429);
    assert_eq!((answer.problem().as_str(), answer.header("retry-after")), ("too-many-requests", "6"));
    assert_eq!(server.status(&Ask::get(NETWORK).bearer("aa.bb.cc")).await, 429);
    // A token that this node has not seen is not looked up for such an address.
    assert_eq!(server.status(&Ask::get(NETWORK).bearer(late.reveal())).await, 429);
    assert_eq!(calls(&server), 0);
    assert_eq!(server.status(&good).await, 404);
    assert_eq!(server.status(&Ask::get(NETWORK).bearer(late.reveal()).from("192.0.2.8")).await, 404);
    tokio::time::advance(Duration::from_secs(6)).await;
    assert_eq!(server.status(&Ask::get(NETWORK).bearer("gs_slip")).await, 401);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_is_no_reason_to_refuse_or_accept() {
    let server = Guarded::new();
    let (token, _) = server.token("ci", Role::Read, "*", "*").await;
    let ask = Ask::get(NETWORK).bearer(token.reveal());
    server.send(&ask).await.is(404);
    tokio::time::advance(STALENESS).await;
    server.store.fail_at(0, Fault::Down);
    let answer = server.send(&ask).await.is(503);
    assert_eq!(answer.problem(), "unavailable");
    assert!(answer.headers.contains_key("retry-after"));
}

#[tokio::test]
async fn the_day_of_use_is_noted_once() {
    let server = Guarded::new();
    let (token, _) = server.token("ci", Role::Read, "*", "*").await;
    let ask = Ask::get(NETWORK).bearer(token.reveal());
    for _ in 0..5 {
        server.send(&ask).await.is(404);
    }
    while server.tokens.list().await.unwrap()[0].last_used.is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(server.tokens.list().await.unwrap()[0].last_used.as_deref(), Some("2026-03-01"));
    server.store.calls();
    server.send(&ask).await.is(404);
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(!server.store.calls().contains(&"put"));
}
