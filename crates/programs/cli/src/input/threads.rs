//! How many threads share one large state.

use groundstate_statefile::DecodeOptions;

/// Threads, at most: beyond, the memory is busier than the processors.
const MAX_THREADS: usize = 8;

/// One for each processor that this process may use.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS)
}

/// Reads with so many.
pub(crate) fn shared() -> DecodeOptions {
    DecodeOptions::default().threads(threads())
}
