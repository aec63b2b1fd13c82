//! Servers in front of others.

use groundstate_testkit::{Authority, AzureServer, ConnectProxy, Fault, FaultProxy, S3Server};
use object_store::path::Path;
use object_store::{Error, ObjectStoreExt};

use crate::stores::check_all;
use crate::support::{choose_tls, http, s3_builder};

#[tokio::test(flavor = "multi_thread")]
async fn an_object_store_notices_no_proxy() {
    let server = S3Server::start().await;
    server.create_bucket("b");
    server.require_key("key", "secret");
    let proxy = FaultProxy::in_front_of(&server.endpoint());
    let client = s3_builder(&server).with_endpoint(proxy.endpoint()).build().unwrap();
    check_all(std::sync::Arc::new(client)).await;
    assert_eq!(proxy.traffic(), server.traffic());
}

#[tokio::test]
async fn a_server_that_keeps_sizes_only_counts_the_same_traffic() {
    let server = S3Server::start().await;
    server.create_bucket("b");
    let proxy = FaultProxy::in_front_of(&server.endpoint());
    proxy.keep_sizes_only();
    http().put(format!("{}/b/k", proxy.endpoint())).body("12345").send().await.unwrap();
    assert_eq!(server.object("b", "k").unwrap().bytes, "12345");
    assert_eq!(proxy.traffic(), server.traffic());
    assert_eq!(proxy.traffic().received, 5);
    let kept = |server: &groundstate_testkit::Server| server.requests()[0].body.len();
    assert_eq!((kept(&proxy), kept(&server)), (0, 5));
}

#[tokio::test]
async fn a_proxy_makes_the_same_faults_as_a_server() {
    for (fault, status, stored) in [
        (Fault::after_commit_500(), Some(500), true),
        (Fault::drop_before(), None, false),
        (Fault::drop_after_commit(), None, true),
        (Fault::unavailable(1), Some(503), false),
        (Fault::duplicate(), Some(412), true),
    ] {
        let name = format!("{fault:?}");
        let server = S3Server::start().await;
        server.create_bucket("b");
        let proxy = FaultProxy::in_front_of(&server.address().to_string());
        proxy.fault(fault.on("PUT", "/b/*"));
        let request = http().put(format!("{}/b/k", proxy.endpoint())).header("if-none-match", "*").body("x");
        let found = request.send().await.ok().map(|answer| answer.status().as_u16());
        assert_eq!((found, server.object("b", "k").is_some()), (status, stored), "{name}");
    }
}

#[tokio::test]
async fn a_proxy_in_front_of_nothing_closes_the_connection() {
    let gone = S3Server::start().await.address().to_string();
    let proxy = FaultProxy::in_front_of(&gone);
    assert!(http().get(proxy.endpoint()).send().await.is_err());
    assert_eq!(proxy.requests()[0].status, None);
}

#[tokio::test]
async fn an_answer_may_end_early_behind_a_proxy() {
    let server = S3Server::start().await;
    server.put_object("b", "k", vec![1; 50_000]);
    let proxy = FaultProxy::in_front_of(&server.endpoint());
    proxy.fault(Fault::cut_body(10).on("GET", "*"));
    let client = s3_builder(&server).with_endpoint(proxy.endpoint()).build().unwrap();
    let got = client.get(&Path::from("k")).await.unwrap().bytes().await;
    assert!(matches!(got, Err(Error::Generic { .. })), "{got:?}");
}

#[tokio::test]
async fn a_service_is_reached_under_its_own_name() {
    choose_tls();
    let authority = Authority::new();
    let certificate = authority.certificate(&["*.blob.core.windows.net"]);
    let azure = AzureServer::start_tls(&certificate);
    azure.put_blob("b", "k", "x");
    let proxy = ConnectProxy::to(azure.address());
    let client = reqwest::Client::builder()
        .proxy(reqwest::Proxy::https(proxy.endpoint()).unwrap())
        .tls_certs_only([reqwest::Certificate::from_pem(authority.pem().as_bytes()).unwrap()])
        .build()
        .unwrap();
    let url = "https://account.blob.core.windows.net/b/k";
    assert_eq!(client.get(url).send().await.unwrap().text().await.unwrap(), "x");
    assert_eq!(proxy.tunnels(), ["account.blob.core.windows.net:443"]);
    assert_eq!(azure.requests()[0].path, "/b/k");
    // No other program trusts the authority.
    let other = Authority::new();
    let distrustful = reqwest::Client::builder()
        .proxy(reqwest::Proxy::https(proxy.endpoint()).unwrap())
        .tls_certs_only([reqwest::Certificate::from_pem(other.pem().as_bytes()).unwrap()])
        .build()
        .unwrap();
    assert!(distrustful.get(url).send().await.is_err());
    // A faulty proxy may stand in between.
    let plain = AzureServer::start().await;
    let faulty = FaultProxy::tls_in_front_of(&plain.endpoint(), &certificate);
    assert!(faulty.endpoint().starts_with("https://"));
    let proxy = ConnectProxy::to(faulty.address());
    let client = reqwest::Client::builder()
        .proxy(reqwest::Proxy::https(proxy.endpoint()).unwrap())
        .tls_certs_only([reqwest::Certificate::from_pem(authority.pem().as_bytes()).unwrap()])
        .build()
        .unwrap();
    let answer = client.get(url).send().await.unwrap();
    assert_eq!(answer.headers()["x-ms-error-code"], "ContainerNotFound");
    assert_eq!(plain.count("GET", "/b/k"), 1);
}

#[tokio::test]
async fn what_is_no_tunnel_is_refused() {
    let server = S3Server::start().await;
    let proxy = ConnectProxy::to(server.address());
    assert_eq!(http().get(proxy.endpoint()).send().await.unwrap().status(), 405);
    assert_eq!(proxy.tunnels(), [""; 0]);
}
