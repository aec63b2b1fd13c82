//! How much one request may cost.

use std::time::Duration;

/// Bounds of requests. Everything that a client sends is read up to one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The largest state in bytes; a larger one is 413.
    pub state_bytes: u64,
    /// The largest body of a lock, an unlock or a request of the JSON API, in bytes.
    pub small_bytes: usize,
    /// How much of a refused body is read and thrown away, so that the client reads the answer and not a reset.
    pub drained_bytes: u64,
    /// How long a refused body is read.
    pub drained_for: Duration,
    /// How many entries a page of a list has at most.
    pub page: usize,
}

impl Default for Limits {
    /// States of 512 MiB, small bodies of 64 KiB, pages of 1000.
    fn default() -> Self {
        Self {
            state_bytes: 512 << 20,
            small_bytes: 64 << 10,
            drained_bytes: 64 << 20,
            drained_for: Duration::from_secs(30),
            page: 1000,
        }
    }
}
