//! A piece of work on a state, under its lock.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use groundstate_common::{Clock, OsIds, SystemClock};
use groundstate_statemgr::{
    AbandonedLocks, Error, ErrorKind, LOCK_WAITS, LockGuard, LockInfo, Locker, Manager, Op, TokioSleeper,
    Waiting, catch_panic,
};

use crate::args::LockArgs;
use crate::input::backend::refused;
use crate::input::runtime::runtime;
use crate::report::error::{Failure, Kind, Result, chain};
use crate::report::messages::Messages;
use crate::session::interrupt::{Interruptible, Interrupts, LAST_WAIT};
use crate::session::lock_end;
use crate::session::managed_state::ManagedState;
use crate::session::recovery::bring_up_to_date;
use crate::session::state_error::{StateError, explain, unlock};
use crate::session::who::who;

/// How long, and how often, a lock is looked for that a cut off request may have left.
const LOOKS: [Duration; 3] = [Duration::ZERO, Duration::from_millis(300), Duration::from_millis(700)];

/// Does `work` while the lock is held, and releases it whatever comes of the work.
///
/// A signal ends the wait for the lock. Later it ends the command only if the work asks for it.
pub(crate) fn locked<T>(
    opened: &ManagedState,
    args: &LockArgs,
    info: LockInfo,
    work: impl AsyncFnOnce(&Manager, &Interrupts) -> Result<T, StateError>,
) -> Result<T> {
    let interrupts = Interrupts::listen()?;
    hold(opened, args, info, &interrupts, async || work(&opened.manager, &interrupts).await)
}

/// The same for work that deals with signals in its own way.
pub(crate) fn hold<T>(
    opened: &ManagedState,
    args: &LockArgs,
    info: LockInfo,
    interrupts: &Interrupts,
    work: impl AsyncFnOnce() -> Result<T, StateError>,
) -> Result<T> {
    let outcome = runtime()?.block_on(holding(opened, args, info, interrupts, work));
    outcome.map_err(|error| with_rescue(error.explain(opened), opened, interrupts))
}

/// The same inside of other work.
pub(crate) async fn holding<T>(
    opened: &ManagedState,
    args: &LockArgs,
    info: LockInfo,
    interrupts: &Interrupts,
    work: impl AsyncFnOnce() -> Result<T, StateError>,
) -> Result<T, StateError> {
    if let Some(backup_store) = &opened.backup_store {
        backup_store.hear(interrupts);
    }
    if args.no_lock {
        refuse_held(opened).await?;
    }
    let guard = taken(opened, args, info, interrupts).await?;
    let work = async {
        bring_up_to_date(opened, guard.grant()).await?;
        work().await
    };
    let (outcome, kept) = guard.hold_during(catch_panic(work), &SystemClock, &TokioSleeper).await;
    lock_end::tell(opened, kept, guard.release().await);
    outcome.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Refuses a state that another process has locked, for work that takes no lock. The protocol of HTTP cannot tell without taking it.
async fn refuse_held(opened: &ManagedState) -> Result<(), StateError> {
    let store = &opened.raw;
    let remote = opened.backup_store.as_ref().map(|backup_store| backup_store.remote());
    let takes_lock_to_look = remote.is_some_and(|remote| remote.place.settings.kind() == "http");
    if takes_lock_to_look || !store.capabilities().holder {
        return Ok(());
    }
    match store.lock_holder().await? {
        Some(holder) => Err(Error::locked(Op::Lock, store, Some(holder)).into()),
        None => Ok(()),
    }
}

/// Does `work` while the locks of two states are held, and releases both whatever comes of it.
pub(crate) fn both_locked<T>(
    states: [&ManagedState; 2],
    args: &LockArgs,
    operation: &str,
    work: impl AsyncFnOnce(&Interrupts) -> Result<T>,
) -> Result<T> {
    let interrupts = Interrupts::listen()?;
    // In an order that does not depend on which of the two is named first, so that two clients do not wait for each other.
    let [mut outer, mut inner] = states;
    if outer.name > inner.name {
        std::mem::swap(&mut outer, &mut inner);
    }
    let infos = [lock_info(outer, operation)?, lock_info(inner, operation)?];
    let [outer_info, inner_info] = infos;
    hold(outer, args, outer_info, &interrupts, async || {
        let done = holding(inner, args, inner_info, &interrupts, async || Ok(work(&interrupts).await?)).await;
        done.map_err(|error| with_rescue(error.explain(inner), inner, &interrupts).into())
    })
}

/// Takes the lock, unless a signal ends the command. A request that is on its way by then may be granted, so its answer
/// is waited for, and the lock released.
async fn taken(
    opened: &ManagedState,
    args: &LockArgs,
    info: LockInfo,
    interrupts: &Interrupts,
) -> Result<LockGuard> {
    let abandoned = Arc::new(AbandonedLocks::new());
    let what = format!("the lock of {} was being taken", opened.name);
    let answer = interrupts.answer(&what, acquire(opened, args, info, interrupts, &abandoned)).await;
    let interrupted = interrupts.check();
    let failure = match (answer, interrupted) {
        (Some(Ok(guard)), Ok(())) => return Ok(guard),
        (Some(Ok(guard)), Err(interrupted)) => {
            lock_end::tell(opened, Ok(()), guard.release().await);
            return Err(interrupted);
        }
        (Some(Err(_)) | None, Err(interrupted)) => interrupted,
        (Some(Err(failure)), Ok(())) => failure,
        (None, Ok(())) => Failure::new(Kind::Unreachable, format!("{} was not locked", opened.name)),
    };
    let looked = tokio::time::timeout(LAST_WAIT, leave(opened, &abandoned, failure.clone())).await;
    Err(looked.unwrap_or_else(|_| unanswered(failure, opened)))
}

/// What may be left of a request for the lock that has no answer, and how to free it.
fn unanswered(failure: Failure, opened: &ManagedState) -> Failure {
    let lock = opened.manager.store().lock_name();
    failure.hint(format!(
        "the request for the lock was not answered, so this command may have left {lock} locked: `{}` shows it, and `{} --if-stale` frees it",
        opened.command("locks", &[]),
        opened.command("unlock", &[])
    ))
}

/// Releases what an abandoned request may have locked.
async fn leave(opened: &ManagedState, abandoned: &AbandonedLocks, failure: Failure) -> Failure {
    let (Some(lock), Some(backup_store)) = (abandoned.take().into_iter().next(), &opened.backup_store) else {
        return failure;
    };
    let store = &backup_store.remote().store;
    for pause in LOOKS {
        tokio::time::sleep(pause).await;
        match store.lock_holder().await {
            Ok(Some(holder)) if [&holder.id, &holder.info.id].contains(&&lock.info.id) => {
                return match store.force_unlock(&holder.id).await {
                    Ok(()) => failure,
                    Err(error) => failure.hint(format!(
                        "{} was taken and is not released: {}; `{}` frees it",
                        store.lock_name(),
                        chain(&error),
                        unlock(opened, &holder.id)
                    )),
                };
            }
            // Where another process has it, the request fails whenever it arrives.
            Ok(Some(_)) => return failure,
            Ok(None) => {}
            Err(error) => return unanswered(failure, opened).hint(chain(&error)),
        }
    }
    unanswered(failure, opened)
}

/// Says where the state is that could not be stored, and how a signal has ended the command.
fn with_rescue(failure: Failure, opened: &ManagedState, interrupts: &Interrupts) -> Failure {
    let Some(backup_store) = &opened.backup_store else { return failure };
    if backup_store.was_interrupted()
        && let Err(interrupted) = interrupts.check()
    {
        return interrupted;
    }
    match backup_store.rescue() {
        None => failure,
        Some(Ok(path)) => {
            // Only states of Terraform can be merged.
            let (verb, does) = match (failure.kind, backup_store.remote().is_stack()) {
                (Kind::Conflict, true) => ("diff", "shows how it differs from what is stored"),
                (Kind::Conflict, false) => ("merge-errored", "merges it into what is stored"),
                _ => ("push", "stores it when the reason is gone"),
            };
            let path = path.display().to_string();
            let command = opened.command(verb, &[&path]);
            failure.hint(format!("the state that could not be stored is in {path}; `{command}` {does}"))
        }
        Some(Err(error)) => failure.hint(format!("the state that could not be stored is lost: {error}")),
    }
}

async fn acquire(
    opened: &ManagedState,
    args: &LockArgs,
    info: LockInfo,
    interrupts: &Interrupts,
    abandoned: &Arc<AbandonedLocks>,
) -> Result<LockGuard> {
    let sleeper = Interruptible { inner: TokioSleeper, interrupts: interrupts.clone() };
    let told = std::sync::Once::new();
    let refused = |error: &Error| {
        told.call_once(|| Messages::stderr().note(&format!("waiting for the lock: {error}")));
    };
    let waiting = match args.wait.lock_timeout {
        timeout if timeout.is_zero() => Waiting::not_at_all(),
        timeout => Waiting::up_to(timeout, &SystemClock, &sleeper).on_refusal(&refused),
    };
    let locker =
        Interruptible { inner: Arc::<Manager>::clone(&opened.manager), interrupts: interrupts.clone() };
    let locker: Arc<dyn Locker> = Arc::new(locker);
    let abandoned = Arc::<AbandonedLocks>::clone(abandoned);
    LockGuard::acquire(locker, info, waiting, abandoned).await.map_err(|error| explain(&error, opened))
}

/// Does `work` without a lock.
pub(crate) fn unlocked<T>(
    opened: &ManagedState,
    work: impl AsyncFnOnce(&Manager) -> Result<T, StateError>,
) -> Result<T> {
    runtime()?.block_on(work(&opened.manager)).map_err(|error| error.explain(opened))
}

/// Does work that a signal does not cut off in the middle, since a lock would stay behind.
pub(crate) fn uninterrupted<T>(work: impl AsyncFnOnce(&Interrupts) -> Result<T, StateError>) -> Result<T> {
    let interrupts = Interrupts::listen()?;
    runtime()?.block_on(work(&interrupts)).map_err(|error| match error {
        StateError::Own(failure) => failure,
        StateError::Manager(error) => refused(&error),
    })
}

/// The document to lock with.
pub(crate) fn lock_info(opened: &ManagedState, operation: &str) -> Result<LockInfo> {
    let mut info = opened.manager.lock_info(operation).map_err(|error| explain(&error, opened))?;
    info.version = version();
    Ok(info)
}

/// The document to lock with where no place is open yet.
pub(crate) fn lock_document(operation: &str) -> Result<LockInfo> {
    let info = LockInfo::new(&OsIds, SystemClock.now(), operation);
    let info = info.map_err(|error| Failure::new(Kind::Unreachable, chain(&error)))?;
    Ok(LockInfo { who: who(), version: version(), ..info })
}

fn version() -> String {
    format!("groundstate {}", env!("CARGO_PKG_VERSION"))
}

/// Retries while another client holds a lock, as long as there is time.
pub(crate) async fn retried<T>(
    timeout: Duration,
    interrupts: &Interrupts,
    mut attempt: impl AsyncFnMut() -> groundstate_statemgr::Result<T>,
) -> Result<T, StateError> {
    let started = Instant::now();
    let (mut waits, mut is_told) = (LOCK_WAITS, false);
    loop {
        let error = match attempt().await {
            Err(error) if error.kind() == ErrorKind::Locked => error,
            outcome => return Ok(outcome?),
        };
        let left = timeout.saturating_sub(started.elapsed());
        if left.is_zero() {
            return Err(error.into());
        }
        if !std::mem::replace(&mut is_told, true) {
            Messages::stderr().note(&format!("waiting for the lock: {error}"));
        }
        tokio::select! {
            () = tokio::time::sleep(waits.wait().min(left)) => {}
            failure = interrupts.wait() => return Err(failure.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::path::PathBuf;
    use std::sync::Arc;

    use groundstate_common::{OsIds, SystemClock};
    use groundstate_statemgr::{Manager, ManagerOptions, SharedMemory, StateStore};

    use super::{Interrupts, hold, lock_info};
    use crate::args::LockArgs;
    use crate::input::runtime::runtime;
    use crate::session::managed_state::ManagedState;

    #[test]
    fn a_panic_under_the_lock_releases_it() {
        let place = SharedMemory::new("prod");
        let options = ManagerOptions::default();
        let manager = Manager::new(Arc::new(place.open()), Arc::new(SystemClock), Arc::new(OsIds), options);
        let (name, argument) = ("prod".to_owned(), PathBuf::from("prod"));
        let opened = ManagedState {
            name,
            argument,
            manager: Arc::new(manager),
            raw: Arc::new(place.open()),
            backup_store: None,
            changes: None,
            encryption: None,
            keeper: None,
        };
        let args = LockArgs::default();
        let holder = || runtime().unwrap().block_on(async { place.open().lock_holder().await.unwrap() });
        let info = lock_info(&opened, "test").unwrap();
        let work = async || {
            assert!(place.open().lock_holder().await.unwrap().is_some());
            panic!("the work fails in a way that it did not foresee");
        };
        let outcome =
            catch_unwind(AssertUnwindSafe(|| hold::<()>(&opened, &args, info, &Interrupts::default(), work)));
        assert!(outcome.is_err());
        assert_eq!(holder(), None);
    }
}
