//! Lost updates, lost answers, lost locks.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use groundstate_common::{FixedClock, SequenceIds};
use groundstate_statefile::{EncodeOptions, encode};
use groundstate_statemgr::{
    ErrorKind, Locker, Manager, ManagerOptions, Persisted, PersistentMeta, Persister, Reader, Refresher,
    Result, SharedMemory, StateStore, WriteOptions, Writer, refresh_and_read, write_and_persist,
};
use groundstate_states::State;

use crate::support::{Fault, Script, clock, info, kind, manager, set_output, state, stored, stored_serial};

#[tokio::test]
async fn another_clients_snapshot_is_not_overwritten() -> Result<()> {
    for conditions in [true, false] {
        let place = SharedMemory::new("shared");
        let open = || if conditions { Script::new(&place) } else { Script::without_conditions(&place) };
        let (a, b) = (manager(open()), manager(open()));
        write_and_persist(&a, &state("first")).await?;
        b.refresh_state().await?;
        write_and_persist(&a, &state("theirs")).await?;
        let error = write_and_persist(&b, &state("mine")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        let (expected, found) = error.mismatch().unwrap();
        assert!(expected.starts_with("serial 1 of ") && found.starts_with("serial 2 of "), "{error}");
        assert_eq!(stored(&place).await?.map(|file| file.state), Some(state("theirs")));
        assert_eq!(b.state(), Some(state("mine")), "the caller's work is kept");
        assert_eq!(refresh_and_read(&b).await?, Some(state("theirs")));
        assert_eq!(write_and_persist(&b, &state("mine")).await?, Persisted::Written);
        assert_eq!(stored_serial(&place).await?, Some(3));
    }
    Ok(())
}

#[tokio::test]
async fn a_deleted_state_is_not_brought_back_unawares() -> Result<()> {
    let place = SharedMemory::new("deleted");
    let manager = manager(place.open());
    write_and_persist(&manager, &state("a")).await?;
    place.open().delete(&WriteOptions::any()).await?;
    let error = write_and_persist(&manager, &state("b")).await.unwrap_err();
    assert_eq!(error.mismatch().map(|(_, found)| found), Some("nothing"));
    Ok(())
}

#[tokio::test]
async fn after_a_deletion_a_refresh_forgets_what_was_stored_and_keeps_what_was_written() -> Result<()> {
    let place = SharedMemory::new("deleted");
    let manager = manager(place.open());
    write_and_persist(&manager, &state("a")).await?;
    place.open().delete(&WriteOptions::any()).await?;
    manager.refresh_state().await?;
    assert_eq!(manager.state(), None);
    manager.write_state(&state("b"))?;
    manager.refresh_state().await?;
    assert_eq!(manager.state(), Some(state("b")));
    manager.persist_state().await?;
    assert_eq!(stored_serial(&place).await?, Some(1));
    Ok(())
}

#[tokio::test]
async fn the_same_snapshot_under_another_version_is_no_conflict() -> Result<()> {
    let place = SharedMemory::new("rewritten");
    let manager = manager(place.open());
    write_and_persist(&manager, &state("a")).await?;
    let copy = stored(&place).await?.unwrap();
    let compact = encode(&copy, &EncodeOptions::default().indented(false)).unwrap();
    place.open().write(Bytes::copy_from_slice(&compact), &WriteOptions::any()).await?;
    assert_eq!(write_and_persist(&manager, &state("b")).await?, Persisted::Written);
    assert_eq!(stored_serial(&place).await?, Some(2));
    Ok(())
}

#[tokio::test]
async fn a_write_whose_answer_got_lost_is_read_back_at_once() -> Result<()> {
    let place = SharedMemory::new("lossy");
    let store = Script::new(&place);
    let manager = manager(store.clone());
    for (value, serial) in [("a", 1), ("b", 2)] {
        store.fail_next(Fault::LoseAnswer);
        assert_eq!(write_and_persist(&manager, &state(value)).await?, Persisted::Written);
        assert_eq!(
            (manager.snapshot_meta().serial.get(), stored_serial(&place).await?),
            (serial, Some(serial))
        );
        assert_eq!(manager.persist_state().await?, Persisted::Unchanged);
    }
    assert_eq!(store.calls(), ["get", "put 1", "get", "put 2", "get"], "nothing is written twice");
    Ok(())
}

#[tokio::test]
async fn a_write_that_cannot_be_read_back_stays_in_doubt_until_it_can() -> Result<()> {
    let place = SharedMemory::new("lossy");
    let store = Script::new(&place);
    let manager = manager(store.clone());
    write_and_persist(&manager, &state("a")).await?;
    store.unreadable(true);
    store.fail_next(Fault::LoseAnswer);
    assert_eq!(kind(write_and_persist(&manager, &state("b")).await), Some(ErrorKind::Ambiguous));
    assert_eq!(kind(manager.persist_state().await), Some(ErrorKind::Unavailable));
    store.unreadable(false);
    assert_eq!(manager.persist_state().await?, Persisted::Unchanged, "it is there");
    assert_eq!(manager.snapshot_meta().serial.get(), 2);

    store.unreadable(true);
    store.fail_next(Fault::LoseAnswer);
    assert_eq!(kind(write_and_persist(&manager, &state("c")).await), Some(ErrorKind::Ambiguous));
    store.unreadable(false);
    manager.write_state(&state("b"))?;
    assert_eq!(
        manager.persist_state().await?,
        Persisted::Written,
        "what is stored is not what it was before"
    );
    let now = stored(&place).await?.unwrap();
    assert_eq!((now.serial.get(), now.state), (4, state("b")));
    Ok(())
}

#[tokio::test]
async fn a_write_that_was_not_waited_for_is_recognised() -> Result<()> {
    let place = SharedMemory::new("cut off");
    let store = Script::new(&place);
    let manager = manager(store.clone());
    manager.refresh_state().await?;
    manager.write_state(&state("a"))?;
    // The store writes, and its answer comes after the caller is gone.
    store.fail_next(Fault::NeverAnswer);
    let mut persist = manager.persist_state();
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(persist.as_mut().poll(&mut context).is_pending());
    drop(persist);
    assert_eq!(stored_serial(&place).await?, Some(1));
    assert_eq!(manager.persist_state().await?, Persisted::Unchanged);
    write_and_persist(&manager, &state("b")).await?;
    assert_eq!(stored_serial(&place).await?, Some(2));
    Ok(())
}

#[tokio::test]
async fn a_late_write_is_no_conflict_with_its_own_repetition() -> Result<()> {
    let place = SharedMemory::new("late");
    let store = Script::new(&place);
    let manager = manager(store.clone());
    manager.refresh_state().await?;
    store.fail_next(Fault::Delay);
    assert_eq!(kind(write_and_persist(&manager, &state("a")).await), Some(ErrorKind::Ambiguous));
    assert_eq!(stored_serial(&place).await?, None, "it is still on its way");
    store.fail_next(Fault::AfterTheDelayed);
    assert_eq!(manager.persist_state().await?, Persisted::Written);
    assert_eq!(stored_serial(&place).await?, Some(1));
    assert_eq!(write_and_persist(&manager, &state("a")).await?, Persisted::Unchanged);
    Ok(())
}

#[tokio::test]
async fn a_changed_serial_is_seen_under_an_unchanged_version() -> Result<()> {
    let place = SharedMemory::new("careless");
    let (a, b) = (manager(Script::with_one_version(&place)), manager(Script::with_one_version(&place)));
    write_and_persist(&a, &state("first")).await?;
    b.refresh_state().await?;
    write_and_persist(&a, &state("theirs")).await?;
    let error = write_and_persist(&b, &state("mine")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.mismatch().is_some_and(|(_, found)| found.starts_with("serial 2 of ")), "{error}");
    assert_eq!(stored(&place).await?.map(|file| file.state), Some(state("theirs")));
    Ok(())
}

#[tokio::test]
async fn a_write_that_was_in_doubt_and_did_not_happen_is_repeated() -> Result<()> {
    let place = SharedMemory::new("lossy");
    let store = Script::new(&place);
    let manager = manager(store.clone());
    store.fail_next(Fault::Fail(ErrorKind::Ambiguous));
    assert_eq!(kind(write_and_persist(&manager, &state("a")).await), Some(ErrorKind::Ambiguous));
    assert_eq!(manager.persist_state().await?, Persisted::Written);
    assert_eq!(stored_serial(&place).await?, Some(1));
    Ok(())
}

#[tokio::test]
async fn persists_of_one_manager_take_turns() -> Result<()> {
    let place = SharedMemory::new("busy");
    let manager = Arc::new(manager(place.open()));
    let mut tasks = Vec::new();
    for at in 0..20 {
        let manager = Arc::clone(&manager);
        tasks.push(tokio::spawn(async move {
            let name = format!("o{at}");
            manager.mutate_state(&mut |state| set_output(state.get_or_insert_default(), &name, "x"))?;
            manager.persist_state().await
        }));
    }
    for task in tasks {
        task.await.unwrap()?;
    }
    assert_eq!(stored(&place).await?.map(|file| file.state.outputs().len()), Some(20));
    Ok(())
}

#[tokio::test]
async fn a_paused_holder_writes_nothing_after_its_lock_went_to_another() -> Result<()> {
    let time = clock();
    let place = SharedMemory::with_lease("leased", Duration::from_secs(60), Arc::<FixedClock>::clone(&time));
    let open = || {
        let ids = Arc::new(SequenceIds::new());
        Manager::new(Arc::new(place.open()), Arc::<FixedClock>::clone(&time), ids, ManagerOptions::default())
    };
    let (paused, other) = (open(), open());
    paused.lock(&info("paused")).await?;
    write_and_persist(&paused, &state("before")).await?;
    time.advance(Duration::from_secs(61));
    let grant = other.lock(&info("other")).await?.unwrap();
    assert_eq!(kind(write_and_persist(&paused, &state("late")).await), Some(ErrorKind::LockLost));
    assert_eq!(kind(paused.unlock(&info("paused").id).await), Some(ErrorKind::LockLost));
    assert_eq!(kind(paused.persist_state().await), Some(ErrorKind::LockLost), "it still holds no lock");
    other.refresh_state().await?;
    write_and_persist(&other, &state("after")).await?;
    other.unlock(&grant.id).await?;
    assert_eq!(stored(&place).await?.map(|file| file.state), Some(state("after")));
    Ok(())
}

#[tokio::test]
async fn reading_the_transient_snapshot_does_not_wait_for_the_store() -> Result<()> {
    let place = SharedMemory::new("slow");
    let manager = Arc::new(manager(Stuck(place.open())));
    manager.write_state(&state("a"))?;
    for locking in [true, false] {
        let stuck = Arc::clone(&manager);
        let task = tokio::spawn(async move {
            if locking {
                stuck.lock(&info("1")).await.map(drop)
            } else {
                stuck.persist_state().await.map(drop)
            }
        });
        tokio::task::yield_now().await;
        manager.mutate_state(&mut |state| set_output(state.get_or_insert_default(), "b", "b"))?;
        assert!(manager.state().is_some_and(|state| state != State::new()));
        task.abort();
    }
    Ok(())
}

/// Never answers.
#[derive(Debug)]
struct Stuck(groundstate_statemgr::MemoryStore);

impl std::fmt::Display for Stuck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("stuck")
    }
}

mod stuck {
    //! The store behind `Stuck`.

    use async_trait::async_trait;
    use bytes::Bytes;
    use groundstate_statemgr::{
        Capabilities, LockGrant, LockHolder, LockId, LockInfo, Result, StateStore, Stored, Version,
        WriteOptions,
    };

    #[async_trait]
    impl StateStore for super::Stuck {
        fn capabilities(&self) -> Capabilities {
            self.0.capabilities()
        }

        async fn read(&self) -> Result<Option<Stored>> {
            std::future::pending().await
        }

        async fn write(&self, _: Bytes, _: &WriteOptions) -> Result<Version> {
            std::future::pending().await
        }

        async fn delete(&self, _: &WriteOptions) -> Result<()> {
            std::future::pending().await
        }

        async fn lock(&self, _: &LockInfo) -> Result<LockGrant> {
            std::future::pending().await
        }

        async fn renew(&self, _: &LockId) -> Result<LockGrant> {
            std::future::pending().await
        }

        async fn unlock(&self, _: &LockId) -> Result<()> {
            std::future::pending().await
        }

        async fn force_unlock(&self, _: &LockId) -> Result<()> {
            std::future::pending().await
        }

        async fn lock_holder(&self) -> Result<Option<LockHolder>> {
            std::future::pending().await
        }
    }
}
