//! Answers that get lost: what was done is found out, and nothing is done twice.

use bytes::Bytes;
use groundstate_statemgr::{ErrorKind, Expect, StateStore, WriteOptions};
use groundstate_testkit::{Answer, Fault, HttpStateServer};

use crate::support::{PATH, client, config, info, open, sent, state};

/// The ways in which an answer gets lost although the work is done.
fn losses() -> [Fault; 3] {
    [Fault::after_commit_500(), Fault::drop_after_commit(), Fault::after_commit(503, "later")]
}

#[tokio::test]
async fn a_lock_whose_answer_got_lost_is_ones_own() {
    for loss in losses() {
        let server = HttpStateServer::start_blocking();
        server.fault(loss.on("LOCK", "*").nth(1));
        let store = client(&server);
        let grant = store.lock(&info("7")).await.unwrap();
        assert_eq!(sent(&server), ["LOCK", "LOCK"]);
        store.unlock(&grant.id).await.unwrap();
        assert_eq!(server.lock_of(PATH), None);
    }
}

#[tokio::test]
async fn a_refusal_in_ones_own_name_is_a_grant() {
    for status in [409, 423] {
        let server = HttpStateServer::start_blocking();
        let store = client(&server);
        // A server that does not know the holder again.
        server.fault(Fault::instead(Answer::new(status).body(info("7").to_json())).on("LOCK", "*").times(1));
        let grant = store.lock(&info("7")).await.unwrap();
        assert_eq!((grant.id.as_str(), sent(&server)), ("7", vec!["LOCK".to_owned()]));
    }
}

#[tokio::test]
async fn a_lock_that_may_be_left_behind_is_named() {
    let server = HttpStateServer::start_blocking();
    server.fault(Fault::after_commit_500().on("LOCK", "*"));
    let error = client(&server).lock(&info("7")).await.unwrap_err();
    assert_eq!((error.kind(), sent(&server).len()), (ErrorKind::Ambiguous, 3));
    let text = error.to_string();
    assert!(text.contains("may be left behind") && text.contains("under the id 7"), "{text}");
    assert!(text.contains("after 3 attempts"), "{text}");
    // The refusal that follows a lost answer says nothing of whose it is.
    server.clear_faults();
    server.set_lock(PATH, None);
    server.hide_holders_behind("locked");
    server.fault(Fault::drop_after_commit().on("LOCK", "*").nth(1));
    server.fault(Fault::instead(Answer::new(423)).on("LOCK", "*").after(1));
    let error = client(&server).lock(&info("8")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Ambiguous, "{error}");
    // Nothing can be left where nothing was reached.
    let gone = HttpStateServer::start_blocking().endpoint();
    let nowhere = open(&crate::support::quick(groundstate_statemgr_http::HttpConfig::locked(gone)));
    assert_eq!(nowhere.lock(&info("9")).await.unwrap_err().kind(), ErrorKind::Unavailable);
}

#[tokio::test]
async fn a_write_whose_answer_got_lost_is_not_repeated() {
    for loss in losses() {
        let server = HttpStateServer::start_blocking();
        let store = client(&server);
        server.put_state(PATH, state(1));
        let grant = store.lock(&info("7")).await.unwrap();
        server.clear_requests();
        server.fault(loss.on("POST", "*").nth(1));
        let version = store.write(Bytes::copy_from_slice(&state(2)), &WriteOptions::any()).await.unwrap();
        assert_eq!(sent(&server), ["POST?ID=7", "GET"]);
        assert_eq!(store.read().await.unwrap().unwrap().version, version);
        store.unlock(&grant.id).await.unwrap();
    }
}

#[tokio::test]
async fn a_write_that_did_not_arrive_is_repeated_once_that_is_known() {
    for fault in [Fault::before_500(), Fault::drop_before(), Fault::throttle()] {
        let server = HttpStateServer::start_blocking();
        server.put_state(PATH, state(1));
        let store = client(&server);
        store.read().await.unwrap();
        server.clear_requests();
        server.fault(fault.on("POST", "*").nth(1));
        store.write(Bytes::copy_from_slice(&state(2)), &WriteOptions::any()).await.unwrap();
        assert_eq!(sent(&server), ["POST", "GET", "POST"]);
        assert_eq!(server.state(PATH).unwrap(), state(2));
    }
}

#[tokio::test]
async fn a_write_is_not_repeated_over_what_another_client_has_stored() {
    let server = HttpStateServer::start_blocking();
    server.put_state(PATH, state(1));
    let store = client(&server);
    store.read().await.unwrap();
    server.put_state(PATH, state(9));
    server.fault(Fault::before_500().on("POST", "*").nth(1));
    let error = store.write(Bytes::copy_from_slice(&state(2)), &WriteOptions::any()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert_eq!((server.state(PATH).unwrap(), server.count("POST", "*")), (state(9).into(), 1));
    // Without a look before, nothing tells the other's write from an earlier one.
    let blind = client(&server);
    server.clear_faults();
    server.fault(Fault::before_500().on("POST", "*").nth(1));
    let error = blind.write(Bytes::copy_from_slice(&state(2)), &WriteOptions::any()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Ambiguous, "{error}");
    assert_eq!((server.state(PATH).unwrap(), server.count("POST", "*")), (state(9).into(), 2));
}

#[tokio::test]
async fn a_write_that_cannot_be_looked_up_is_ambiguous() {
    let server = HttpStateServer::start_blocking();
    server.put_state(PATH, state(1));
    let store = client(&server);
    store.read().await.unwrap();
    server.fault(Fault::drop_after_commit());
    let error = store.write(Bytes::copy_from_slice(&state(2)), &WriteOptions::any()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Ambiguous, "{error}");
    assert_eq!(server.count("POST", "*"), 1);
}

#[tokio::test]
async fn a_2xx_that_promises_nothing_is_looked_up() {
    let server = HttpStateServer::start_flawed(groundstate_testkit::HttpFlaw::AcceptsUploadsForLater);
    client(&server).write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
    assert_eq!(sent(&server), ["POST", "GET"]);
    server.clear_requests();
    server.fault(Fault::instead(Answer::new(202)).on("POST", "*"));
    let store = client(&server);
    store.read().await.unwrap();
    let error = store.write(Bytes::copy_from_slice(&state(2)), &WriteOptions::any()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert_eq!(server.count("POST", "*"), 1);
}

#[tokio::test]
async fn a_refusal_after_a_lost_answer_is_looked_up() {
    let server = HttpStateServer::start_flawed(groundstate_testkit::HttpFlaw::RefusesRepeatedWrites);
    server.put_state(PATH, state(1));
    let store = client(&server);
    store.read().await.unwrap();
    server.fault(Fault::drop_after_commit().on("POST", "*").nth(1));
    // The look fails as well, and the second attempt is refused because the first one was carried out.
    server.fault(Fault::instead(Answer::new(200).body(state(1))).on("GET", "*").nth(1));
    store.write(Bytes::copy_from_slice(&state(2)), &WriteOptions::any()).await.unwrap();
    assert_eq!(sent(&server), ["GET", "POST", "GET", "POST", "GET"]);
}

#[tokio::test]
async fn a_release_whose_answer_got_lost_is_one() {
    for loss in losses() {
        let server = HttpStateServer::start_blocking();
        let (store, other) = (client(&server), client(&server));
        let grant = store.lock(&info("7")).await.unwrap();
        store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
        server.fault(loss.clone().on("UNLOCK", "*").nth(1));
        store.unlock(&grant.id).await.unwrap();
        assert_eq!(sent(&server), ["LOCK", "POST?ID=7", "UNLOCK", "UNLOCK"]);
        // Another client has the lock by the second attempt.
        let grant = store.lock(&info("8")).await.unwrap();
        server.clear_faults();
        server.fault(loss.on("UNLOCK", "*").nth(1));
        server.fault(Fault::instead(Answer::new(409).body(info("9").to_json())).on("UNLOCK", "*").nth(2));
        store.unlock(&grant.id).await.unwrap();
        other.lock(&info("9")).await.unwrap();
    }
}

#[tokio::test]
async fn a_deletion_is_repeated_and_may_find_nothing() {
    let server = HttpStateServer::start_blocking();
    server.put_state(PATH, state(1));
    server.fault(Fault::drop_after_commit().on("DELETE", "*").nth(1));
    client(&server).delete(&WriteOptions::any()).await.unwrap();
    assert_eq!((sent(&server), server.state(PATH)), (vec!["DELETE".to_owned(), "GET".to_owned()], None));
    server.fault(Fault::instead(Answer::new(404)).on("DELETE", "*"));
    client(&server).delete(&WriteOptions::any()).await.unwrap();
}

#[tokio::test]
async fn conditions_are_marks_of_the_server_and_survive_lost_answers() {
    for loss in losses() {
        let server = HttpStateServer::start_blocking();
        let mut config = config(&server);
        config.conditional_write = true;
        let store = open(&config);
        let first = store
            .write(Bytes::copy_from_slice(&state(1)), &WriteOptions::expecting(Expect::Absent))
            .await
            .unwrap();
        server.clear_requests();
        server.fault(loss.on("POST", "*").nth(1));
        let expect = WriteOptions::expecting(Expect::Version(first.clone()));
        store.write(Bytes::copy_from_slice(&state(2)), &expect).await.unwrap();
        assert_eq!(sent(&server), ["POST", "GET"]);
        let conflict = store.write(Bytes::copy_from_slice(&state(3)), &expect).await.unwrap_err();
        assert_eq!(conflict.kind(), ErrorKind::Conflict, "{conflict}");
        assert!(conflict.mismatch().unwrap().0.contains(first.as_str()), "{conflict}");
    }
}

#[tokio::test]
async fn the_same_content_under_another_mark_is_what_is_expected() {
    let server = HttpStateServer::start_blocking();
    let mut config = config(&server);
    config.conditional_write = true;
    let (store, other) = (open(&config), open(&config));
    let first = store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
    // The mark that this client knows is not in force any more, and the bytes are.
    server.fault(Fault::instead(Answer::new(412)).on("POST", "*").nth(1));
    store
        .write(Bytes::copy_from_slice(&state(2)), &WriteOptions::expecting(Expect::Version(first)))
        .await
        .unwrap();
    let second = other.read().await.unwrap().unwrap().version;
    other.delete(&WriteOptions::expecting(Expect::Version(second.clone()))).await.unwrap();
    let gone = store.delete(&WriteOptions::expecting(Expect::Version(second))).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::Conflict, "{gone}");
}

#[tokio::test]
async fn a_server_without_marks_has_no_conditions() {
    let server = HttpStateServer::start_blocking();
    let mut config = config(&server);
    config.conditional_write = true;
    server.fault(Fault::instead(Answer::new(200).body(state(1))).on("GET", "*"));
    let store = open(&config);
    let version = store.read().await.unwrap().unwrap().version;
    let refused = store
        .write(Bytes::copy_from_slice(&state(2)), &WriteOptions::expecting(Expect::Version(version)))
        .await
        .unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported, "{refused}");
    assert_eq!(server.count("POST", "*"), 0);
}
