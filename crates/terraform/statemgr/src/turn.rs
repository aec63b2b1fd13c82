//! Turns: one operation on a store at a time, without keeping a thread waiting.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Hands out turns, in no particular order. It needs no runtime.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    taken: bool,
    next: u64,
    waiting: BTreeMap<u64, Waker>,
}

/// A turn, which ends when it is dropped.
#[derive(Debug)]
#[must_use = "the turn ends as soon as this is dropped"]
pub(crate) struct Turn<'a>(&'a Turns);

struct Acquire<'a> {
    turns: &'a Turns,
    place: Option<u64>,
}

impl Turns {
    /// Waits for a turn.
    pub(crate) async fn take(&self) -> Turn<'_> {
        Acquire { turns: self, place: None }.await
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Wakers run outside of the lock, so nothing that can panic runs inside.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> Future for Acquire<'a> {
    type Output = Turn<'a>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Turn<'a>> {
        let turns = self.turns;
        let mut queue = turns.queue();
        if !queue.taken {
            queue.taken = true;
            return Poll::Ready(Turn(turns));
        }
        let place = self.place.unwrap_or(queue.next);
        queue.next = queue.next.max(place + 1);
        queue.waiting.insert(place, context.waker().clone());
        self.place = Some(place);
        Poll::Pending
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.turns.queue().waiting.remove(&place);
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let waiting = {
            let mut queue = self.0.queue();
            queue.taken = false;
            std::mem::take(&mut queue.waiting)
        };
        // All are woken: one that is dropped before it looks again cannot take the others' chance with it.
        waiting.into_values().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Turns;

    #[tokio::test]
    async fn one_at_a_time_and_everyone_in_the_end() {
        let turns = Arc::new(Turns::default());
        let inside = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let mut tasks = Vec::new();
        for _ in 0..50 {
            let (turns, inside) = (Arc::clone(&turns), Arc::clone(&inside));
            tasks.push(tokio::spawn(async move {
                let _turn = turns.take().await;
                let before = inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                tokio::task::yield_now().await;
                inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                before
            }));
        }
        for task in tasks {
            assert_eq!(task.await.unwrap(), 0);
        }
    }

    #[tokio::test]
    async fn one_who_gives_up_does_not_block_the_rest() {
        let turns = Arc::new(Turns::default());
        let first = turns.take().await;
        let waiter = |turns: Arc<Turns>| tokio::spawn(async move { drop(turns.take().await) });
        let (gives_up, stays) = (waiter(Arc::clone(&turns)), waiter(Arc::clone(&turns)));
        tokio::task::yield_now().await;
        gives_up.abort();
        drop(first);
        stays.await.unwrap();
        assert!(turns.queue().waiting.is_empty());
    }
}
