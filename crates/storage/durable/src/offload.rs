//! Runs blocking work on a thread of its own, for any executor.
//!
//! Stores know no runtime, so they ask for none: an operation waits for disks, beside which starting a thread costs nothing.

use std::thread;

use groundstate_common::ThreadFailure;
use tokio::sync::oneshot;

/// The outcome of `work`, which runs to its end even if the caller stops waiting.
///
/// # Errors
///
/// Those of `work`; without a thread, or if `work` panics, an error about `op` at `target`.
pub async fn offload<T: Send + 'static, E: ThreadFailure + Send + 'static>(
    op: E::Op,
    target: &str,
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    let (sender, outcome) = oneshot::channel();
    spawn(op, target, move || drop(sender.send(work())))?;
    // Work that panicked drops the sender.
    outcome.await.unwrap_or_else(|_| Err(E::no_answer(op, target)))
}

/// Starts a thread.
///
/// # Errors
///
/// When the system starts none: an error about `op` at `target`.
pub fn spawn<E: ThreadFailure>(
    op: E::Op,
    target: &str,
    run: impl FnOnce() + Send + 'static,
) -> Result<(), E> {
    let spawned = thread::Builder::new().name("groundstate-io".to_owned()).spawn(run);
    spawned.map(drop).map_err(|error| E::no_thread(op, target, error))
}

#[cfg(test)]
mod tests {
    use groundstate_common::{failure, worded};

    use super::offload;

    worded! {
        /// Kinds.
        pub enum Kind => summary {
            /// No thread.
            Unavailable = "unavailable",
            /// No answer.
            Internal = "internal",
        }
    }

    failure! {
        /// An error.
        pub struct Error { kind: Kind, op: &'static str }
    }

    #[tokio::test]
    async fn gives_the_answer_and_takes_a_panic_for_a_defect() {
        assert_eq!(offload::<_, Error>("count", "it", || Ok(6 * 7)).await.unwrap(), 42);
        let work = || -> Result<(), Error> { panic!("on purpose") };
        let error = offload("count", "it", work).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string()),
            (Kind::Internal, "cannot count it: internal".to_owned())
        );
    }
}
