//! One thing that is lent to one user at a time, for as long as it takes.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Holds the thing while it is not lent. Unlike a mutex's guard, what is lent may wander between threads.
#[derive(Debug)]
pub(crate) struct Slot<T> {
    content: Mutex<Option<T>>,
    returned: Condvar,
}

/// The lent thing; it goes back when this is dropped.
pub(crate) struct Lent<T> {
    slot: Arc<Slot<T>>,
    content: Option<T>,
}

impl<T> Slot<T> {
    pub(crate) fn new(content: T) -> Arc<Self> {
        Arc::new(Self { content: Mutex::new(Some(content)), returned: Condvar::new() })
    }

    /// Waits until it is there, and takes it.
    pub(crate) fn borrow(self: &Arc<Self>) -> Lent<T> {
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match content.take() {
                Some(taken) => return Lent { slot: Arc::clone(self), content: Some(taken) },
                None => content = self.returned.wait(content).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

impl<T> Deref for Lent<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.content.as_ref().expect("only dropping takes it out")
    }
}

impl<T> DerefMut for Lent<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.content.as_mut().expect("only dropping takes it out")
    }
}

impl<T> Drop for Lent<T> {
    fn drop(&mut self) {
        *self.slot.content.lock().unwrap_or_else(PoisonError::into_inner) = self.content.take();
        self.slot.returned.notify_one();
    }
}
