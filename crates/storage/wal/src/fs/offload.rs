//! Blocking work on threads, awaited on any executor.

use std::thread;

use tokio::sync::oneshot;

use crate::{Error, ErrorKind, Op, Result};

/// The outcome of `work`, which runs on a thread, and to its end even if the caller stops waiting.
pub(crate) async fn offload<T, F>(op: Op, target: &str, work: F) -> Result<T>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T> + Send + 'static,
{
    let (sender, outcome) = oneshot::channel();
    spawn(op, target, move || drop(sender.send(work())))?;
    // Work that panicked drops the sender.
    outcome.await.unwrap_or_else(|_| Err(Error::new(ErrorKind::Internal, op, target)))
}

/// Starts a thread.
pub(crate) fn spawn(op: Op, target: &str, run: impl FnOnce() + Send + 'static) -> Result<()> {
    let builder = thread::Builder::new().name("groundstate-journal".to_owned());
    let spawned = builder.spawn(run).map(drop);
    spawned.map_err(|error| {
        let message = "no thread can be started for it";
        Error::new(ErrorKind::Unavailable, op, target).because(message).with_source(error)
    })
}

#[cfg(test)]
mod tests {
    use crate::{ErrorKind, Op};

    use super::offload;

    #[tokio::test]
    async fn gives_the_answer_and_says_when_there_is_none() {
        assert_eq!(offload(Op::Other("count"), "it", || Ok(6 * 7)).await.unwrap(), 42);
        let work = || -> crate::Result<()> { panic!("on purpose") };
        assert_eq!(offload(Op::Other("count"), "it", work).await.unwrap_err().kind(), ErrorKind::Internal);
    }
}
