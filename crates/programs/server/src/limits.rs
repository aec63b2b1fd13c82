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
    /// The largest state that is analysed as a whole, in bytes: for differences, pictures and rollbacks. Memory for a small
    /// multiple of it is needed.
    pub analysed_bytes: usize,
    /// How many states are analysed at a time; more requests wait.
    pub analyses: usize,
    /// How many requests of Pulumi clients are unpacked, decoded or carried out on threads of their own at a time; more wait.
    pub workers: usize,
    /// The bytes of memory that requests use together; a caller gets a half, an address three quarters. None for a third of what the
    /// process may have, and not more than 2 GiB.
    pub memory: Option<u64>,
    /// How many resources a picture has at most.
    pub drawn_resources: usize,
    /// How many entries a page of a list has at most.
    pub page: usize,
}

impl Default for Limits {
    /// States of 512 MiB, of which those up to 64 MiB are analysed, two at a time; small bodies of 64 KiB, pages of 1000.
    fn default() -> Self {
        Self {
            state_bytes: 512 << 20,
            small_bytes: 64 << 10,
            drained_bytes: 64 << 20,
            drained_for: Duration::from_secs(30),
            analysed_bytes: 64 << 20,
            analyses: 2,
            workers: 4,
            memory: None,
            drawn_resources: 2000,
            page: 1000,
        }
    }
}
