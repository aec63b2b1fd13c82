//! Servers with TLS: which are trusted, what is shown to them, and what never leaves without.

use bytes::Bytes;
use groundstate_statemgr::{ErrorKind, StateStore, WriteOptions};
use groundstate_statemgr_http::HttpConfig;
use groundstate_testkit::{Answer, Authority, Fault, HttpStateServer, Recorder};

use crate::support::{PATH, backend, info, open, quick, state};

fn config(server: &HttpStateServer, authority: Option<&Authority>) -> HttpConfig {
    let mut config =
        quick(HttpConfig::locked(format!("https://localhost:{}{PATH}", server.address().port())));
    config.client_ca_certificate_pem = authority.map(|authority| authority.pem().to_owned());
    config.username = Some("ana".to_owned());
    config.password = Some("secret".to_owned());
    config
}

#[tokio::test]
async fn a_server_is_trusted_by_its_authority_and_by_no_other() {
    let (authority, other) = (Authority::new(), Authority::new());
    let server = HttpStateServer::start_tls(&authority.certificate(&["localhost"]));
    open(&config(&server, Some(&authority)))
        .write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any())
        .await
        .unwrap();
    for wrong in [None, Some(&other)] {
        let error = open(&config(&server, wrong)).read().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.to_string().contains("client_ca_certificate_pem"), "{error}");
    }
    // Another host's certificate.
    let elsewhere = HttpStateServer::start_tls(&authority.certificate(&["state.example.com"]));
    assert_eq!(
        open(&config(&elsewhere, Some(&authority))).read().await.unwrap_err().kind(),
        ErrorKind::Invalid
    );
    assert_eq!(elsewhere.requests().len(), 0);
    let mut unchecked = config(&elsewhere, None);
    unchecked.skip_cert_verification = true;
    assert_eq!(open(&unchecked).read().await.unwrap(), None);
    assert!(backend(&unchecked).warnings().join("\n").contains("skip_cert_verification"));
}

#[tokio::test]
async fn a_server_that_asks_for_a_certificate_gets_the_one_of_the_options() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let server = HttpStateServer::start_mutual_tls(&authority.certificate(&["localhost"]), &clients);
    let error = open(&config(&server, Some(&authority))).read().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Unavailable), "{error}");
    let shown = clients.certificate(&["ana"]);
    let mut with = config(&server, Some(&authority));
    with.client_certificate_pem = Some(shown.pem().to_owned());
    with.client_private_key_pem = Some(shown.key_pem().to_owned());
    let store = open(&with);
    let grant = store.lock(&info("7")).await.unwrap();
    store.unlock(&grant.id).await.unwrap();
    // It is for this server.
    let other = Recorder::start(Answer::new(200));
    server.fault(Fault::instead(Answer::new(307).header("location", "https://127.0.0.1:1/")));
    let error = store.read().await.unwrap_err();
    assert!(error.to_string().contains("the client certificate is for another server"), "{error}");
    drop(other);
}

#[tokio::test]
async fn no_redirect_leads_out_of_tls() {
    let authority = Authority::new();
    let plain = Recorder::start(Answer::new(200).body(state(1)));
    let server = HttpStateServer::start_tls(&authority.certificate(&["localhost"]));
    server.fault(Fault::instead(Answer::new(307).header("location", plain.endpoint())));
    let error = open(&config(&server, Some(&authority))).read().await.unwrap_err();
    assert!(error.to_string().contains("without TLS"), "{error}");
    assert_eq!(plain.requests().len(), 0);
}

#[tokio::test]
async fn credentials_do_not_leave_by_plain_http() {
    let server = HttpStateServer::start_blocking();
    // An address of this machine that is not one of the loopback.
    let address = format!("http://0.0.0.0:{}{PATH}", server.address().port());
    let mut basic = quick(HttpConfig::locked(&address));
    basic.username = Some("ana".to_owned());
    let mut header = quick(HttpConfig::locked(&address));
    header.headers.insert("x-token".to_owned(), "secret".to_owned());
    for config in [&mut basic, &mut header] {
        let error = open(config).read().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.to_string().contains("GROUNDSTATE_ALLOW_PLAIN_HTTP"), "{error}");
        assert_eq!(server.requests().len(), 0);
        config.allow_plain_http = true;
        open(config).read().await.unwrap();
        server.clear_requests();
    }
    let plain = quick(HttpConfig::locked(&address));
    open(&plain).read().await.unwrap();
    assert!(backend(&plain).warnings()[0].contains("not encrypted"));
}
