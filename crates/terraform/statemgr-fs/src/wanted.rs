//! Whether an operation on a thread of its own is still wanted.

use std::sync::{Arc, Mutex, PoisonError};

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
    use super::Caller;

    #[test]
    fn nothing_is_attempted_after_the_caller_has_given_up() {
        let caller = Caller::new();
        let wanted = caller.wanted();
        assert_eq!(wanted.if_wanted(|| 1), Some(1));
        drop(caller);
        assert_eq!(wanted.if_wanted(|| 1), None);
    }
}
