//! Runs blocking work on a thread of its own, for any executor.

use std::thread;

use tokio::sync::oneshot;

use crate::error::{Error, ErrorKind, Result};
use crate::op::Op;

/// The outcome of `work`, which runs to its end even if the caller stops waiting.
pub async fn offload<T: Send + 'static>(
    op: Op,
    place: &str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let (sender, outcome) = oneshot::channel();
    let run = move || drop(sender.send(work()));
    thread::Builder::new().name("groundstate-blobs".to_owned()).spawn(run).map_err(|error| {
        Error::new(ErrorKind::Unavailable, op, place)
            .because("no thread can be started for it")
            .with_source(error)
    })?;
    // Work that panicked drops the sender.
    outcome.await.unwrap_or_else(|_| Err(Error::new(ErrorKind::Internal, op, place)))
}

#[cfg(test)]
mod tests {
    use super::offload;
    use crate::{ErrorKind, Op};

    #[tokio::test]
    async fn gives_the_answer_and_takes_a_panic_for_a_defect() {
        assert_eq!(offload(Op::Other("count"), "it", || Ok(6 * 7)).await.unwrap(), 42);
        let work = || -> crate::Result<()> { panic!("on purpose") };
        assert_eq!(offload(Op::Other("count"), "it", work).await.unwrap_err().kind(), ErrorKind::Internal);
    }
}
