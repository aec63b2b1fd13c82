//! Locks of other programs, refusals that say little, and releases.

use std::time::Duration;

use bytes::Bytes;
use groundstate_statemgr::{ErrorKind, LockId, StateStore, WriteOptions};
use groundstate_testkit::{Answer, Fault, HttpFlaw, HttpStateServer};

use crate::support::{PATH, client, info, sent, state};

/// As Terraform leaves it.
const ALICE: &str = r#"{"ID":"11111111-2222-3333-4444-555555555555","Operation":"OperationTypeApply","Info":"","Who":"alice@ci","Version":"1.11.4","Created":"2026-01-02T03:04:05.678901234Z","Path":""}"#;

#[tokio::test]
async fn the_holder_is_shown_from_409_and_from_423() {
    for status in [409, 423] {
        let server = HttpStateServer::start_blocking();
        server.refuse_locks_with(status);
        server.set_lock(PATH, Some(ALICE));
        let store = client(&server);
        let refused = store.lock(&info("7")).await.unwrap_err();
        let holder = refused.holder().unwrap();
        assert_eq!((refused.kind(), holder.info.who.as_str()), (ErrorKind::Locked, "alice@ci"));
        assert_eq!(holder.id.as_str(), "11111111-2222-3333-4444-555555555555");
        assert_eq!(store.lock_holder().await.unwrap().unwrap().info.operation, "OperationTypeApply");
        assert_eq!(server.lock_of(PATH).as_deref(), Some(ALICE));
    }
}

#[tokio::test]
async fn a_refusal_that_names_no_holder_is_a_lock_all_the_same() {
    for text in ["", "locked", "<html>423</html>", "null", "{\"lock\":{\"ID\":\"1\"}}"] {
        let server = HttpStateServer::start_blocking();
        server.hide_holders_behind(text);
        server.set_lock(PATH, Some(ALICE));
        let store = client(&server);
        let refused = store.lock(&info("7")).await.unwrap_err();
        assert!(refused.kind() == ErrorKind::Locked && refused.retriable(), "{text}: {refused}");
        assert!(refused.holder().is_none(), "{text}");
        let holder = store.lock_holder().await.unwrap().unwrap();
        assert!(!holder.documented && holder.id.is_empty(), "{text}");
        // The server compares the id where the client cannot.
        let wrong = store.force_unlock(&LockId::new("wrong")).await.unwrap_err();
        assert_eq!(wrong.kind(), ErrorKind::Locked, "{text}: {wrong}");
        assert_eq!(store.force_unlock(&LockId::new("")).await.unwrap_err().kind(), ErrorKind::Invalid);
        store.force_unlock(&LockId::new("11111111-2222-3333-4444-555555555555")).await.unwrap();
        assert_eq!(server.lock_of(PATH), None);
    }
}

#[tokio::test]
async fn a_release_by_force_sends_what_opentofu_sends() {
    let server = HttpStateServer::start_blocking();
    server.set_lock(PATH, Some(ALICE));
    let id = LockId::new("11111111-2222-3333-4444-555555555555");
    client(&server).force_unlock(&id).await.unwrap();
    let release = server.requests().pop().unwrap();
    assert_eq!(
        (release.method.as_str(), std::str::from_utf8(&release.body).unwrap()),
        (
            "UNLOCK",
            r#"{"ID":"11111111-2222-3333-4444-555555555555","Operation":"","Info":"","Who":"","Version":"","Created":"0001-01-01T00:00:00Z","Path":""}"#
        )
    );
}

#[tokio::test]
async fn a_server_that_compares_whole_documents_gets_the_holders() {
    let id = LockId::new("11111111-2222-3333-4444-555555555555");
    let server = HttpStateServer::start_blocking();
    server.set_lock(PATH, Some(ALICE));
    server.fault(Fault::instead(Answer::new(400)).on("UNLOCK", "*").times(1));
    client(&server).force_unlock(&id).await.unwrap();
    let released = server.requests().pop().unwrap();
    assert_eq!((std::str::from_utf8(&released.body).unwrap(), server.lock_of(PATH)), (ALICE, None));
    // One that refuses both says so once.
    server.set_lock(PATH, Some(ALICE));
    server.fault(Fault::instead(Answer::new(400)).on("UNLOCK", "*"));
    let refused = client(&server).force_unlock(&id).await.unwrap_err();
    assert_eq!((refused.kind(), server.lock_of(PATH).as_deref()), (ErrorKind::Invalid, Some(ALICE)));
}

#[tokio::test]
async fn a_server_that_compares_no_ids_frees_no_other_lock_for_this_client() {
    let server = HttpStateServer::start_flawed(HttpFlaw::ReleasesAnyId);
    server.set_lock(PATH, Some(ALICE));
    let store = client(&server);
    for id in ["wrong", ""] {
        let refused = store.force_unlock(&LockId::new(id)).await.unwrap_err();
        assert_eq!(refused.holder().unwrap().info.who, "alice@ci");
        assert_eq!(store.unlock(&LockId::new(id)).await.unwrap_err().kind(), ErrorKind::Locked);
    }
    assert_eq!((server.count("UNLOCK", "*"), server.lock_of(PATH).as_deref()), (0, Some(ALICE)));
}

#[tokio::test]
async fn looking_for_the_holder_leaves_a_free_lock_free_and_a_held_one_held() {
    let server = HttpStateServer::start_blocking();
    let (ours, other) = (client(&server), client(&server));
    assert_eq!(ours.lock_holder().await.unwrap(), None);
    assert_eq!((sent(&server), server.lock_of(PATH)), (vec!["LOCK".to_owned(), "UNLOCK".to_owned()], None));
    let grant = ours.lock(&info("7")).await.unwrap();
    for store in [&ours, &other] {
        assert_eq!(store.lock_holder().await.unwrap().unwrap().id, grant.id);
    }
    assert_eq!(server.count("UNLOCK", "*"), 1);
    // The one who looks says so to whom it is in the way of.
    ours.unlock(&grant.id).await.unwrap();
    let looked: String = String::from_utf8(server.requests()[0].body.to_vec()).unwrap();
    server.set_lock(PATH, Some(&looked));
    let refused = ours.lock(&info("8")).await.unwrap_err();
    assert!(refused.retriable_at_once(), "{refused}");
    // It has gone when the lock is asked for again.
    let release = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        server.set_lock(PATH, None);
    };
    let info_of_8 = info("8");
    let (grant, ()) = tokio::join!(ours.lock(&info_of_8), release);
    ours.unlock(&grant.unwrap().id).await.unwrap();
    // One that was left by a process which was killed is a lock like any other.
    let old = looked.replace("\"Created\":\"20", "\"Created\":\"19");
    server.set_lock(PATH, Some(&old));
    let refused = ours.lock(&info("8")).await.unwrap_err();
    assert_eq!(refused.holder().unwrap().info.operation, "groundstate-locks");
}

#[tokio::test]
async fn a_lock_that_was_broken_is_noticed_by_the_write_and_by_the_release() {
    let server = HttpStateServer::start_blocking();
    let store = client(&server);
    let grant = store.lock(&info("7")).await.unwrap();
    store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
    server.set_lock(PATH, Some(ALICE));
    let refused = store.write(Bytes::copy_from_slice(&state(2)), &WriteOptions::any()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::LockLost, "{refused}");
    assert!(refused.to_string().contains("alice@ci"), "{refused}");
    assert_eq!(server.state(PATH).unwrap(), state(1));
    let lost = store.unlock(&grant.id).await.unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::LockLost, "{lost}");
    assert_eq!(server.lock_of(PATH).as_deref(), Some(ALICE));
    // Afterwards it is another client's lock and nothing more.
    assert_eq!(store.unlock(&grant.id).await.unwrap_err().kind(), ErrorKind::Locked);
    server.set_lock(PATH, None);
    let stale = client(&server);
    stale.lock(&info("8")).await.unwrap();
    server.set_lock(PATH, None);
    let refused = stale.write(Bytes::copy_from_slice(&state(2)), &WriteOptions::any()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    assert!(refused.to_string().contains("the lock was lost"), "{refused}");
}

#[tokio::test]
async fn a_lock_that_was_broken_before_anything_was_written_is_noticed_by_the_release() {
    for now in [None, Some(ALICE)] {
        let server = HttpStateServer::start_blocking();
        let store = client(&server);
        let grant = store.lock(&info("7")).await.unwrap();
        server.set_lock(PATH, now);
        let lost = store.unlock(&grant.id).await.unwrap_err();
        assert_eq!(lost.kind(), ErrorKind::LockLost, "{lost}");
        assert_eq!(server.lock_of(PATH).as_deref(), now);
        // A server that does not say who holds the lock is asked for the release alone.
        let store = client(&server);
        server.set_lock(PATH, None);
        let grant = store.lock(&info("8")).await.unwrap();
        server.hide_holders_behind("locked");
        store.unlock(&grant.id).await.unwrap();
    }
}

#[tokio::test]
async fn a_release_that_is_answered_with_another_2xx_is_one() {
    for status in [201, 202, 204] {
        let server = HttpStateServer::start_blocking();
        let store = client(&server);
        let grant = store.lock(&info("7")).await.unwrap();
        store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
        server.fault(Fault::after_commit(status, "done").on("UNLOCK", "*"));
        store.unlock(&grant.id).await.unwrap();
        store.write(Bytes::copy_from_slice(&state(2)), &WriteOptions::any()).await.unwrap();
        assert_eq!(sent(&server), ["LOCK", "POST?ID=7", "UNLOCK", "POST"]);
    }
}

#[tokio::test]
async fn a_lock_that_is_granted_by_another_2xx_is_given_back() {
    let server = HttpStateServer::start_flawed(HttpFlaw::GrantsWith201);
    let refused = client(&server).lock(&info("7")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid, "{refused}");
    assert!(
        refused.to_string().contains("with 201") && refused.to_string().contains("only 200"),
        "{refused}"
    );
    assert_eq!((sent(&server), server.lock_of(PATH)), (vec!["LOCK".to_owned(), "UNLOCK".to_owned()], None));
    // Where it cannot be given back, its id is named.
    server.fault(Fault::instead(Answer::new(403)).on("UNLOCK", "*"));
    let left = client(&server).lock(&info("8")).await.unwrap_err();
    assert_eq!(left.kind(), ErrorKind::Ambiguous, "{left}");
    assert!(left.to_string().contains("under the id 8"), "{left}");
}

#[tokio::test]
async fn a_client_does_not_take_its_own_lock_twice() {
    let server = HttpStateServer::start_blocking();
    let store = client(&server);
    store.lock(&info("7")).await.unwrap();
    let again = store.lock(&info("7")).await.unwrap_err();
    assert_eq!((again.kind(), again.holder().unwrap().id.as_str()), (ErrorKind::Locked, "7"));
    // If it was broken meanwhile, it is taken anew.
    server.set_lock(PATH, None);
    store.lock(&info("7")).await.unwrap();
    assert!(server.lock_of(PATH).is_some());
    assert_eq!(store.lock(&info("")).await.unwrap_err().kind(), ErrorKind::Invalid);
}
