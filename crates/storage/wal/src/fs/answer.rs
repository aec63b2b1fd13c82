//! Answers from threads to futures, for any executor.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

use crate::{Error, ErrorKind, Result};

/// Where an answer will be.
pub(crate) struct Waiting<T>(Arc<Answer<T>>);

/// Gives the answer. Dropping it without one says that there will be none.
pub(crate) struct Teller<T>(Arc<Answer<T>>);

struct Answer<T>(Mutex<Slot<T>>);

struct Slot<T> {
    value: Option<T>,
    done: bool,
    waker: Option<Waker>,
}

/// Both ends of an answer.
pub(crate) fn answer<T>() -> (Teller<T>, Waiting<T>) {
    let answer = Arc::new(Answer(Mutex::new(Slot { value: None, done: false, waker: None })));
    (Teller(Arc::clone(&answer)), Waiting(answer))
}

/// The outcome of `work`, which runs on a thread, and to its end even if the caller stops waiting.
pub(crate) async fn offload<T, F>(op: &'static str, target: &str, work: F) -> Result<T>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T> + Send + 'static,
{
    let (teller, waiting) = answer();
    let run = move || teller.tell(work());
    spawn(op, target, run)?;
    waiting.await.unwrap_or_else(|| Err(Error::new(ErrorKind::Internal, op, target)))
}

/// Starts a thread.
pub(crate) fn spawn(op: &'static str, target: &str, run: impl FnOnce() + Send + 'static) -> Result<()> {
    let builder = thread::Builder::new().name("groundstate-journal".to_owned());
    let spawned = builder.spawn(run).map(drop);
    spawned.map_err(|error| {
        let message = "no thread can be started for it";
        Error::new(ErrorKind::Unavailable, op, target).because(message).with_source(error)
    })
}

impl<T> Answer<T> {
    fn slot(&self) -> MutexGuard<'_, Slot<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Teller<T> {
    pub(crate) fn tell(self, value: T) {
        self.0.slot().value = Some(value);
    }
}

impl<T> Drop for Teller<T> {
    fn drop(&mut self) {
        let waker = {
            let mut slot = self.0.slot();
            slot.done = true;
            slot.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

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

#[cfg(test)]
mod tests {
    use crate::ErrorKind;

    use super::offload;

    #[tokio::test]
    async fn gives_the_answer_and_says_when_there_is_none() {
        assert_eq!(offload("count", "it", || Ok(6 * 7)).await.unwrap(), 42);
        let work = || -> crate::Result<()> { panic!("on purpose") };
        assert_eq!(offload("count", "it", work).await.unwrap_err().kind(), ErrorKind::Internal);
    }
}
