//! Requests for each operation, beside those that terraform 1.11.4 makes for it.

use bytes::Bytes;
use groundstate_statemgr::{Expect, StateStore, WriteOptions};

use crate::s3::support::{Cloud, Locks, info, state};

/// What terraform sends: lock, refresh (`HEAD`, `GET`, and the digest), persist (`PUT`, and the digest), unlock.
fn terraform(locks: Locks) -> [usize; 4] {
    match locks {
        Locks::None => [0, 2, 1, 0],
        Locks::File => [1, 2, 1, 2],
        Locks::Row => [1, 3, 2, 2],
        Locks::Both => [2, 3, 2, 4],
    }
}

#[tokio::test]
async fn a_change_takes_no_more_requests_than_the_original_s() {
    for locks in [Locks::None, Locks::File, Locks::Row, Locks::Both] {
        let cloud = Cloud::new();
        let store = cloud.store(locks);
        store.write(Bytes::copy_from_slice(&state(1)), &WriteOptions::any()).await.unwrap();
        let count = |since| cloud.server.traffic_since(since).requests;
        let mut mine = [0; 4];

        let mut mark = cloud.server.mark();
        let grant = if locks == Locks::None { None } else { Some(store.lock(&info("a")).await.unwrap()) };
        mine[0] = count(mark);
        mark = cloud.server.mark();
        let read = store.read().await.unwrap().unwrap();
        mine[1] = count(mark);
        mark = cloud.server.mark();
        store
            .write(Bytes::copy_from_slice(&state(2)), &WriteOptions::expecting(Expect::Version(read.version)))
            .await
            .unwrap();
        mine[2] = count(mark);
        mark = cloud.server.mark();
        if let Some(grant) = grant {
            store.unlock(&grant.id).await.unwrap();
        }
        mine[3] = count(mark);

        let expected = match locks {
            Locks::None => [0, 1, 1, 0],
            Locks::File => [1, 1, 2, 2],
            Locks::Row => [1, 2, 3, 2],
            Locks::Both => [2, 2, 4, 3],
        };
        assert_eq!(mine, expected, "{locks:?}");
        // Asking for the lock before the write costs what the original spends on looking before each read; with both locks,
        // also what it spends on looking at the row before it is removed.
        let theirs = terraform(locks);
        assert!(mine.iter().sum::<usize>() <= theirs.iter().sum(), "{locks:?}: {mine:?}, {theirs:?}");
        assert!(mine[0] <= theirs[0] && mine[1] <= theirs[1] && mine[3] <= theirs[3]);
    }
}

#[tokio::test]
async fn trusting_the_lock_takes_no_more_requests_for_any_step() {
    for locks in Locks::LOCKING {
        let cloud = Cloud::new();
        let backend = cloud.backend(locks.options().trust_lock(true));
        let store = backend.open(&groundstate_statemgr::WorkspaceName::default_name()).unwrap();
        store.lock(&info("a")).await.unwrap();
        let mark = cloud.server.mark();
        store
            .write(Bytes::copy_from_slice(&state(1)), &WriteOptions::expecting(Expect::Absent))
            .await
            .unwrap();
        assert_eq!(cloud.server.traffic_since(mark).requests, terraform(locks)[2], "{locks:?}");
    }
}

#[tokio::test]
async fn a_refused_lock_takes_no_more_requests_than_the_original_s() {
    for (locks, theirs) in [(Locks::File, 2), (Locks::Row, 2)] {
        let cloud = Cloud::new();
        cloud.store(locks).lock(&info("a")).await.unwrap();
        let mark = cloud.server.mark();
        cloud.store(locks).lock(&info("b")).await.unwrap_err();
        let mine = cloud.server.traffic_since(mark).requests;
        assert!(mine <= theirs, "{locks:?}: {mine}");
    }
}
