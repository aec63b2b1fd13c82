//! Redirects: two kinds are followed, and none takes credentials to another server.

use bytes::Bytes;
use groundstate_statemgr::{ErrorKind, StateStore, WriteOptions};
use groundstate_testkit::{Answer, Fault, HttpStateServer, Recorder};

use crate::support::{PATH, client, config, info, open, sent, state};

fn moved(status: u16, to: &str) -> Answer {
    Answer::new(status).header("location", to)
}

#[tokio::test]
async fn verb_and_body_go_along_with_307_and_308() {
    for status in [307, 308] {
        let server = HttpStateServer::start_blocking();
        let store = client(&server);
        for method in ["LOCK", "UNLOCK"] {
            server.fault(Fault::instead(moved(status, "/moved")).on(method, PATH));
        }
        server.fault(Fault::instead(moved(status, "/moved?ID=7")).on("POST", PATH));
        let grant = store.lock(&info("7")).await.unwrap();
        store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
        store.unlock(&grant.id).await.unwrap();
        assert_eq!(sent(&server), ["LOCK", "LOCK", "POST?ID=7", "POST?ID=7", "UNLOCK", "UNLOCK"]);
        let requests = server.requests();
        assert_eq!((requests[0].path.as_str(), requests[1].path.as_str()), (PATH, "/moved"));
        assert_eq!(requests[0].body, requests[1].body);
        assert_eq!(server.state("/moved").unwrap(), state(1));
    }
}

#[tokio::test]
async fn redirects_that_turn_a_request_into_another_are_refused() {
    for status in [300, 301, 302, 303, 304] {
        let thief = Recorder::start(Answer::new(200).body(state(1)));
        let server = Recorder::start(moved(status, &thief.endpoint()));
        let store = client(&server);
        let mut errors = vec![store.read().await.unwrap_err(), store.lock(&info("7")).await.unwrap_err()];
        errors.push(store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap_err());
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::Invalid, "{status}: {error}");
            assert!(error.to_string().contains("only 307 and 308"), "{status}: {error}");
        }
        assert_eq!(thief.requests().len(), 0);
    }
}

#[tokio::test]
async fn credentials_stay_with_the_server_that_they_are_for() {
    let other = HttpStateServer::start_blocking();
    let server = HttpStateServer::start_blocking();
    let mut config = config(&server);
    config.username = Some("ana".to_owned());
    config.password = Some("hunter2".to_owned());
    config.headers.insert("x-token".to_owned(), "hunter3".to_owned());
    let to = format!("{}/there", other.endpoint().replace("http://", "http://eve:pw@"));
    server.fault(Fault::instead(moved(307, &to)));
    let store = open(&config);
    store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
    assert_eq!(other.state("/there").unwrap(), state(1));
    let [request] = &other.requests()[..] else { panic!("{:?}", other.requests()) };
    assert_eq!((request.header("authorization"), request.header("x-token")), (None, None));
    // At the same server they go along.
    server.clear_faults();
    server.clear_requests();
    server.fault(Fault::instead(moved(308, "there")).on("*", PATH));
    store.read().await.unwrap();
    assert!(server.requests().iter().all(|request| request.header("authorization").is_some()));
}

#[tokio::test]
async fn redirects_in_circles_end() {
    let server = Recorder::start(moved(307, PATH));
    let error = client(&server).read().await.unwrap_err();
    assert!(
        error.kind() == ErrorKind::Invalid && error.to_string().contains("more than 10 times"),
        "{error}"
    );
    assert_eq!(server.requests().len(), 11, "once, and no attempt after it");
    for nowhere in ["http://", "ftp://h/", "http://[", "\u{e9}"] {
        let server = Recorder::start(moved(307, nowhere));
        assert_eq!(client(&server).read().await.unwrap_err().kind(), ErrorKind::Invalid, "{nowhere}");
    }
    // Without an address it is no redirect.
    let server = Recorder::start(Answer::new(307));
    assert_eq!(client(&server).read().await.unwrap_err().kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn a_distant_server_leads_to_no_service_of_this_machine() {
    let near = Recorder::start(Answer::new(200).body(state(1)));
    let server = Recorder::start(moved(307, &near.endpoint()));
    let mut config = config(&server);
    // An address of this machine that is not one of the loopback.
    config.address = format!("http://0.0.0.0:{}/", server.address().port());
    let error = open(&config).read().await.unwrap_err();
    assert!(error.to_string().contains("this machine"), "{error}");
    assert_eq!((server.requests().len(), near.requests().len()), (1, 0));
}
