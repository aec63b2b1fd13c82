//! The server of states by HTTP, as requests see it.

use groundstate_testkit::{HttpFlaw, HttpStateServer};
use reqwest::{Method, Response};

use crate::support::http;

const ONE: &str = r#"{"ID":"1","Operation":"test","Who":"ana@build"}"#;
const TWO: &str = r#"{"ID":"2"}"#;

async fn send(server: &HttpStateServer, method: &str, target: &str, body: &str) -> Response {
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    http()
        .request(method, format!("{}{target}", server.endpoint()))
        .body(body.to_owned())
        .send()
        .await
        .unwrap()
}

async fn status(server: &HttpStateServer, method: &str, target: &str, body: &str) -> u16 {
    send(server, method, target, body).await.status().as_u16()
}

#[tokio::test]
async fn states_are_written_by_the_holder_of_the_lock_and_by_no_other() {
    let server = HttpStateServer::start_blocking();
    assert_eq!(status(&server, "GET", "/a", "").await, 404);
    assert_eq!(status(&server, "POST", "/a", "{}").await, 200);
    for again in [ONE, ONE] {
        assert_eq!(status(&server, "LOCK", "/a", again).await, 200);
    }
    let refused = send(&server, "LOCK", "/a", TWO).await;
    assert_eq!((refused.status().as_u16(), refused.text().await.unwrap().as_str()), (423, ONE));
    for (target, expected) in [("/a", 423), ("/a?ID=2", 423), ("/a?ID=1", 200), ("/a?x=1&ID=1", 200)] {
        assert_eq!(status(&server, "POST", target, "[]").await, expected, "{target}");
    }
    assert_eq!(status(&server, "UNLOCK", "/a", TWO).await, 409);
    for again in [ONE, ONE] {
        assert_eq!(status(&server, "UNLOCK", "/a", again).await, 200);
    }
    assert_eq!(status(&server, "POST", "/a?ID=1", "{}").await, 409);
    assert_eq!(server.state("/a").as_deref(), Some(&b"[]"[..]));
    assert_eq!(status(&server, "DELETE", "/a", "").await, 200);
    assert_eq!(status(&server, "GET", "/a", "").await, 404);
    assert_eq!(status(&server, "PATCH", "/a", "").await, 405);
}

#[tokio::test]
async fn a_lock_below_the_state_is_the_same_lock() {
    let server = HttpStateServer::start_blocking();
    assert_eq!(status(&server, "POST", "/a/lock", ONE).await, 200);
    assert_eq!(server.lock_of("/a").as_deref(), Some(ONE));
    assert_eq!(status(&server, "PUT", "/a?ID=1", "{}").await, 200);
    assert_eq!(status(&server, "DELETE", "/a/lock", TWO).await, 409);
    assert_eq!(status(&server, "DELETE", "/a/lock", ONE).await, 200);
    assert_eq!(server.lock_of("/a"), None);
}

#[tokio::test]
async fn digests_conditions_and_credentials_are_checked() {
    let server = HttpStateServer::start_blocking();
    let post = |name: &'static str, value: &'static str| {
        let request = http().post(format!("{}/a", server.endpoint())).basic_auth("ana", Some("secret"));
        async move { request.header(name, value).body("{}").send().await.unwrap().status().as_u16() }
    };
    server.require_basic("ana", "secret");
    assert_eq!(status(&server, "GET", "/a", "").await, 401);
    assert_eq!(post("content-md5", "1B2M2Y8AsgTpgAmY7PhCfg==").await, 400);
    assert_eq!(post("content-md5", "mZFLkyvTelC5g8XnyQrpOw==").await, 200);
    assert_eq!(post("if-none-match", "*").await, 412);
    assert_eq!(post("if-match", "\"1\"").await, 412);
    assert_eq!(post("if-match", "\"99914b932bd37a50b983c5e7c90ae93b\"").await, 200);
}

#[tokio::test]
async fn a_flawed_server_has_its_flaw() {
    let server = HttpStateServer::start_flawed(HttpFlaw::GrantsEveryLock);
    for document in [ONE, TWO] {
        assert_eq!(status(&server, "LOCK", "/a", document).await, 200);
    }
    assert_eq!(server.lock_of("/a").as_deref(), Some(ONE));
}
