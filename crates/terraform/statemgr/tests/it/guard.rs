//! Locks as values, and those that were forgotten.

use std::sync::Arc;
use std::time::Duration;

use groundstate_common::FixedClock;
use groundstate_statemgr::{
    AbandonedLocks, ErrorKind, FailingManager, Full, LockDisabled, LockGuard, Locker, OnAbandon, Result,
    SharedMemory, StateStore, Waiting,
};

use crate::support::{clock, info, kind, manager};

async fn acquire(locker: impl Locker + 'static, record: &Arc<AbandonedLocks>) -> Result<LockGuard> {
    let record: Arc<dyn OnAbandon> = Arc::<AbandonedLocks>::clone(record);
    LockGuard::acquire(Arc::new(locker), info("7"), Waiting::not_at_all(), record).await
}

#[tokio::test]
async fn a_released_lock_is_free_and_leaves_no_record() -> Result<()> {
    let (place, record) = (SharedMemory::new("prod"), Arc::default());
    let guard = acquire(manager(place.open()), &record).await?;
    assert_eq!(kind(acquire(manager(place.open()), &record).await), Some(ErrorKind::Locked));
    guard.release().await.unwrap();
    acquire(manager(place.open()), &record).await?.release().await.unwrap();
    assert_eq!(record.take(), []);
    Ok(())
}

#[tokio::test]
async fn an_abandoned_lock_says_how_to_free_it() -> Result<()> {
    let time = clock();
    let place = SharedMemory::with_lease("prod", Duration::from_secs(60), Arc::<FixedClock>::clone(&time));
    let record = Arc::default();
    drop(acquire(manager(place.open()), &record).await?);
    let [lock] = &record.take()[..] else { panic!("there is one") };
    assert_eq!(
        lock.to_string(),
        "the lock of memory:prod, taken at 0001-01-01T00:00:00Z for \"test\", was not released: \
         free it by force with the lock id 7, or wait until 1970-01-01T00:01:00Z"
    );
    place.open().force_unlock(&lock.id).await?;
    acquire(manager(place.open()), &record).await?.release().await.unwrap();
    Ok(())
}

#[tokio::test]
async fn a_guard_renews_its_lease() -> Result<()> {
    let time = clock();
    let place = SharedMemory::with_lease("prod", Duration::from_secs(60), Arc::<FixedClock>::clone(&time));
    let record = Arc::default();
    let guard = acquire(manager(place.open()), &record).await?;
    let before = guard.grant().unwrap();
    time.advance(Duration::from_secs(50));
    guard.renew().await?;
    let after = guard.grant().unwrap();
    assert!(after.expires > before.expires && after.fence == before.fence);
    time.advance(Duration::from_secs(50));
    assert!(place.open().lock_holder().await?.is_some());
    guard.release().await.unwrap();
    Ok(())
}

#[tokio::test]
async fn work_that_was_paused_with_its_whole_process_learns_whether_the_lock_was_kept() -> Result<()> {
    for another_came in [false, true] {
        let time = clock();
        let place =
            SharedMemory::with_lease("prod", Duration::from_secs(60), Arc::<FixedClock>::clone(&time));
        let guard = acquire(manager(place.open()), &Arc::default()).await?;
        let work = async {
            time.advance(Duration::from_secs(90));
            if another_came { place.open().lock(&info("8")).await.map(drop) } else { Ok(()) }
        };
        let (done, kept) = guard.hold_during(work, &*time, &*time).await;
        done?;
        assert_eq!(kind(kept), another_came.then_some(ErrorKind::LockLost));
        assert_eq!(guard.release().await.is_err(), another_came);
    }
    Ok(())
}

#[tokio::test]
async fn a_lock_that_cannot_be_released_can_be_tried_again_or_is_recorded() -> Result<()> {
    let record = Arc::default();
    let error = acquire(FailingManager, &record).await?.release().await.unwrap_err();
    assert_eq!(error.error().kind(), ErrorKind::Internal);
    assert_eq!(
        error.to_string(),
        "cannot release the lock placeholder of failing fake, free it by force with that id if trying again \
         does not help"
    );
    let again = error.into_guard().release().await.unwrap_err();
    assert_eq!(record.take(), []);
    drop(again);
    assert_eq!(record.take().len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_lock_broken_by_force_is_not_recorded_as_held() -> Result<()> {
    let (place, record) = (SharedMemory::new("prod"), Arc::default());
    let guard = acquire(manager(place.open()), &record).await?;
    place.open().force_unlock(&info("7").id).await?;
    let error = guard.release().await.unwrap_err();
    assert!(error.is_lost() && error.error().kind() == ErrorKind::LockLost);
    assert_eq!(error.to_string(), "the lock 7 of memory:prod was lost while it was held");
    drop(error);
    assert_eq!(record.take(), []);
    Ok(())
}

#[tokio::test]
async fn an_attempt_that_was_cut_off_is_recorded_as_doubtful() {
    let record: Arc<AbandonedLocks> = Arc::default();
    let mut attempt = Box::pin(acquire(Never, &record));
    let waker = std::task::Waker::noop();
    assert!(attempt.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
    drop(attempt);
    let locks = record.take();
    assert!(!locks[0].certain && locks[0].to_string().contains("may still be held"), "{locks:?}");
}

#[tokio::test]
async fn nothing_is_recorded_where_nothing_is_locked() -> Result<()> {
    let (place, record) = (SharedMemory::new("prod"), Arc::default());
    let inner: Arc<dyn Full> = Arc::new(manager(place.open()));
    let guard = acquire(LockDisabled::new(inner), &record).await?;
    assert!(guard.grant().is_none());
    drop(guard);
    assert_eq!(record.take(), []);
    Ok(())
}

#[derive(Debug)]
struct Never;

impl std::fmt::Display for Never {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("never")
    }
}

#[async_trait::async_trait]
impl Locker for Never {
    fn is_locking_enabled(&self) -> bool {
        true
    }

    async fn lock(
        &self,
        _: &groundstate_statemgr::LockInfo,
    ) -> Result<Option<groundstate_statemgr::LockGrant>> {
        std::future::pending().await
    }

    async fn renew(&self, _: &groundstate_statemgr::LockId) -> Result<groundstate_statemgr::LockGrant> {
        std::future::pending().await
    }

    async fn unlock(&self, _: &groundstate_statemgr::LockId) -> Result<()> {
        std::future::pending().await
    }

    async fn force_unlock(&self, _: &groundstate_statemgr::LockId) -> Result<()> {
        std::future::pending().await
    }

    async fn lock_holder(&self) -> Result<Option<groundstate_statemgr::LockHolder>> {
        std::future::pending().await
    }
}
