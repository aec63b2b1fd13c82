//! Locks by object, by row and by both.

use bytes::Bytes;
use groundstate_statemgr::{
    ErrorKind, Exclusion, Expect, LockId, LockInfo, StateStore, WorkspaceName, WriteOptions,
};
use groundstate_statemgr_object::{S3Backend, S3Layout, S3Options};
use groundstate_testkit::Fault;

use crate::s3::support::{BUCKET, Cloud, KEY, Locks, TABLE, info, state};

const LOCK: &str = "/states/network/prod.tfstate.tflock";

#[tokio::test]
async fn the_lock_object_stands_beside_the_state_and_names_its_path() {
    let cloud = Cloud::new();
    let backend = cloud.backend(Locks::File.options());
    for (workspace, key) in [("default", format!("{KEY}.tflock")), ("dev", format!("env:/dev/{KEY}.tflock"))]
    {
        let store = backend.open(&WorkspaceName::parse(workspace).unwrap()).unwrap();
        let asked = info("OperationTypeApply");
        let grant = store.lock(&asked).await.unwrap();
        let found = cloud.server.object(BUCKET, &key).unwrap();
        let document = LockInfo::parse(&found.bytes).unwrap();
        // The path is that of the state, as in the original, never that of the lock.
        assert_eq!(document.path, format!("{BUCKET}/{}", key.trim_end_matches(".tflock")));
        assert_eq!((document.id, document.who), (asked.id, "me@here".to_owned()));
        store.unlock(&grant.id).await.unwrap();
        assert_eq!(cloud.server.keys(BUCKET), [""; 0]);
    }
}

#[tokio::test]
async fn force_unlock_needs_the_right_id() {
    for locks in Locks::LOCKING {
        let cloud = Cloud::new();
        let (holder, other) = (cloud.store(locks), cloud.store(locks));
        let grant = holder.lock(&info("a")).await.unwrap();
        let error = other.force_unlock(&LockId::new("wrong")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Locked, "{locks:?}: {error}");
        assert_eq!(error.holder().unwrap().id, grant.id);
        assert!(cloud.is_locked());
        other.force_unlock(&grant.id).await.unwrap();
        assert!(!cloud.is_locked());
    }
}

/// The peer frees the lock with its own means, which leave nothing behind.
fn forced_by_a_peer(cloud: &Cloud) {
    cloud.server.remove_object(BUCKET, &format!("{KEY}.tflock"));
    cloud.server.remove_item(TABLE, &format!("{BUCKET}/{KEY}"));
}

#[tokio::test]
async fn a_lock_that_another_program_broke_is_lost() {
    for locks in Locks::LOCKING {
        let cloud = Cloud::new();
        let store = cloud.store(locks);
        let grant = store.lock(&info("a")).await.unwrap();
        let version = store
            .write(Bytes::copy_from_slice(&state(1)), &WriteOptions::expecting(Expect::Absent))
            .await
            .unwrap();
        forced_by_a_peer(&cloud);
        let expecting = WriteOptions::expecting(Expect::Version(version));
        let error = store.write(Bytes::copy_from_slice(&state(2)), &expecting).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LockLost, "{locks:?}: {error}");
        assert_eq!(store.delete(&expecting).await.unwrap_err().kind(), ErrorKind::LockLost);
        assert_eq!(cloud.state(), Some(state(1)));
        let error = store.unlock(&grant.id).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LockLost, "{error}");
        // From here on the client holds nothing, and writes like anybody.
        store.write(Bytes::copy_from_slice(&state(2)), &expecting).await.unwrap();
    }
}

#[tokio::test]
async fn a_lock_that_went_to_another_client_is_lost_and_stays_its_own() {
    for locks in Locks::LOCKING {
        let cloud = Cloud::new();
        let (mine, theirs) = (cloud.store(locks), cloud.store(locks));
        let grant = mine.lock(&info("mine")).await.unwrap();
        forced_by_a_peer(&cloud);
        let other = theirs.lock(&info("theirs")).await.unwrap();
        assert_eq!(
            mine.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap_err().kind(),
            ErrorKind::LockLost
        );
        let error = mine.unlock(&grant.id).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LockLost, "{locks:?}: {error}");
        assert_eq!(mine.lock_holder().await.unwrap().unwrap().id, other.id);
        theirs.unlock(&other.id).await.unwrap();
    }
}

#[tokio::test]
async fn a_lock_whose_taker_is_told_of_an_error_is_held_once() {
    lost_lock(Fault::after_commit_500).await;
}

#[tokio::test]
async fn a_lock_whose_answer_is_lost_is_held_once() {
    lost_lock(Fault::drop_after_commit).await;
}

/// The lock is taken and its taker is not told: it finds out by its own id, and there is one lock.
async fn lost_lock(fault: fn() -> Fault) {
    for (locks, path) in [(Locks::File, LOCK), (Locks::Row, "/"), (Locks::Both, LOCK), (Locks::Both, "/")] {
        let cloud = Cloud::new();
        let store = cloud.store(locks);
        cloud.server.fault(fault().on("*", path).nth(1));
        let grant = store.lock(&info("a")).await.unwrap();
        assert!(cloud.is_locked());
        assert_eq!(cloud.store(locks).lock(&info("b")).await.unwrap_err().kind(), ErrorKind::Locked);
        store.unlock(&grant.id).await.unwrap();
        assert!(!cloud.is_locked(), "{locks:?} {path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_64_racers_gets_the_lock() {
    for locks in Locks::LOCKING {
        let cloud = Cloud::new();
        let mut racers = Vec::new();
        for _ in 0..64 {
            let store = cloud.store(locks);
            racers.push(tokio::spawn(async move { store.lock(&info("race")).await }));
        }
        let mut winners = Vec::new();
        for racer in racers {
            match racer.await.unwrap() {
                Ok(grant) => winners.push(grant.id),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Locked, "{error}"),
            }
        }
        assert_eq!(winners.len(), 1, "{locks:?}");
        cloud.store(locks).force_unlock(&winners[0]).await.unwrap();
        assert!(!cloud.is_locked());
    }
}

#[tokio::test]
async fn unlock_leaves_a_lock_that_another_client_took_meanwhile() {
    let cloud = Cloud::new();
    let store = cloud.store(Locks::File);
    let grant = store.lock(&info("mine")).await.unwrap();
    // The deletion waits, and meanwhile the lock is broken and taken by another client.
    cloud.server.fault(Fault::delay(std::time::Duration::from_millis(300)).on("DELETE", LOCK).nth(1));
    let theirs = info("theirs");
    let swap = async {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        cloud.server.put_object(BUCKET, &format!("{KEY}.tflock"), theirs.to_json());
    };
    let (error, ()) = tokio::join!(store.unlock(&grant.id), swap);
    assert_eq!(error.unwrap_err().kind(), ErrorKind::LockLost);
    assert_eq!(cloud.lock_object().unwrap().id, theirs.id);
}

#[tokio::test]
async fn a_lock_of_terraform_in_the_table_is_respected() {
    let cloud = Cloud::new();
    let peer = info("OperationTypePlan");
    cloud.server.put_item(TABLE, &format!("{BUCKET}/{KEY}"), &[("Info", &peer.to_json())]);
    let error = cloud.store(Locks::Row).lock(&info("a")).await.unwrap_err();
    assert_eq!((error.kind(), &error.holder().unwrap().id), (ErrorKind::Locked, &peer.id));
    assert!(error.to_string().contains("OperationTypePlan"), "{error}");
}

#[tokio::test]
async fn a_refused_row_removes_the_lock_object() {
    let cloud = Cloud::new();
    let peer = info("peer");
    cloud.server.put_item(TABLE, &format!("{BUCKET}/{KEY}"), &[("Info", &peer.to_json())]);
    let error = cloud.store(Locks::Both).lock(&info("a")).await.unwrap_err();
    assert_eq!((error.kind(), &error.holder().unwrap().id), (ErrorKind::Locked, &peer.id));
    assert_eq!(cloud.lock_object(), None);
    assert_eq!(cloud.lock_row().unwrap().id, peer.id);
}

#[tokio::test]
async fn the_object_is_locked_before_the_row_and_released_after_it() {
    let cloud = Cloud::new();
    let store = cloud.store(Locks::Both);
    let grant = store.lock(&info("a")).await.unwrap();
    store.unlock(&grant.id).await.unwrap();
    let seen: Vec<String> = cloud
        .server
        .requests()
        .iter()
        .map(|request| format!("{} {}", request.method, request.path))
        .collect();
    let (put, get, delete) = (format!("PUT {LOCK}"), format!("GET {LOCK}"), format!("DELETE {LOCK}"));
    assert_eq!(seen, [put.as_str(), "POST /", "POST /", &get, &delete]);
}

#[tokio::test]
async fn half_a_lock_is_seen_and_freed() {
    for (object, row) in [(true, false), (false, true)] {
        let cloud = Cloud::new();
        let left = info("left behind");
        if object {
            cloud.server.put_object(BUCKET, &format!("{KEY}.tflock"), left.to_json());
        }
        if row {
            cloud.server.put_item(TABLE, &format!("{BUCKET}/{KEY}"), &[("Info", &left.to_json())]);
        }
        let backend = cloud.backend(Locks::Both.options());
        let found = backend.locks(&WorkspaceName::default_name()).await.unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        let store = backend.open(&WorkspaceName::default_name()).unwrap();
        assert_eq!(store.lock_holder().await.unwrap().unwrap().id, left.id);
        assert_eq!(store.lock(&info("a")).await.unwrap_err().kind(), ErrorKind::Locked);
        store.force_unlock(&left.id).await.unwrap();
        assert!(!cloud.is_locked());
        assert_eq!(backend.locks(&WorkspaceName::default_name()).await.unwrap(), []);
    }
}

#[tokio::test]
async fn unreadable_locks_are_seen_and_freed() {
    for locks in [Locks::File, Locks::Row] {
        for document in ["", "garbage", "{\"Who\":\"\"}"] {
            let cloud = Cloud::new();
            match locks {
                Locks::File => cloud.server.put_object(BUCKET, &format!("{KEY}.tflock"), document),
                _ if document.is_empty() => cloud.server.put_item(TABLE, &format!("{BUCKET}/{KEY}"), &[]),
                _ => cloud.server.put_item(TABLE, &format!("{BUCKET}/{KEY}"), &[("Info", document)]),
            }
            let store = cloud.store(locks);
            let error = store.lock(&info("a")).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Locked, "{error}");
            let id = error.holder().unwrap().id.clone();
            assert!(error.to_string().contains(id.as_str()), "{error}");
            assert_eq!(store.force_unlock(&LockId::new("")).await.unwrap_err().kind(), ErrorKind::Locked);
            store.force_unlock(&id).await.unwrap();
            assert!(!cloud.is_locked(), "{locks:?} {document:?}");
        }
    }
}

#[tokio::test]
async fn the_row_holds_the_document_as_terraform_writes_it() {
    let cloud = Cloud::new();
    let mut asked = info("OperationTypeApply");
    asked.info = "a<b>&\u{2028}\t\"é".to_owned();
    let grant = cloud.store(Locks::Row).lock(&asked).await.unwrap();
    let expected = format!(
        "{{\"ID\":\"{}\",\"Operation\":\"OperationTypeApply\",\"Info\":\"a\\u003cb\\u003e\\u0026\\u2028\\t\\\"é\",\"Who\":\"me@here\",\
         \"Version\":\"1.11.4\",\"Created\":\"2026-11-21T00:00:00.5Z\",\"Path\":\"{BUCKET}/{KEY}\"}}",
        grant.id
    );
    assert_eq!(cloud.attribute(&format!("{BUCKET}/{KEY}"), "Info").unwrap(), expected);
}

#[tokio::test]
async fn rows_of_any_spelling_are_released() {
    let cloud = Cloud::new();
    // As no encoder of the originals would write it.
    let text = "{ \"Created\":\"2026-11-21T00:00:00.500Z\", \"id\":\"1\", \"extra\":1 }";
    cloud.server.put_item(TABLE, &format!("{BUCKET}/{KEY}"), &[("Info", text)]);
    cloud.store(Locks::Row).force_unlock(&LockId::new("1")).await.unwrap();
    assert!(!cloud.is_locked());
}

#[tokio::test]
async fn strict_locks_respect_the_other_mechanism() {
    let strict_row = Locks::Row.options().strict(true);
    let strict_file = Locks::File.options().strict_table(TABLE);
    let open = |cloud: &Cloud, options: &S3Options| {
        cloud.backend(options.clone()).open(&WorkspaceName::default_name()).unwrap()
    };
    for (ours, theirs) in [(&strict_row, Locks::File), (&strict_file, Locks::Row)] {
        let cloud = Cloud::new();
        let (store, peer) = (open(&cloud, ours), cloud.store(theirs));
        let held = peer.lock(&info("peer")).await.unwrap();
        let error = store.lock(&info("a")).await.unwrap_err();
        assert_eq!((error.kind(), &error.holder().unwrap().id), (ErrorKind::Locked, &held.id));
        assert!(error.to_string().contains("another mechanism"), "{error}");
        // What is shown as the holder can be freed, too.
        assert_eq!(store.lock_holder().await.unwrap().unwrap().id, held.id);
        store.force_unlock(&held.id).await.unwrap();
        let grant = store.lock(&info("a")).await.unwrap();
        store.unlock(&grant.id).await.unwrap();
        assert!(!cloud.is_locked());
    }
    // Two that both look never both get through.
    let cloud = Cloud::new();
    let first = open(&cloud, &strict_row).lock(&info("row")).await.unwrap();
    assert_eq!(open(&cloud, &strict_file).lock(&info("file")).await.unwrap_err().kind(), ErrorKind::Locked);
    assert_eq!((cloud.lock_object(), cloud.lock_row().map(|info| info.id)), (None, Some(first.id)));
}

#[tokio::test]
async fn a_place_without_a_lock_respects_and_shows_those_of_others() {
    let look = S3Options::new().look(true);
    let look_at_both = S3Options::new().look(true).strict_table(TABLE);
    for (ours, theirs) in [(&look, Locks::File), (&look_at_both, Locks::File), (&look_at_both, Locks::Row)] {
        let cloud = Cloud::new();
        let backend = cloud.backend(ours.clone());
        let open = || backend.open(&WorkspaceName::default_name()).unwrap();
        let (store, peer) = (open(), cloud.store(theirs));
        assert_eq!(store.capabilities().exclusion, Exclusion::Look);
        let held = peer.lock(&info("peer")).await.unwrap();
        let error = store.lock(&info("a")).await.unwrap_err();
        assert_eq!((error.kind(), &error.holder().unwrap().id), (ErrorKind::Locked, &held.id));
        assert_eq!(store.lock_holder().await.unwrap().unwrap().id, held.id);
        assert_eq!(backend.locks(&WorkspaceName::default_name()).await.unwrap()[0].holder.id, held.id);
        let other = LockId::new("other");
        assert_eq!(store.force_unlock(&other).await.unwrap_err().kind(), ErrorKind::Locked);
        store.force_unlock(&held.id).await.unwrap();
        assert_eq!(store.force_unlock(&held.id).await.unwrap_err().kind(), ErrorKind::NotFound);

        // A lock that is taken meanwhile is noticed before a write, and at the end.
        let grant = store.lock(&info("a")).await.unwrap();
        assert!(!cloud.is_locked(), "nothing is locked");
        let held = peer.lock(&info("peer")).await.unwrap();
        let written = store.write(state(1).into(), &WriteOptions::any()).await.unwrap_err();
        assert_eq!((written.kind(), cloud.state()), (ErrorKind::LockLost, None));
        assert_eq!(store.unlock(&grant.id).await.unwrap_err().kind(), ErrorKind::LockLost);
        peer.unlock(&held.id).await.unwrap();

        let store = open();
        let grant = store.lock(&info("a")).await.unwrap();
        store.write(state(1).into(), &WriteOptions::any()).await.unwrap();
        store.unlock(&grant.id).await.unwrap();
    }
    assert_eq!(Cloud::new().store(Locks::None).capabilities().exclusion, Exclusion::None);
}

#[tokio::test]
async fn a_conflicting_request_for_a_lock_is_sent_again() {
    let cloud = Cloud::new();
    let store = cloud.store(Locks::File);
    cloud.server.fault(Fault::conflict().on("PUT", LOCK).nth(1));
    let grant = store.lock(&info("a")).await.unwrap();
    store.unlock(&grant.id).await.unwrap();
    assert!(!cloud.is_locked());
}

#[tokio::test]
async fn a_lock_given_up_while_it_is_asked_for_is_held_under_its_id_or_free() {
    let cloud = Cloud::new();
    let asked = info("a");
    cloud.server.fault(Fault::delay_answer(std::time::Duration::from_millis(200)).on("PUT", LOCK).nth(1));
    let store = cloud.store(Locks::File);
    let waited = tokio::time::timeout(std::time::Duration::from_millis(100), store.lock(&asked)).await;
    assert!(waited.is_err());
    let holder = store.lock_holder().await.unwrap().unwrap();
    assert_eq!(holder.id, asked.id);
    // The same document again is the same lock.
    assert_eq!(store.lock(&asked).await.unwrap().id, asked.id);
    store.unlock(&asked.id).await.unwrap();
    assert!(!cloud.is_locked());
}

// What the layout makes of such keys is tested with it.
#[tokio::test]
async fn odd_keys_have_locks_of_their_own() {
    let cloud = Cloud::new();
    let key = "a~b c/é+%.tfstate";
    let backend: S3Backend = cloud.backend_at(S3Layout::new(key).unwrap(), Locks::Both.options());
    let store = backend.open(&WorkspaceName::default_name()).unwrap();
    let grant = store.lock(&info("a")).await.unwrap();
    assert_eq!(cloud.server.keys(BUCKET), [format!("{key}.tflock")]);
    assert_eq!(cloud.server.items(TABLE), [format!("{BUCKET}/{key}")]);
    store.unlock(&grant.id).await.unwrap();
}
