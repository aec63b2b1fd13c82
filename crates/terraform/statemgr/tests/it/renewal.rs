//! Locks that expire, and their renewal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use groundstate_common::{Clock, SequenceIds, Timestamp};
use groundstate_statemgr::{
    AbandonedLocks, Capabilities, Error, ErrorKind, LockGrant, LockGuard, LockHolder, LockId, LockInfo,
    Manager, ManagerOptions, MemoryStore, Op, Result, SharedMemory, Sleeper, StateStore, Stored, Version,
    Waiting, WriteOptions, write_and_persist,
};
use tokio::time::Instant;

use crate::support::{info, kind, state};

/// Tokio's timer, which tests let run ahead: time passes as soon as every task waits for it.
#[derive(Debug)]
struct Timer(Instant);

impl Clock for Timer {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH.checked_add(self.0.elapsed()).expect("tests do not take so long")
    }
}

#[async_trait]
impl Sleeper for Timer {
    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// A place whose locks last a minute, and a manager on it that counts its renewals.
struct Leased {
    timer: Arc<Timer>,
    place: SharedMemory,
    store: Arc<Counting>,
    manager: Arc<Manager>,
}

fn leased() -> Leased {
    let timer = Arc::new(Timer(Instant::now()));
    let place = SharedMemory::with_lease("leased", Duration::from_secs(60), Arc::<Timer>::clone(&timer));
    let store = Arc::new(Counting {
        store: place.open(),
        renewals: AtomicUsize::new(0),
        cut_off: AtomicBool::new(false),
    });
    let manager = Manager::new(
        Arc::<Counting>::clone(&store),
        Arc::<Timer>::clone(&timer),
        Arc::new(SequenceIds::new()),
        ManagerOptions::default(),
    );
    Leased { timer, place, store, manager: Arc::new(manager) }
}

impl Leased {
    async fn acquire(&self, record: &Arc<AbandonedLocks>) -> Result<LockGuard> {
        let manager = Arc::<Manager>::clone(&self.manager);
        LockGuard::acquire(manager, info("7"), Waiting::not_at_all(), Arc::<AbandonedLocks>::clone(record))
            .await
    }

    fn renewals(&self) -> usize {
        self.store.renewals.swap(0, Ordering::SeqCst)
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_prolongs_the_lock_for_as_long_as_the_guard_lives() -> Result<()> {
    let leased = leased();
    let guard = leased.acquire(&Arc::default()).await?;
    let token = guard.grant().unwrap().fence;
    let (clock, sleeper) = (Arc::<Timer>::clone(&leased.timer), Arc::<Timer>::clone(&leased.timer));
    let renewal = tokio::spawn(guard.renewal(clock, sleeper).run());
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(kind(leased.place.open().lock(&info("8")).await), Some(ErrorKind::Locked));
    assert_eq!(guard.grant().unwrap().fence, token);
    assert!((175..=180).contains(&leased.renewals()), "every twenty seconds");
    write_and_persist(&*leased.manager, &state("after an hour")).await?;

    let before = Instant::now();
    guard.release().await.unwrap();
    assert_eq!(kind(renewal.await.unwrap()), None);
    assert_eq!(before.elapsed(), Duration::ZERO, "it is woken, and does not sleep to the end");
    leased.place.open().lock(&info("8")).await.map(drop)
}

#[tokio::test(start_paused = true)]
async fn the_task_ends_with_a_guard_that_is_dropped() -> Result<()> {
    let (leased, record) = (leased(), Arc::default());
    let guard = leased.acquire(&record).await?;
    let (clock, sleeper) = (Arc::<Timer>::clone(&leased.timer), Arc::<Timer>::clone(&leased.timer));
    let renewal = tokio::spawn(guard.renewal(clock, sleeper).run());
    tokio::time::sleep(Duration::from_secs(90)).await;
    drop(guard);
    assert_eq!(kind(renewal.await.unwrap()), None);
    let expires = record.take()[0].expires.unwrap();
    assert!(expires > leased.timer.now(), "it was prolonged until then");
    tokio::time::sleep(Duration::from_secs(61)).await;
    leased.place.open().lock(&info("8")).await.map(drop)
}

#[tokio::test(start_paused = true)]
async fn work_is_done_under_a_lock_that_is_prolonged_meanwhile() -> Result<()> {
    let leased = leased();
    let guard = leased.acquire(&Arc::default()).await?;
    let work = async {
        tokio::time::sleep(Duration::from_secs(600)).await;
        write_and_persist(&*leased.manager, &state("done")).await
    };
    let (done, kept) = guard.hold_during(work, &*leased.timer, &*leased.timer).await;
    done?;
    kept?;
    assert!(leased.renewals() > 20);
    guard.release().await.unwrap();
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn work_goes_on_after_the_lock_was_broken_but_writes_nothing() -> Result<()> {
    let (leased, record) = (leased(), Arc::default());
    let guard = leased.acquire(&record).await?;
    let work = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        leased.place.open().force_unlock(&info("7").id).await?;
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert!(guard.grant().is_none(), "the loss is known by now");
        Ok::<_, Error>(kind(write_and_persist(&*leased.manager, &state("late")).await))
    };
    let (done, kept) = guard.hold_during(work, &*leased.timer, &*leased.timer).await;
    assert_eq!(done?, Some(ErrorKind::LockLost));
    assert_eq!(kind(kept), Some(ErrorKind::LockLost));
    assert_eq!(guard.release().await.unwrap_err().error().kind(), ErrorKind::LockLost);
    assert_eq!(record.take(), [], "there is nothing to free");
    assert_eq!(leased.place.open().read().await?, None);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_cut_off_for_a_while_is_asked_again_until_the_time_is_over() -> Result<()> {
    let leased = leased();
    let guard = leased.acquire(&Arc::default()).await?;
    leased.store.cut_off.store(true, Ordering::SeqCst);
    let back_in_time = async {
        tokio::time::sleep(Duration::from_secs(50)).await;
        leased.store.cut_off.store(false, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(100)).await;
    };
    let ((), kept) = guard.hold_during(back_in_time, &*leased.timer, &*leased.timer).await;
    kept?;
    let end = guard.grant().and_then(|grant| grant.expires).unwrap();

    leased.store.cut_off.store(true, Ordering::SeqCst);
    let for_good = tokio::time::sleep(Duration::from_secs(600));
    let ((), kept) = guard.hold_during(for_good, &*leased.timer, &*leased.timer).await;
    assert_eq!(kind(kept), Some(ErrorKind::Unavailable));
    assert!(leased.renewals() < 40, "it gives up");
    assert!(leased.timer.now() > end);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_manager_that_slept_too_long_prolongs_its_lock_before_it_writes_or_does_not_write() -> Result<()> {
    let leased = leased();
    let guard = leased.acquire(&Arc::default()).await?;
    tokio::time::sleep(Duration::from_secs(90)).await;
    write_and_persist(&*leased.manager, &state("no other writer")).await?;
    assert_eq!(leased.renewals(), 1);
    assert_eq!(kind(leased.place.open().lock(&info("8")).await), Some(ErrorKind::Locked));

    tokio::time::sleep(Duration::from_secs(90)).await;
    leased.place.open().lock(&info("8")).await?;
    for _ in 0..2 {
        assert_eq!(
            kind(write_and_persist(&*leased.manager, &state("late")).await),
            Some(ErrorKind::LockLost)
        );
        assert_eq!(kind(guard.renew().await), Some(ErrorKind::LockLost));
    }
    guard.release().await.unwrap_err();
    let late = write_and_persist(&*leased.manager, &state("late")).await;
    assert_eq!(kind(late), Some(ErrorKind::LockLost), "also after it was told");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_lasts_needs_no_renewal() -> Result<()> {
    let (timer, record) = (Arc::new(Timer(Instant::now())), Arc::new(AbandonedLocks::new()));
    let manager = Arc::new(crate::support::manager(SharedMemory::new("lasting").open()));
    let guard = LockGuard::acquire(manager, info("7"), Waiting::not_at_all(), record).await?;
    guard.renewal(Arc::<Timer>::clone(&timer), timer).run().await?;
    guard.release().await.unwrap();
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_could_not_be_released_can_be_prolonged_until_it_can() -> Result<()> {
    let leased = leased();
    let guard = leased.acquire(&Arc::default()).await?;
    leased.store.cut_off.store(true, Ordering::SeqCst);
    let guard = guard.release().await.unwrap_err().into_guard();
    assert_eq!(kind(guard.renew().await), Some(ErrorKind::Unavailable));
    leased.store.cut_off.store(false, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(50)).await;
    guard.renew().await?;
    assert!(guard.grant().unwrap().expires > leased.timer.now().checked_add(Duration::from_secs(59)));
    guard.release().await.unwrap();
    Ok(())
}

/// Counts the renewals of a place in memory; they and releases fail while it is cut off.
#[derive(Debug)]
struct Counting {
    store: MemoryStore,
    renewals: AtomicUsize,
    cut_off: AtomicBool,
}

impl Counting {
    fn reach(&self, op: Op) -> Result<()> {
        let cut_off = self.cut_off.load(Ordering::SeqCst);
        if cut_off { Err(Error::new(ErrorKind::Unavailable, op, self)) } else { Ok(()) }
    }
}

impl std::fmt::Display for Counting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.store.fmt(f)
    }
}

#[async_trait]
impl StateStore for Counting {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    async fn read(&self) -> Result<Option<Stored>> {
        self.store.read().await
    }

    async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
        self.store.write(bytes, options).await
    }

    async fn delete(&self, options: &WriteOptions) -> Result<()> {
        self.store.delete(options).await
    }

    async fn lock(&self, info: &LockInfo) -> Result<LockGrant> {
        self.store.lock(info).await
    }

    async fn renew(&self, id: &LockId) -> Result<LockGrant> {
        self.renewals.fetch_add(1, Ordering::SeqCst);
        self.reach(Op::RenewLock)?;
        self.store.renew(id).await
    }

    async fn unlock(&self, id: &LockId) -> Result<()> {
        self.reach(Op::Unlock)?;
        self.store.unlock(id).await
    }

    async fn force_unlock(&self, id: &LockId) -> Result<()> {
        self.store.force_unlock(id).await
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        self.store.lock_holder().await
    }
}
