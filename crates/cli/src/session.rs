//! A piece of work on a state, under its lock.

use std::sync::Arc;

use groundstate_common::SystemClock;
use groundstate_statemgr::{
    AbandonedLocks, Error, LockGuard, LockInfo, Locker, Manager, TokioSleeper, Waiting,
};
use tokio::runtime::{Builder, Runtime};

use crate::args::LockArgs;
use crate::error::{Failure, Kind, Result};
use crate::interrupt::Interrupts;
use crate::output::Messages;
use crate::site::Site;
use crate::trouble::{Trouble, explain};

/// What runs the waiting parts of a command.
pub(crate) fn runtime() -> Result<Runtime> {
    Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| Failure::new(Kind::NoState, format!("the command cannot start: {error}")))
}

/// Does `work` while the lock is held, and releases it whatever comes of the work.
///
/// A signal ends the wait for the lock. Later it ends the command only if the work asks for it.
pub(crate) fn locked<T>(
    site: &Site,
    args: &LockArgs,
    info: LockInfo,
    work: impl AsyncFnOnce(&Manager, &Interrupts) -> Result<T, Trouble>,
) -> Result<T> {
    let interrupts = Interrupts::listen()
        .map_err(|error| Failure::new(Kind::NoState, format!("cannot listen for signals: {error}")))?;
    hold(site, args, info, &interrupts, async || work(&site.manager, &interrupts).await)
}

/// The same for work that deals with signals in its own way.
pub(crate) fn hold<T>(
    site: &Site,
    args: &LockArgs,
    info: LockInfo,
    interrupts: &Interrupts,
    work: impl AsyncFnOnce() -> Result<T, Trouble>,
) -> Result<T> {
    let outcome = runtime()?.block_on(async {
        let abandoned = Arc::new(AbandonedLocks::new());
        let guard = tokio::select! {
            guard = acquire(site, args, info, &abandoned) => guard?,
            failure = interrupts.wait() => return Err(failure.into()),
        };
        let (outcome, kept) = guard.hold_during(work(), &SystemClock, &TokioSleeper).await;
        let released = guard.release().await;
        let mut messages = Messages::stderr();
        if let Err(error) = kept {
            messages.warning(&format!("the lock of {} was lost meanwhile: {error}", site.name));
        } else if let Err(error) = released {
            messages.warning(&chain(&error));
        }
        outcome
    });
    outcome.map_err(|trouble: Trouble| trouble.explain(site))
}

async fn acquire(
    site: &Site,
    args: &LockArgs,
    info: LockInfo,
    abandoned: &Arc<AbandonedLocks>,
) -> Result<LockGuard> {
    let told = std::sync::Once::new();
    let refused = |error: &Error| {
        told.call_once(|| Messages::stderr().note(&format!("waiting for the lock: {error}")));
    };
    let waiting = match args.lock_timeout {
        timeout if timeout.is_zero() => Waiting::not_at_all(),
        timeout => Waiting::up_to(timeout, &SystemClock, &TokioSleeper).on_refusal(&refused),
    };
    let locker: Arc<dyn Locker> = Arc::<Manager>::clone(&site.manager);
    let abandoned = Arc::<AbandonedLocks>::clone(abandoned);
    LockGuard::acquire(locker, info, waiting, abandoned).await.map_err(|error| explain(&error, site))
}

/// Does `work` without a lock.
pub(crate) fn unlocked<T>(site: &Site, work: impl AsyncFnOnce(&Manager) -> Result<T, Trouble>) -> Result<T> {
    runtime()?.block_on(work(&site.manager)).map_err(|trouble| trouble.explain(site))
}

/// The document to lock with.
pub(crate) fn lock_info(site: &Site, operation: &str) -> Result<LockInfo> {
    let mut info = site.manager.lock_info(operation).map_err(|error| explain(&error, site))?;
    info.version = format!("groundstate {}", env!("CARGO_PKG_VERSION"));
    Ok(info)
}

/// An error and its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let told = cause.to_string();
        // Some errors end with the text of their cause.
        if !text.ends_with(&told) {
            text.push_str(": ");
            text.push_str(&told);
        }
        next = cause.source();
    }
    text
}
