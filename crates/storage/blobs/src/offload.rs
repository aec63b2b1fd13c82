//! Runs blocking work on a thread of its own, for any executor.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::thread;

use crate::error::{Error, ErrorKind, Result};

struct Slot<T> {
    value: Option<Result<T>>,
    is_over: bool,
    waker: Option<Waker>,
}

/// Says that the work is over, also when it panicked.
struct Teller<T>(Arc<Mutex<Slot<T>>>);

impl<T> Drop for Teller<T> {
    fn drop(&mut self) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.is_over = true;
        let waker = slot.waker.take();
        drop(slot);
        waker.into_iter().for_each(Waker::wake);
    }
}

/// The outcome of `work`, which runs to its end even if the caller stops waiting.
pub async fn offload<T: Send + 'static>(
    op: &'static str,
    place: &str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let slot = Arc::new(Mutex::new(Slot { value: None, is_over: false, waker: None }));
    let teller = Teller(Arc::clone(&slot));
    let run = move || {
        let value = work();
        teller.0.lock().unwrap_or_else(PoisonError::into_inner).value = Some(value);
    };
    thread::Builder::new().name("groundstate-blobs".to_owned()).spawn(run).map_err(|error| {
        Error::new(ErrorKind::Unavailable, op, place)
            .because("no thread can be started for it")
            .with_source(error)
    })?;
    let answer = std::future::poll_fn(move |context| {
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_over {
            return Poll::Ready(slot.value.take());
        }
        slot.waker = Some(context.waker().clone());
        Poll::Pending
    });
    answer.await.unwrap_or_else(|| Err(Error::new(ErrorKind::Internal, op, place)))
}

#[cfg(test)]
mod tests {
    use super::offload;
    use crate::ErrorKind;

    #[tokio::test]
    async fn gives_the_answer_and_takes_a_panic_for_a_defect() {
        assert_eq!(offload("count", "it", || Ok(6 * 7)).await.unwrap(), 42);
        let work = || -> crate::Result<()> { panic!("on purpose") };
        assert_eq!(offload("count", "it", work).await.unwrap_err().kind(), ErrorKind::Internal);
    }
}
