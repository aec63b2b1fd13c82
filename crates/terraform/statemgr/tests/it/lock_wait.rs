//! Waiting for a lock.

use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use groundstate_common::{Clock, FixedClock, Timestamp};
use groundstate_statemgr::{
    Error, ErrorKind, LockGrant, LockHolder, LockId, LockInfo, Locker, Op, Result, Waiting, lock_with,
};

use crate::support::{info, kind};

/// Refuses as told, then grants, and notes when it was asked.
#[derive(Debug)]
struct Stubborn {
    clock: FixedClock,
    refusals: Mutex<Vec<Refusal>>,
    asked: Mutex<Vec<u64>>,
}

#[derive(Clone, Copy, Debug)]
enum Refusal {
    Held,
    HeldByNobodyKnown,
    Raced,
    Wrapped,
    Denied,
}

impl Stubborn {
    fn new(refusals: &[Refusal]) -> Self {
        let refusals = Mutex::new(refusals.iter().rev().copied().collect());
        Self { clock: FixedClock::new(Timestamp::UNIX_EPOCH), refusals, asked: Mutex::default() }
    }

    /// The seconds at which it was asked.
    fn asked(&self) -> Vec<u64> {
        self.asked.lock().expect("no test panics inside").clone()
    }

    async fn wait(&self, timeout: u64) -> Result<Option<LockGrant>> {
        let waiting = Waiting::up_to(Duration::from_secs(timeout), &self.clock, &self.clock);
        lock_with(self, &info("mine"), waiting).await
    }
}

impl fmt::Display for Stubborn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stubborn")
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the proxy passes on a refusal")]
struct Proxy(#[source] Error);

#[async_trait]
impl Locker for Stubborn {
    fn is_locking_enabled(&self) -> bool {
        true
    }

    async fn lock(&self, info: &LockInfo) -> Result<Option<LockGrant>> {
        let now = self.clock.now().duration_since(Timestamp::UNIX_EPOCH).unwrap_or_default();
        self.asked.lock().expect("no test panics inside").push(now.as_secs());
        let refusal = self.refusals.lock().expect("no test panics inside").pop();
        let held = || Error::locked(Op::Lock, self, Some(LockHolder::of(crate::support::info("theirs"))));
        Err(match refusal {
            None => return Ok(Some(LockGrant::new(info.id.clone()))),
            Some(Refusal::Held) => held(),
            Some(Refusal::HeldByNobodyKnown) => Error::locked(Op::Lock, self, None),
            Some(Refusal::Raced) => Error::raced(Op::Lock, self),
            Some(Refusal::Wrapped) => {
                Error::new(ErrorKind::Internal, Op::Lock, self).with_source(Proxy(held()))
            }
            Some(Refusal::Denied) => Error::new(ErrorKind::Denied, Op::Lock, self),
        })
    }

    async fn renew(&self, _: &LockId) -> Result<LockGrant> {
        Err(Error::unsupported(Op::Other("renew"), self))
    }

    async fn unlock(&self, _: &LockId) -> Result<()> {
        Ok(())
    }

    async fn force_unlock(&self, _: &LockId) -> Result<()> {
        Ok(())
    }

    async fn lock_holder(&self) -> Result<Option<LockHolder>> {
        Ok(None)
    }
}

#[tokio::test]
async fn gets_the_lock_when_its_holder_lets_go() -> Result<()> {
    let locker = Stubborn::new(&[Refusal::Held]);
    let grant = locker.wait(2).await?;
    assert_eq!(grant.map(|grant| grant.id), Some(LockId::new("mine")));
    assert_eq!(locker.asked(), [0, 1]);
    Ok(())
}

#[tokio::test]
async fn waits_twice_as_long_each_time_and_never_more_than_sixteen_seconds() -> Result<()> {
    let locker = Stubborn::new(&[Refusal::Held; 7]);
    locker.wait(1000).await?;
    assert_eq!(locker.asked(), [0, 1, 3, 7, 15, 31, 47, 63]);
    Ok(())
}

#[tokio::test]
async fn tries_once_when_the_deadline_has_passed() {
    let locker = Stubborn::new(&[Refusal::Held; 2]);
    locker.clock.advance(Duration::from_secs(9));
    let waiting = Waiting::until(Timestamp::UNIX_EPOCH, &locker.clock, &locker.clock);
    let error = lock_with(&locker, &info("mine"), waiting).await.unwrap_err();
    assert_eq!(error.holder().map(|holder| holder.id.as_str()), Some("theirs"));
    assert_eq!(locker.asked(), [9]);
    assert_eq!(kind(lock_with(&locker, &info("mine"), Waiting::not_at_all()).await), Some(ErrorKind::Locked));
    assert_eq!(locker.asked(), [9, 9]);
}

#[tokio::test]
async fn gives_up_at_the_deadline_and_not_later() {
    let locker = Stubborn::new(&[Refusal::Held; 9]);
    assert_eq!(kind(locker.wait(10).await), Some(ErrorKind::Locked));
    assert_eq!(locker.asked(), [0, 1, 3, 7]);
    assert_eq!(locker.clock.now().to_string(), "1970-01-01T00:00:10Z");
}

#[tokio::test]
async fn gives_up_at_once_when_waiting_does_not_help() {
    let locker = Stubborn::new(&[Refusal::Denied]);
    assert_eq!(kind(locker.wait(60).await), Some(ErrorKind::Denied));
    assert_eq!(locker.asked(), [0]);
}

#[tokio::test]
async fn waits_also_for_a_holder_that_left_no_record() -> Result<()> {
    let locker = Stubborn::new(&[Refusal::HeldByNobodyKnown; 2]);
    locker.wait(60).await?;
    assert_eq!(locker.asked(), [0, 1, 3]);
    Ok(())
}

#[tokio::test]
async fn looks_through_wrapped_refusals() -> Result<()> {
    let locker = Stubborn::new(&[Refusal::Wrapped]);
    locker.wait(60).await?;
    assert_eq!(locker.asked(), [0, 1]);
    Ok(())
}

#[tokio::test]
async fn tries_again_at_once_after_a_race_but_not_for_ever() -> Result<()> {
    let locker = Stubborn::new(&[Refusal::Raced; 2]);
    locker.wait(60).await?;
    assert_eq!(locker.asked(), [0, 0, 0]);
    let locker = Stubborn::new(&[Refusal::Raced; 100]);
    assert_eq!(kind(locker.wait(5).await), Some(ErrorKind::Locked));
    assert!(locker.asked().len() < 20, "{:?}", locker.asked());
    Ok(())
}

#[tokio::test]
async fn says_who_is_waited_for() -> Result<()> {
    let locker = Stubborn::new(&[Refusal::Held; 2]);
    let told = Mutex::new(Vec::new());
    let tell = |error: &Error| told.lock().expect("no test panics inside").push(error.to_string());
    let waiting = Waiting::up_to(Duration::from_secs(60), &locker.clock, &locker.clock).on_refusal(&tell);
    lock_with(&locker, &info("mine"), waiting).await?;
    let told = told.lock().unwrap();
    assert_eq!(told.len(), 2);
    assert!(told[0].contains("ann@host") && told[0].contains("lock id theirs"), "{}", told[0]);
    Ok(())
}
