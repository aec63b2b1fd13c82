//! One at a time, without keeping a thread waiting and without a runtime.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// Hands out turns.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    taken: bool,
    waiting: VecDeque<Waker>,
}

/// A turn, which ends when it is dropped.
#[derive(Debug)]
#[must_use = "the turn ends as soon as this is dropped"]
pub(crate) struct Turn<'a>(&'a Turns);

impl Turns {
    /// Waits for a turn.
    pub(crate) async fn take(&self) -> Turn<'_> {
        poll_fn(|context| {
            let mut queue = self.queue();
            if queue.taken {
                // A waker that is not needed any more costs one poll; all are woken, so none can be the only one to know.
                queue.waiting.push_back(context.waker().clone());
                return Poll::Pending;
            }
            queue.taken = true;
            Poll::Ready(())
        })
        .await;
        Turn(self)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let waiting = {
            let mut queue = self.0.queue();
            queue.taken = false;
            std::mem::take(&mut queue.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }
}
