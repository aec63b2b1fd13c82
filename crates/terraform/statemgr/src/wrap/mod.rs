//! Wrappers around stores and managers. Each writes out every method, so that nothing is forgotten on the way.

mod lock_disabled;
mod read_only;
mod retry;

pub use lock_disabled::LockDisabled;
pub use read_only::ReadOnly;
pub use retry::{Retry, RetryPolicy};
