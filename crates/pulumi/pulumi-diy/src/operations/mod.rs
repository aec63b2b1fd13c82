//! Operations on whole stacks, each under the lock of the stack.

mod create;
mod remove;

pub use remove::{RemoveOptions, Removed};
