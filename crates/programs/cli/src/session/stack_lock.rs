//! Work on a whole Pulumi stack, under its lock.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use groundstate_pulumi_diy::{Error, ErrorKind, HeldLock, Holder, LockOptions, Stack};
use groundstate_statemgr::{LOCK_WAITS, catch_panic};

use crate::input::found_stack::FoundStack;
use crate::input::stack_store::this_process;
use crate::report::error::{Failure, Result};
use crate::report::messages::Messages;
use crate::session::interrupt::Interrupts;
use crate::session::lock_end;
use crate::session::who::who;

/// Does `work` while the lock of a stack is held, and releases it whatever comes of the work.
///
/// A signal ends the wait for the lock. Later it ends the command only if the work asks for it.
pub(crate) async fn stack_locked<T>(
    found: &FoundStack,
    stack: &Stack,
    timeout: Duration,
    interrupts: &Interrupts,
    work: impl AsyncFnOnce(Arc<HeldLock>) -> Result<T>,
) -> Result<T> {
    let lock = Arc::new(take(found, stack, timeout, interrupts).await?);
    let outcome = catch_panic(work(Arc::clone(&lock))).await;
    release(found, &lock).await;
    outcome.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Does `work` while the locks of two stacks are held, which are taken in the order of their places.
pub(crate) async fn stacks_locked<T>(
    pair: [(&FoundStack, &Stack); 2],
    timeout: Duration,
    interrupts: &Interrupts,
    work: impl AsyncFnOnce((Arc<HeldLock>, Arc<HeldLock>)) -> Result<T>,
) -> Result<T> {
    let mut pair = pair;
    pair.sort_by_key(|(_, stack)| (stack.backend().to_string(), stack.reference().clone()));
    let [(first, first_stack), (second, second_stack)] = pair;
    stack_locked(first, first_stack, timeout, interrupts, async |one| {
        stack_locked(second, second_stack, timeout, interrupts, async |two| work((one, two)).await).await
    })
    .await
}

async fn release(found: &FoundStack, lock: &HeldLock) {
    let kept = lock.kept().await;
    let released = lock.release().await;
    let lost = kept.err().filter(|error| error.kind() == ErrorKind::LockLost);
    if let Some(error) = released.err().or(lost) {
        return lock_end::stack_not_released(lock.stack(), &found.command("unlock --force"), &error);
    }
    // A lease that stays blocks no client, so its error is not reported.
    drop(lock.stack().forget_lease().await);
}

/// Takes the lock, unless a signal ends the command. A request that is on its way by then may be granted, so its answer is waited
/// for, and the lock released.
async fn take(
    found: &FoundStack,
    stack: &Stack,
    timeout: Duration,
    interrupts: &Interrupts,
) -> Result<HeldLock> {
    let holder = this_process(&who());
    let started = Instant::now();
    let (mut waits, mut is_told) = (LOCK_WAITS, false);
    loop {
        interrupts.check()?;
        let answer = asked(stack, &holder, interrupts).await;
        let interrupted = interrupts.check();
        let error = match (answer, interrupted) {
            (Some(Ok(lock)), Ok(())) => return Ok(lock),
            (Some(Ok(lock)), Err(interrupted)) => {
                release(found, &lock).await;
                return Err(interrupted);
            }
            (Some(Err(_)), Err(interrupted)) => return Err(interrupted),
            (None, Err(interrupted)) => return Err(unanswered(interrupted, found)),
            (None, Ok(())) => continue,
            (Some(Err(error)), Ok(())) => error,
        };
        let left = timeout.saturating_sub(started.elapsed());
        if error.kind() != ErrorKind::Locked || left.is_zero() {
            return Err(found.failure(&error));
        }
        if !std::mem::replace(&mut is_told, true) {
            let failure = found.failure(&error);
            Messages::stderr()
                .note_about(&format!("waiting for the lock: {}", failure.message), &failure.details);
        }
        tokio::select! {
            () = tokio::time::sleep(waits.wait().min(left)) => {}
            interrupted = interrupts.wait() => return Err(interrupted),
        }
    }
}

/// Asks once. Nothing if a signal came and there was no answer for some time after it.
async fn asked(stack: &Stack, holder: &Holder, interrupts: &Interrupts) -> Option<Result<HeldLock, Error>> {
    let options = LockOptions::default();
    let what = format!("the lock of {stack} was being taken");
    interrupts.answer(&what, stack.lock(holder, &options)).await
}

/// What may be left of a request for the lock that has no answer, and how to free it.
fn unanswered(failure: Failure, found: &FoundStack) -> Failure {
    failure.hint(format!(
        "the request for the lock has no answer, so it may still be taken: `{}` shows it, and `{}` frees it",
        found.command("locks"),
        found.command("unlock --force")
    ))
}
