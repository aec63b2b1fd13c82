//! Many clients on one state, with locks and without.

use std::sync::Arc;

use bytes::Bytes;
use groundstate_statemgr::{ErrorKind, Expect, StateStore, WriteOptions};

use crate::s3::support::{Cloud, Locks, info, serial, state, state_of};

const CLIENTS: u64 = 8;

/// The serial and the condition for the next one.
async fn next(store: &dyn StateStore) -> (u64, Expect) {
    match store.read().await.unwrap() {
        Some(read) => (serial(&read.bytes) + 1, Expect::Version(read.version)),
        None => (1, Expect::Absent),
    }
}

async fn in_parallel<F, Fut>(cloud: &Cloud, locks: Locks, work: F) -> u64
where
    F: Fn(Arc<dyn StateStore>) -> Fut,
    Fut: Future<Output = u64> + Send + 'static,
{
    let clients: Vec<_> = (0..CLIENTS).map(|_| tokio::spawn(work(Arc::new(cloud.store(locks))))).collect();
    let mut conflicts = 0;
    for client in clients {
        conflicts += client.await.unwrap();
    }
    conflicts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn locked_increments_are_all_there() {
    const EACH: u64 = 100;
    for locks in Locks::LOCKING {
        let cloud = Cloud::new();
        in_parallel(&cloud, locks, |store| async move {
            for _ in 0..EACH {
                let asked = info("increment");
                let grant = loop {
                    match store.lock(&asked).await {
                        Ok(grant) => break grant,
                        Err(error) => assert_eq!(error.kind(), ErrorKind::Locked, "{error}"),
                    }
                    tokio::time::sleep(std::time::Duration::from_millis(2)).await;
                };
                let (number, expect) = next(&*store).await;
                // Under the lock no other client comes between.
                store
                    .write(Bytes::copy_from_slice(&state(number)), &WriteOptions::expecting(expect))
                    .await
                    .unwrap();
                store.unlock(&grant.id).await.unwrap();
            }
            0
        })
        .await;
        assert_eq!(serial(&cloud.state().unwrap()), CLIENTS * EACH, "{locks:?}");
        assert!(!cloud.is_locked());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unlocked_increments_are_all_there_and_conflicts_are_said() {
    const EACH: u64 = 100;
    let cloud = Cloud::new();
    let conflicts = in_parallel(&cloud, Locks::None, |store| async move {
        let mut conflicts = 0;
        // A write is known by its bytes, so each client's are its own, as those of any two runs are.
        let name = info("run").id.to_string();
        for _ in 0..EACH {
            loop {
                let (number, expect) = next(&*store).await;
                match store
                    .write(Bytes::copy_from_slice(&state_of(number, &name)), &WriteOptions::expecting(expect))
                    .await
                {
                    Ok(_) => break,
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
                }
                conflicts += 1;
            }
        }
        conflicts
    })
    .await;
    assert!(conflicts > 0, "eight clients without a lock do not meet");
    assert_eq!(serial(&cloud.state().unwrap()), CLIENTS * EACH);
}
