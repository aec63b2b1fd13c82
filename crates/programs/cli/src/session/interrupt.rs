//! Signals that ask the command to end, taken at moments when that is safe.

use std::fmt;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use groundstate_common::Sleeper;
use groundstate_statemgr::{
    Error, ErrorKind, LockGrant, LockHolder, LockId, LockInfo, Locker, Manager, Op, TokioSleeper,
};
use tokio::sync::Notify;

use crate::report::error::{Failure, Kind, Result};
use crate::report::messages::Messages;

/// How long the answer to a request that changes something is waited for after a signal.
pub(crate) const LAST_WAIT: Duration = Duration::from_secs(15);
/// The first part of that, in which nothing is said.
const SILENT_WAIT: Duration = Duration::from_millis(500);

/// Hears of signals. While it lives they end nothing by themselves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupts {
    seen: Arc<AtomicI32>,
    /// How many there were.
    count: Arc<AtomicU32>,
    notify: Arc<Notify>,
}

impl Interrupts {
    /// Begins to listen.
    pub(crate) fn listen() -> Result<Self> {
        let interrupts = Self::default();
        #[cfg(unix)]
        interrupts.spawn().map_err(|error| {
            Failure::new(Kind::Unreachable, format!("cannot listen for signals: {error}"))
        })?;
        Ok(interrupts)
    }

    #[cfg(unix)]
    fn spawn(&self) -> io::Result<()> {
        let mut signals = signal_hook::iterator::Signals::new(ending())?;
        let Self { seen, count, notify } = self.clone();
        let listen = move || {
            for signal in signals.forever() {
                seen.store(signal, Ordering::Release);
                count.fetch_add(1, Ordering::AcqRel);
                notify.notify_waiters();
            }
        };
        // The thread ends with the process.
        drop(std::thread::Builder::new().name("signals".to_owned()).spawn(listen)?);
        Ok(())
    }

    /// Waits until the command is asked to end.
    pub(crate) async fn wait(&self) -> Failure {
        loop {
            let heard = self.notify.notified();
            if let Err(failure) = self.check() {
                return failure;
            }
            heard.await;
        }
    }

    /// Waits until the command is asked to end once more, after the first time.
    pub(crate) async fn wait_for_second(&self) {
        loop {
            let heard = self.notify.notified();
            if self.count.load(Ordering::Acquire) > 1 {
                return;
            }
            heard.await;
        }
    }

    /// The answer to a request that changes something. After a signal it is waited for a while longer, since it tells what
    /// is stored; nothing if that ends without one.
    pub(crate) async fn answer<T>(&self, what: &str, request: impl Future<Output = T>) -> Option<T> {
        let mut request = pin!(request);
        tokio::select! {
            biased;
            answer = &mut request => return Some(answer),
            _ = self.wait() => {}
        }
        tokio::select! {
            biased;
            answer = &mut request => Some(answer),
            () = self.last_wait(what) => None,
        }
    }

    /// How long an answer that is on its way is still waited for after a signal; a second signal ends that.
    async fn last_wait(&self, what: &str) {
        let say = async {
            tokio::time::sleep(SILENT_WAIT).await;
            let note =
                format!("interrupted while {what}; waiting for the answer, so that nothing is left in doubt");
            Messages::stderr().note(&note);
            tokio::time::sleep(LAST_WAIT).await;
        };
        tokio::select! {
            () = say => {}
            () = self.wait_for_second() => {}
        }
    }

    /// Fails if the command was asked to end.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self.seen.load(Ordering::Acquire) {
            0 => Ok(()),
            signal => Err(Failure::new(Kind::Signal(signal), "interrupted, nothing was written")),
        }
    }
}

/// What takes a lock and waits for it, until a signal comes: a wait for another holder ends, and no further request is
/// made. One that is on its way is not cut off, since it may be granted.
#[derive(Debug)]
pub(crate) struct Interruptible<T> {
    pub(crate) inner: T,
    pub(crate) interrupts: Interrupts,
}

impl<T: fmt::Display> fmt::Display for Interruptible<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

#[async_trait]
impl Sleeper for Interruptible<TokioSleeper> {
    async fn sleep(&self, duration: Duration) {
        tokio::select! {
            () = self.inner.sleep(duration) => {}
            _ = self.interrupts.wait() => {}
        }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Locker for Interruptible<Arc<Manager>> {
    fn is_locking_enabled(&self) -> bool {
        self.inner.is_locking_enabled()
    }

    async fn lock(&self, info: &LockInfo) -> groundstate_statemgr::Result<Option<LockGrant>> {
        if let Err(failure) = self.interrupts.check() {
            return Err(Error::new(ErrorKind::Unavailable, Op::Lock, self).because(failure.message));
        }
        self.inner.lock(info).await
    }

    async fn renew(&self, id: &LockId) -> groundstate_statemgr::Result<LockGrant> {
        self.inner.renew(id).await
    }

    async fn unlock(&self, id: &LockId) -> groundstate_statemgr::Result<()> {
        self.inner.unlock(id).await
    }

    async fn force_unlock(&self, id: &LockId) -> groundstate_statemgr::Result<()> {
        self.inner.force_unlock(id).await
    }

    async fn lock_holder(&self) -> groundstate_statemgr::Result<Option<LockHolder>> {
        self.inner.lock_holder().await
    }
}

/// The signals that ask a program to end, but those that its parent has told it to ignore.
#[cfg(unix)]
pub(crate) fn ending() -> Vec<i32> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let ignored = ignored();
    [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0).collect()
}

/// The set of ignored signals, where the system tells it: nohup(1) makes use of it.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0)
}
