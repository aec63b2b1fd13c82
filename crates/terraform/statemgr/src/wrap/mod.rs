//! Wrappers around stores and managers. Each writes out every method, so that nothing is forgotten on the way; `forward_locking!`
//! writes those of locks for wrappers that leave them alone.

mod forward;
mod lock_disabled;
mod read_only;
mod retry;

pub use lock_disabled::LockDisabled;
pub use read_only::ReadOnly;
pub use retry::{Retry, RetryPolicy};
