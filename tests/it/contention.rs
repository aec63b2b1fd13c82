//! Clients that count in one state at the same time, through every backend: with locks none is refused and no step is lost;
//! without, a writer that was overtaken is told.

use std::sync::Arc;
use std::time::Duration;

use groundstate_backends::{Context, Registry, Settings};
use groundstate_common::{Clock as _, OsIds, SystemClock};
use groundstate_statemgr::bytes::Bytes;
use groundstate_statemgr::{
    ErrorKind, Expect, LockGrant, LockInfo, StateStore, TokioSleeper, Version, WorkspaceName, WriteOptions,
};
use groundstate_testkit::{S3Locks, TestBackend};
use tokio::sync::Barrier;

const CLIENTS: usize = 8;
/// How many steps each client counts.
const STEPS: &str = "GROUNDSTATE_CONTENTION_STEPS";

/// Makes both tests of each place.
macro_rules! places {
    ($($name:ident: $place:expr;)*) => {
        $(
            mod $name {
                use super::*;

                #[test]
                fn locked_steps_are_all_counted() {
                    run(&$place, true);
                }

                #[test]
                fn without_locks_conflicts_are_told_and_no_step_is_lost() {
                    run(&$place, false);
                }
            }
        )*
    };
}

places! {
    local: TestBackend::local();
    s3_lockfile: TestBackend::s3(S3Locks::File);
    s3_dynamodb: TestBackend::s3(S3Locks::Table);
    s3_both: TestBackend::s3(S3Locks::Both);
    gcs: TestBackend::gcs();
    azurerm: TestBackend::azurerm();
}

/// Lets the clients count, and compares.
fn run(place: &TestBackend, locked: bool) {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings::new(place.kind()).with_all(&place.direct_settings());
    let context =
        Context::new(Arc::new(SystemClock), Arc::new(TokioSleeper), Arc::new(OsIds)).directory(folder.path());
    let registry = Registry::standard();
    // Each opens the backend for itself, as programs on several machines do.
    let open = || {
        let opened = registry.open(&settings, &context).unwrap();
        opened.backend.store(&WorkspaceName::default_name()).unwrap()
    };
    let steps = steps(place);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (conflicts, last) = runtime.block_on(async {
        let start = Arc::new(Barrier::new(CLIENTS));
        let clients: Vec<_> =
            (0..CLIENTS).map(|_| tokio::spawn(client(open(), steps, locked, Arc::clone(&start)))).collect();
        let mut conflicts = 0;
        for client in clients {
            conflicts += client.await.unwrap();
        }
        (conflicts, read(&*open()).await.0)
    });
    assert_eq!(last, (CLIENTS * steps) as u64, "steps were lost");
    // All have read the same before the first of them wrote.
    let expected = if locked { 0..=0 } else { CLIENTS - 1..=usize::MAX };
    assert!(expected.contains(&conflicts), "{conflicts} conflicts");
    assert_eq!(place.locks().len(), 0);
    println!("{}: {CLIENTS} clients counted {steps} steps each, with {conflicts} conflicts", place.kind());
}

/// As many as make the race long enough to see; a request to a server of others takes longer.
fn steps(place: &TestBackend) -> usize {
    let given = std::env::var(STEPS).ok().map(|steps| steps.parse().expect("a number of steps"));
    given.unwrap_or(if place.is_in_a_peer() { 15 } else { 50 })
}

/// Counts the steps, and gives the number of conflicts.
async fn client(store: Arc<dyn StateStore>, steps: usize, locked: bool, start: Arc<Barrier>) -> usize {
    let mut conflicts = 0;
    let mut first = (!locked).then_some(start);
    for _ in 0..steps {
        let grant = if locked { Some(lock(&*store).await) } else { None };
        loop {
            let (count, version) = read(&*store).await;
            if let Some(start) = first.take() {
                start.wait().await;
            }
            let expect = version.map_or(Expect::Absent, Expect::Version);
            let options = WriteOptions::expecting(expect).fence(grant.as_ref().and_then(|grant| grant.fence));
            match store.write(Bytes::copy_from_slice(state(count + 1).as_bytes()), &options).await {
                Ok(_) => break,
                // A store whose writes lock by themselves may also say that another one is under way.
                Err(error) if error.kind() == ErrorKind::Conflict || !locked && error.retriable() => {
                    conflicts += 1;
                }
                Err(error) => panic!("{error}: {:?}", std::error::Error::source(&error)),
            }
        }
        if let Some(grant) = grant {
            store.unlock(&grant.id).await.unwrap();
        }
    }
    conflicts
}

/// Takes the lock, however long that takes.
async fn lock(store: &dyn StateStore) -> LockGrant {
    let mut info = LockInfo::new(&OsIds, SystemClock.now(), "counting").unwrap();
    info.who = "tester@here".to_owned();
    let mut wait = 2;
    loop {
        match store.lock(&info).await {
            Ok(grant) => return grant,
            Err(error) if error.retriable() => tokio::time::sleep(Duration::from_millis(wait)).await,
            Err(error) => panic!("{error}: {:?}", std::error::Error::source(&error)),
        }
        wait = (wait * 2).min(64);
    }
}

/// The count that is stored, and its version.
async fn read(store: &dyn StateStore) -> (u64, Option<Version>) {
    let Some(stored) = store.read().await.unwrap() else { return (0, None) };
    let state: serde_json::Value = serde_json::from_slice(&stored.bytes).unwrap();
    (state["serial"].as_u64().unwrap(), Some(stored.version))
}

/// A state with the count as its serial.
fn state(count: u64) -> String {
    format!(
        "{{\"version\":4,\"terraform_version\":\"1.11.4\",\"serial\":{count},\"lineage\":\"l\",\"outputs\":{{}},\
         \"resources\":[],\"check_results\":null}}\n"
    )
}
