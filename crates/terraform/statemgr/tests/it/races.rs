//! Several managers on one place at the same time, on threads of their own.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use groundstate_common::{FixedClock, SequenceIds, Timestamp};
use groundstate_statemgr::{
    AbandonedLocks, ErrorKind, LockGuard, LockId, LockInfo, Manager, ManagerOptions, Persister, Reader,
    Refresher, Result, SharedMemory, Sleeper, StateStore, Waiting, Writer, refresh_and_read,
};
use groundstate_states::State;
use tokio::task::JoinSet;

use crate::support::{Script, set_output, stored};

const CLIENTS: usize = 8;
const ROUNDS: usize = 25;

fn open(store: impl StateStore) -> Manager {
    let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
    Manager::new(Arc::new(store), clock, Arc::new(SequenceIds::new()), ManagerOptions::default())
}

/// An output for each round of each client: a lost update is a missing name.
fn name(client: usize, round: usize) -> String {
    format!("client{client}_round{round}")
}

fn add(manager: &Manager, name: &str) -> Result<()> {
    manager.mutate_state(&mut |state| set_output(state.get_or_insert_default(), name, "here"))
}

fn all_names() -> BTreeSet<String> {
    (0..CLIENTS).flat_map(|client| (0..ROUNDS).map(move |round| name(client, round))).collect()
}

fn names(state: &State) -> BTreeSet<String> {
    state.outputs().keys().map(|name| name.to_string()).collect()
}

/// Runs a task for each client to its end.
async fn all(
    tasks: impl IntoIterator<Item = impl Future<Output = Result<()>> + Send + 'static>,
) -> Result<()> {
    let mut set = JoinSet::new();
    tasks.into_iter().for_each(|task| drop(set.spawn(task)));
    while let Some(outcome) = set.join_next().await {
        outcome.expect("no task panics")?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_loser_of_a_race_is_told_and_no_update_is_lost() -> Result<()> {
    let place = SharedMemory::new("raced");
    let client = |client| {
        let manager = open(place.open());
        async move {
            for round in 0..ROUNDS {
                loop {
                    manager.refresh_state().await?;
                    add(&manager, &name(client, round))?;
                    tokio::task::yield_now().await;
                    match manager.persist_state().await {
                        Ok(_) => break,
                        Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
                    }
                }
            }
            Ok(())
        }
    };
    all((0..CLIENTS).map(client)).await?;
    let file = stored(&place).await?.unwrap();
    assert_eq!(names(&file.state), all_names());
    assert_eq!(file.serial.get(), (CLIENTS * ROUNDS) as u64, "each update has a serial of its own");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_first_writes_one_is_refused() -> Result<()> {
    for _ in 0..50 {
        let place = SharedMemory::new("first");
        let (a, b) = (open(place.open()), open(place.open()));
        for (manager, name) in [(&a, "a"), (&b, "b")] {
            manager.refresh_state().await?;
            add(manager, name)?;
        }
        let (a, b) = (Arc::new(a), Arc::new(b));
        let persist = |manager: &Arc<Manager>| {
            let manager = Arc::<Manager>::clone(manager);
            tokio::spawn(async move { manager.persist_state().await.map_err(|error| error.kind()) })
        };
        let (first, second) = (persist(&a), persist(&b));
        let outcomes = [first.await.unwrap(), second.await.unwrap()];
        let won = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        assert!(won == 1 && outcomes.contains(&Err(ErrorKind::Conflict)), "{outcomes:?}");
        let winner = if outcomes[0].is_ok() { &a } else { &b };
        assert_eq!(stored(&place).await?.map(|file| file.state), winner.state());
    }
    Ok(())
}

/// Lets the others run: the clock of this test stands still, so no wait times out.
#[derive(Debug)]
struct Yield;

#[async_trait]
impl Sleeper for Yield {
    async fn sleep(&self, _: Duration) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_under_the_lock_never_meet_even_without_conditions() -> Result<()> {
    let place = SharedMemory::new("locked");
    let inside = Arc::new(AtomicBool::new(false));
    let record = Arc::new(AbandonedLocks::new());
    let client = |client| {
        let (manager, inside) = (Arc::new(open(Script::without_conditions(&place))), Arc::clone(&inside));
        let record = Arc::<AbandonedLocks>::clone(&record);
        async move {
            let clock = FixedClock::new(Timestamp::UNIX_EPOCH);
            for round in 0..ROUNDS {
                let info = LockInfo { id: LockId::new(&name(client, round)), ..LockInfo::default() };
                let waiting = Waiting::up_to(Duration::from_secs(3600), &clock, &Yield);
                let (locker, record) =
                    (Arc::<Manager>::clone(&manager), Arc::<AbandonedLocks>::clone(&record));
                let guard = LockGuard::acquire(locker, info, waiting, record).await?;
                assert!(!inside.swap(true, Ordering::SeqCst), "there is one holder");
                refresh_and_read(&*manager).await?;
                add(&manager, &name(client, round))?;
                manager.persist_state().await?;
                inside.store(false, Ordering::SeqCst);
                guard.release().await.expect("it is held");
            }
            Ok(())
        }
    };
    all((0..CLIENTS).map(client)).await?;
    let file = stored(&place).await?.unwrap();
    assert_eq!((names(&file.state), file.serial.get()), (all_names(), (CLIENTS * ROUNDS) as u64));
    assert_eq!(record.take(), []);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_manager_is_shared_by_threads_that_change_refresh_and_persist() -> Result<()> {
    let place = SharedMemory::new("shared");
    let manager = Arc::new(open(place.open()));
    let client = |client| {
        let manager = Arc::<Manager>::clone(&manager);
        async move {
            for round in 0..ROUNDS {
                add(&manager, &name(client, round))?;
                assert!(manager.state().is_some_and(|state| names(&state).contains(&name(client, round))));
                if round % 5 == client % 5 {
                    manager.persist_state().await?;
                }
            }
            Ok(())
        }
    };
    all((0..CLIENTS).map(client)).await?;
    manager.persist_state().await?;
    let file = stored(&place).await?.unwrap();
    assert_eq!(names(&file.state), all_names());
    manager.refresh_state().await?;
    assert_eq!(manager.state(), Some(file.state));
    Ok(())
}
