//! Snapshots during a run.

use std::sync::Arc;
use std::time::Duration;

use groundstate_common::{Clock, FixedClock, Timestamp};
use groundstate_statemgr::{
    DEFAULT_PERSIST_INTERVAL, ErrorKind, FailingManager, IntermediateSnapshots, ManagerOptions, PersistInfo,
    PersistIntervalError, Persisted, Result, SharedMemory, Storage, persist_interval,
};

use crate::support::{Script, clock, kind, manager_with, set_output, state};

struct Run {
    store: Script,
    clock: Arc<FixedClock>,
    snapshots: IntermediateSnapshots,
}

fn run(options: ManagerOptions, interval: Duration) -> Run {
    let (store, clock) = (Script::new(&SharedMemory::new("run")), clock());
    let manager: Arc<dyn Storage> = Arc::new(manager_with(store.clone(), options));
    let snapshots = IntermediateSnapshots::new(manager, Arc::<FixedClock>::clone(&clock), interval);
    Run { store, clock, snapshots }
}

#[tokio::test]
async fn persists_after_the_interval_when_stopped_and_after_each_change_from_then_on() -> Result<()> {
    let Run { store, clock, snapshots } = run(ManagerOptions::default(), DEFAULT_PERSIST_INTERVAL);
    assert_eq!(snapshots.write(&state("1")).await?, None, "the first change starts the time");
    clock.advance(Duration::from_secs(19));
    assert_eq!(snapshots.write(&state("2")).await?, None);
    clock.advance(Duration::from_secs(1));
    assert_eq!(snapshots.write(&state("3")).await?, Some(Persisted::Written));
    clock.advance(Duration::from_secs(1));
    assert_eq!(snapshots.write(&state("4")).await?, None);
    assert_eq!(snapshots.stop().await?, Some(Persisted::Written));
    for value in ["5", "6"] {
        assert_eq!(snapshots.write(&state(value)).await?, Some(Persisted::Written));
    }
    assert_eq!(snapshots.write(&state("6")).await?, Some(Persisted::Unchanged));
    assert_eq!(store.calls(), ["get", "put 1", "put 2", "put 3", "put 4"]);
    Ok(())
}

#[tokio::test]
async fn changes_in_place_count_as_changes() -> Result<()> {
    let Run { store, clock, snapshots } = run(ManagerOptions::default(), DEFAULT_PERSIST_INTERVAL);
    snapshots.mutate(|state| set_output(state, "a", "1")).await?;
    clock.advance(Duration::from_secs(20));
    let done = snapshots.mutate(|state| set_output(state, "b", "2")).await?;
    assert_eq!(done, Some(Persisted::Written));
    assert_eq!(store.calls(), ["get", "put 1"]);
    Ok(())
}

#[tokio::test]
async fn never_persists_when_switched_off_even_when_stopping() -> Result<()> {
    let options = ManagerOptions::default().intermediate_snapshots(false);
    let Run { store, clock, snapshots } = run(options, DEFAULT_PERSIST_INTERVAL);
    snapshots.write(&state("1")).await?;
    clock.advance(Duration::from_secs(60));
    assert_eq!(snapshots.write(&state("2")).await?, None);
    assert_eq!(snapshots.stop().await?, None);
    assert_eq!(snapshots.write(&state("3")).await?, None);
    assert!(store.calls().is_empty());
    Ok(())
}

#[tokio::test]
async fn persists_only_when_stopping_without_an_interval() -> Result<()> {
    let Run { store, clock, snapshots } = run(ManagerOptions::default(), Duration::ZERO);
    snapshots.write(&state("1")).await?;
    clock.advance(Duration::from_secs(60));
    assert_eq!(snapshots.write(&state("2")).await?, None);
    assert_eq!(snapshots.stop().await?, Some(Persisted::Written));
    assert_eq!(store.calls(), ["get", "put 1"]);
    Ok(())
}

#[tokio::test]
async fn a_failing_write_stops_the_run() {
    let snapshots = IntermediateSnapshots::new(Arc::new(FailingManager), clock(), DEFAULT_PERSIST_INTERVAL);
    assert_eq!(kind(snapshots.write(&state("1")).await), Some(ErrorKind::Internal));
    assert_eq!(kind(snapshots.mutate(|_| ()).await), Some(ErrorKind::Internal));
}

#[test]
fn a_clock_that_is_set_back_does_not_put_a_snapshot_off() {
    let now = clock().now();
    let later = now.checked_add(Duration::from_secs(3600)).unwrap();
    let interval = DEFAULT_PERSIST_INTERVAL;
    assert!(PersistInfo::new(interval, later, now).is_due());
    assert!(!PersistInfo::new(interval, now, now).is_due());
    assert!(PersistInfo::new(interval, now, now).force(true).is_due());
    assert!(PersistInfo::new(interval, Timestamp::UNIX_EPOCH, later).is_due());
}

#[test]
fn an_interval_is_a_whole_number_of_seconds_from_twenty_up() {
    let seconds = |n| Ok(Duration::from_secs(n));
    let not_a_number = |text: &str| Err(PersistIntervalError::NotANumber(text.to_owned()));
    let rows = [
        (None, seconds(20)),
        (Some(""), seconds(20)),
        (Some("abc"), not_a_number("abc")),
        (Some("20.5"), not_a_number("20.5")),
        (Some(" 60"), not_a_number(" 60")),
        (Some("99999999999999999999"), not_a_number("99999999999999999999")),
        (Some("5"), Err(PersistIntervalError::TooShort(5))),
        (Some("-60"), Err(PersistIntervalError::TooShort(-60))),
        (Some("0"), Err(PersistIntervalError::TooShort(0))),
        (Some("20"), seconds(20)),
        (Some("60"), seconds(60)),
    ];
    for (text, expected) in rows {
        assert_eq!(persist_interval(text), expected, "{text:?}");
    }
}
