//! Two things at once where a second processor is worth a thread.

use std::sync::{Mutex, PoisonError};
use std::thread;

/// From how many bytes on a thread is worth its start.
pub(crate) const WORTH_A_THREAD: usize = 1024 * 1024;

/// Does `aside`, which handles `len` bytes, while `work` runs, and gives the outcome of `work`.
pub(crate) fn in_parallel<T>(len: usize, aside: impl FnOnce() + Send, work: impl FnOnce() -> T) -> T {
    let aside = Mutex::new(Some(aside));
    let run = || {
        let aside = aside.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(aside) = aside {
            aside();
        }
    };
    let outcome = thread::scope(|scope| {
        if len >= WORTH_A_THREAD {
            // A system that starts no more threads gets both done one after the other.
            drop(thread::Builder::new().name("groundstate-fs".to_owned()).spawn_scoped(scope, run));
        }
        work()
    });
    run();
    outcome
}

#[cfg(test)]
mod tests {
    use super::{WORTH_A_THREAD, in_parallel};

    #[test]
    fn both_are_done_once() {
        for len in [0, WORTH_A_THREAD] {
            let mut count = 0;
            assert_eq!(in_parallel(len, || count += 1, || 42), 42);
            assert_eq!(count, 1);
        }
    }
}
