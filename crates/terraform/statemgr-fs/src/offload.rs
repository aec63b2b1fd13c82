//! Runs blocking work on a thread of its own, for any executor.
//!
//! The contract crate knows no runtime, so its file store asks for none: an operation here waits for disks, beside which
//! starting a thread costs nothing, and no feature changes how the store behaves.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use groundstate_statemgr::{Error, ErrorKind, Op, Result};
use tokio::sync::oneshot;

/// The outcome of `work`, which runs to its end even if the caller stops waiting.
pub(crate) async fn offload<T, F>(op: Op, target: &str, work: F) -> Result<T>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T> + Send + 'static,
{
    let (sender, outcome) = oneshot::channel();
    let run = move || drop(sender.send(work()));
    thread::Builder::new().name("groundstate-fs".to_owned()).spawn(run).map_err(|error| {
        let message = "no thread can be started for it";
        Error::new(ErrorKind::Unavailable, op, target).because(message).with_source(error)
    })?;
    // Work that panicked drops the sender.
    outcome.await.unwrap_or_else(|_| Err(Error::new(ErrorKind::Internal, op, target)))
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
    use groundstate_statemgr::{ErrorKind, Op};

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
        assert_eq!(offload(Op::Other("count"), "it", || Ok(6 * 7)).await.unwrap(), 42);
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_no_endless_wait() {
        let work = || -> groundstate_statemgr::Result<()> { panic!("on purpose") };
        assert_eq!(offload(Op::Other("count"), "it", work).await.unwrap_err().kind(), ErrorKind::Internal);
    }
}
