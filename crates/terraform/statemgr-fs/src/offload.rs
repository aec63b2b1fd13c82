//! Runs blocking work on a thread of its own, for any executor.
//!
//! The contract crate knows no runtime, so its file store asks for none: an operation here waits for disks, beside which
//! starting a thread costs nothing, and no feature changes how the store behaves.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

use groundstate_statemgr::{Error, ErrorKind, Result};

/// The outcome of `work`, which runs to its end even if the caller stops waiting.
pub(crate) async fn offload<T, F>(op: &'static str, target: &str, work: F) -> Result<T>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T> + Send + 'static,
{
    let answer = Arc::new(Answer { slot: Mutex::new(Slot { value: None, done: false, waker: None }) });
    let teller = Teller(Arc::clone(&answer));
    let run = move || {
        let value = work();
        teller.0.slot().value = Some(value);
        drop(teller);
    };
    thread::Builder::new().name("groundstate-fs".to_owned()).spawn(run).map_err(|error| {
        let message = "no thread can be started for it";
        Error::new(ErrorKind::Unavailable, op, target).because(message).with_source(error)
    })?;
    Waiting(answer).await.unwrap_or_else(|| Err(Error::new(ErrorKind::Internal, op, target)))
}

struct Answer<T> {
    slot: Mutex<Slot<T>>,
}

struct Slot<T> {
    value: Option<T>,
    done: bool,
    waker: Option<Waker>,
}

impl<T> Answer<T> {
    fn slot(&self) -> MutexGuard<'_, Slot<T>> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says that there is an answer, or that there will be none because the work panicked.
struct Teller<T>(Arc<Answer<T>>);

impl<T> Drop for Teller<T> {
    fn drop(&mut self) {
        let mut slot = self.0.slot();
        slot.done = true;
        let waker = slot.waker.take();
        drop(slot);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

struct Waiting<T>(Arc<Answer<T>>);

impl<T> Future for Waiting<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut slot = self.0.slot();
        if slot.done {
            return Poll::Ready(slot.value.take());
        }
        slot.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

/// Whether a caller still waits for an operation, asked before its first effect.
#[derive(Clone, Debug)]
pub(crate) struct Wanted(Arc<Mutex<bool>>);

/// Keeps an operation wanted until it is dropped.
#[derive(Debug)]
pub(crate) struct Caller(Wanted);

impl Caller {
    pub(crate) fn new() -> Self {
        Self(Wanted(Arc::new(Mutex::new(true))))
    }

    pub(crate) fn wanted(&self) -> Wanted {
        self.0.clone()
    }
}

impl Wanted {
    /// The outcome of `attempt`, unless the caller stopped waiting.
    ///
    /// A caller that gives up meanwhile is held until the attempt is over: afterwards it has happened or never will.
    pub(crate) fn if_wanted<T>(&self, attempt: impl FnOnce() -> T) -> Option<T> {
        let wanted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        wanted.then(attempt)
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }
}

#[cfg(test)]
mod tests {
    use groundstate_statemgr::ErrorKind;

    use super::{Caller, offload};

    #[test]
    fn nothing_is_attempted_after_the_caller_has_given_up() {
        let caller = Caller::new();
        let wanted = caller.wanted();
        assert_eq!(wanted.if_wanted(|| 1), Some(1));
        drop(caller);
        assert_eq!(wanted.if_wanted(|| 1), None);
    }

    #[tokio::test]
    async fn gives_the_answer() {
        assert_eq!(offload("count", "it", || Ok(6 * 7)).await.unwrap(), 42);
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_no_endless_wait() {
        let work = || -> groundstate_statemgr::Result<()> { panic!("on purpose") };
        assert_eq!(offload("count", "it", work).await.unwrap_err().kind(), ErrorKind::Internal);
    }
}
