//! Telling a server to stop, and waiting for what is still under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Notify, watch};

/// How far a server is on its way to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Stage {
    /// It accepts connections.
    Running,
    /// It finishes the requests that have begun.
    Draining,
    /// It closes the connections, and waits only for what has to be written still.
    Closing,
    /// It ends now.
    Ending,
}

/// Tells a server to stop. Clones tell the same one.
#[derive(Clone, Debug)]
pub struct Control {
    stage: Arc<watch::Sender<Stage>>,
}

impl Control {
    /// The control of a server that runs.
    #[expect(clippy::new_without_default, reason = "a control is made for one server, it has no default")]
    pub fn new() -> Self {
        Self { stage: Arc::new(watch::Sender::new(Stage::Running)) }
    }

    /// Lets the requests that have begun finish, and ends then; told twice, ends now.
    pub fn stop(&self) {
        self.stage.send_modify(|stage| {
            *stage = if *stage == Stage::Running { Stage::Draining } else { Stage::Ending };
        });
    }

    /// Closes the connections, if it does not already end.
    pub(super) fn close(&self) {
        self.stage.send_modify(|stage| *stage = (*stage).max(Stage::Closing));
    }

    /// How far the server is.
    pub fn stage(&self) -> Stage {
        *self.stage.borrow()
    }

    /// Returns when the server has come this far.
    pub async fn reached(&self, stage: Stage) {
        // The sender is a part of this value, so it is there.
        drop(self.stage.subscribe().wait_for(|now| *now >= stage).await);
    }
}

/// Counts what is under way. Clones count the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Counter(Arc<Count>);

#[derive(Debug, Default)]
struct Count {
    number: AtomicUsize,
    fell: Notify,
}

/// One thing that is under way, until it is dropped.
#[derive(Debug)]
#[must_use]
pub(super) struct Counted(Arc<Count>);

impl Counter {
    pub(super) fn begin(&self) -> Counted {
        self.0.number.fetch_add(1, Ordering::AcqRel);
        Counted(Arc::clone(&self.0))
    }

    pub(super) fn number(&self) -> usize {
        self.0.number.load(Ordering::Acquire)
    }

    /// Returns when fewer than this are under way.
    pub(super) async fn below(&self, most: usize) {
        loop {
            let mut fell = std::pin::pin!(self.0.fell.notified());
            // Before the number is read, so that no change of it is missed.
            fell.as_mut().enable();
            if self.number() < most {
                return;
            }
            fell.await;
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.number.fetch_sub(1, Ordering::AcqRel);
        self.0.fell.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::{Control, Counter, Stage};

    #[tokio::test]
    async fn the_first_word_drains_the_second_ends() {
        let control = Control::new();
        let other = control.clone();
        assert_eq!(control.stage(), Stage::Running);
        other.stop();
        control.reached(Stage::Draining).await;
        control.close();
        assert_eq!(other.stage(), Stage::Closing);
        other.stop();
        control.reached(Stage::Ending).await;
        control.close();
        assert_eq!(control.stage(), Stage::Ending);
    }

    #[tokio::test]
    async fn what_is_under_way_is_waited_for() {
        let counter = Counter::default();
        counter.below(1).await;
        let (first, second) = (counter.begin(), counter.begin());
        let waiting = counter.clone();
        let task = tokio::spawn(async move { waiting.below(1).await });
        drop(first);
        counter.below(2).await;
        tokio::task::yield_now().await;
        assert!(!task.is_finished());
        drop(second);
        task.await.unwrap();
    }
}
