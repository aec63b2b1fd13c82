//! What goes over the wire, compared with what was recorded from Terraform.

use bytes::Bytes;
use groundstate_statemgr::{ErrorKind, StateStore, WriteOptions};
use groundstate_statemgr_http::HttpConfig;
use groundstate_testkit::{Answer, HttpStateServer, Recorder};

use crate::support::{PATH, client, config, info, open, quick, sent, state};

/// What Terraform 1.11.4 sent for a plan, and the digest that went with it.
const RECORDED: &str = r#"{"ID":"d80b1ecd-9086-3145-7665-2913283f1c2c","Operation":"OperationTypePlan","Info":"","Who":"root@vm","Version":"1.11.4","Created":"2026-11-21T01:02:07.782867924Z","Path":""}"#;
const RECORDED_MD5: &str = "abX0CIw8s4mW5mcIA9qWow==";

#[tokio::test]
async fn a_lock_and_its_release_are_terraforms_byte_for_byte() {
    let server = HttpStateServer::start_blocking();
    let store = client(&server);
    let info = groundstate_statemgr::LockInfo {
        id: groundstate_statemgr::LockId::new("d80b1ecd-9086-3145-7665-2913283f1c2c"),
        operation: "OperationTypePlan".to_owned(),
        who: "root@vm".to_owned(),
        // Whatever another store has put there.
        path: "elsewhere".to_owned(),
        ..info("")
    };
    let grant = store.lock(&info).await.unwrap();
    store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
    store.unlock(&grant.id).await.unwrap();
    let requests = server.requests();
    assert_eq!(sent(&server), ["LOCK", "POST?ID=d80b1ecd-9086-3145-7665-2913283f1c2c", "UNLOCK"]);
    for request in [&requests[0], &requests[2]] {
        assert_eq!(std::str::from_utf8(&request.body), Ok(RECORDED));
        assert_eq!(request.header("content-md5"), Some(RECORDED_MD5));
        assert_eq!(request.header("content-type"), Some("application/json"));
        assert_eq!(request.header("content-length"), Some("175"));
        assert_eq!(request.header("accept-encoding"), Some("gzip"));
    }
}

#[tokio::test]
async fn only_writes_name_the_lock_and_only_while_it_is_held() {
    let server = HttpStateServer::start_blocking();
    let mut config = config(&server);
    config.address.push_str("?y=2&x=1");
    config.lock_address.as_mut().unwrap().push_str("?z=3");
    let store = open(&config);
    store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
    let grant = store.lock(&info("7")).await.unwrap();
    store.read().await.unwrap();
    store.write(Bytes::copy_from_slice(&state(2)), &WriteOptions::any()).await.unwrap();
    store.delete(&WriteOptions::any()).await.unwrap();
    store.unlock(&grant.id).await.unwrap();
    // Terraform still names the lock here.
    store.write(Bytes::copy_from_slice(&state(3)), &WriteOptions::any()).await.unwrap();
    assert_eq!(
        sent(&server),
        [
            "POST?y=2&x=1",
            "LOCK?z=3",
            "GET?y=2&x=1",
            "POST?ID=7&x=1&y=2",
            "DELETE?ID=7&x=1&y=2",
            "UNLOCK",
            "POST?y=2&x=1"
        ]
    );
    let upload = &server.requests()[3];
    assert_eq!(upload.body, state(2));
    assert_eq!(upload.header("content-type"), Some("application/json"));
    for request in server.requests().iter().filter(|request| request.method == "GET") {
        assert_eq!((request.header("content-type"), request.header("content-md5")), (None, None));
    }
}

#[tokio::test]
async fn verbs_addresses_and_headers_are_those_of_the_options() {
    let server = HttpStateServer::start_blocking();
    let mut config = config(&server);
    config.update_method = Some("PUT".to_owned());
    config.lock_method = Some("POST".to_owned());
    config.unlock_method = Some("DELETE".to_owned());
    let lock = format!("{}{PATH}/lock", server.endpoint());
    (config.lock_address, config.unlock_address) = (Some(lock.clone()), Some(lock));
    config.headers.insert("X-Token".to_owned(), "t0ken".to_owned());
    config.username = Some("ana".to_owned());
    config.password = Some("secret".to_owned());
    server.require_basic("ana", "secret");
    let store = open(&config);
    let grant = store.lock(&info("7")).await.unwrap();
    store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
    store.unlock(&grant.id).await.unwrap();
    assert_eq!(sent(&server), ["POST", "PUT?ID=7", "DELETE"]);
    for request in server.requests() {
        // With the first request already.
        assert_eq!(request.header("authorization"), Some("Basic YW5hOnNlY3JldA=="));
        assert_eq!(request.header("x-token"), Some("t0ken"));
    }
    assert_eq!(store.lock_name(), format!("{}{PATH}/lock", server.endpoint()));
}

#[tokio::test]
async fn four_answers_mean_that_there_is_no_state() {
    let empty = Answer::new(200).header("content-type", "application/json");
    for answer in
        [Answer::new(204), Answer::new(404), empty, Answer::new(200).header("content-encoding", "gzip")]
    {
        let server = Recorder::start(answer);
        assert_eq!(client(&server).read().await.unwrap(), None);
    }
}

#[tokio::test]
async fn each_status_has_its_kind() {
    for (method, status, kind) in [
        ("GET", 401, ErrorKind::Denied),
        ("GET", 403, ErrorKind::Denied),
        ("GET", 400, ErrorKind::Invalid),
        ("GET", 302, ErrorKind::Invalid),
        ("GET", 405, ErrorKind::Unsupported),
        ("POST", 401, ErrorKind::Denied),
        ("POST", 404, ErrorKind::NotFound),
        ("POST", 405, ErrorKind::Unsupported),
        ("POST", 409, ErrorKind::Conflict),
        ("POST", 413, ErrorKind::Invalid),
        ("POST", 423, ErrorKind::Locked),
        ("LOCK", 401, ErrorKind::Denied),
        ("LOCK", 404, ErrorKind::NotFound),
        ("LOCK", 405, ErrorKind::Unsupported),
        ("LOCK", 501, ErrorKind::Unsupported),
        ("LOCK", 409, ErrorKind::Locked),
        ("LOCK", 423, ErrorKind::Locked),
        ("LOCK", 400, ErrorKind::Invalid),
    ] {
        let server =
            Recorder::start(Answer::new(status).text("because of hunter2\u{7}").header("location", "/x"));
        let mut config = config(&server);
        config.password = Some("hunter2".to_owned());
        config.username = Some("ana".to_owned());
        let store = open(&config);
        let outcome = match method {
            "GET" => store.read().await.map(drop),
            "POST" => store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.map(drop),
            _ => store.lock(&info("7")).await.map(drop),
        };
        let error = outcome.unwrap_err();
        let text = error.to_string();
        assert_eq!(error.kind(), kind, "{method} {status}: {text}");
        assert!(!text.contains("hunter2") && !text.contains('\u{7}'), "{method} {status}: {text}");
        assert_eq!(server.requests().len(), 1, "{method} {status}: a decision is not asked for again");
        if kind != ErrorKind::Locked {
            let words = format!("the server answers {method} with {status}: because of …\\u0007");
            assert!(text.contains(&words), "{text}");
        }
    }
}

#[tokio::test]
async fn a_state_without_a_lock_address_is_written_without_one() {
    let server = HttpStateServer::start_blocking();
    let store = open(&quick(HttpConfig::new(format!("{}{PATH}", server.endpoint()))));
    assert!(!store.capabilities().locking && !store.capabilities().conditional_write);
    store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
    assert_eq!(store.lock(&info("7")).await.unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(sent(&server), ["POST"]);
}
